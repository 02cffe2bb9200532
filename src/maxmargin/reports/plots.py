"""Figures for papers, with matplotlib; as `maxmargin.plots`.

Each function draws on the axis it is given, or on a new one, and returns it:

    ax = maxmargin.plots.convergence(model.result_)
    ax.figure.savefig("convergence.pdf")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.calibration.measures import reliability as binned
from maxmargin.reports.confusion import confusion as counted
from maxmargin.reports.confusion import flat_labels


def _axis(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "figures need matplotlib: pip install 'maxmargin[reports]'"
        ) from None

    return plt.subplots(figsize=(4.2, 3.0), layout="constrained")[1]


def convergence(
    results: Any, *, against: str = "oracle_calls", what: str = "gap", ax: Any = None
) -> Any:
    """Curves of training: the gap, or another column of the history.

    Parameters
    ----------
    results : Result, or mapping from name to Result
    against : {"oracle_calls", "seconds", "iteration"}
    what : {"gap", "primal", "dual", "planes"}
    ax : matplotlib axis, optional
    """
    ax = _axis(ax)
    named = results if isinstance(results, Mapping) else {"": results}
    for name, result in named.items():
        history = result.history
        keep = np.isfinite(history[what])
        ax.plot(history[against][keep], history[what][keep], label=name or None)
    if what == "gap":
        ax.set_yscale("log")
    ax.set(xlabel=against.replace("_", " "), ylabel=what)
    if any(named):
        ax.legend(frameon=False)
    return ax


def confusion(y_true: Any, y_pred: Any, *, most: int = 24, ax: Any = None) -> Any:
    """Confusion of labels, rows scaled to one; sequences are taken label by label.

    Examples
    --------
    >>> ax = confusion([["a", "b"], ["b"]], [["a", "a"], ["b"]])
    >>> ax.images[0].get_array().tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    ax = _axis(ax)
    classes, counts, _ = counted(flat_labels(y_true), flat_labels(y_pred), most)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    _name(ax, classes, classes)
    ax.set(xlabel="found", ylabel="true")
    return ax


def transitions(model: Any, *, ax: Any = None) -> Any:
    """Scores of pairs of neighbouring labels of a `ChainSVM`."""
    scores = model.transitions()
    names = list(model.classes_)
    table = np.array([[scores[a, b] for b in names] for a in names])
    ax = _signed(table, names, names, ax)
    ax.set(xlabel="label", ylabel="label before it")
    return ax


def substitutions(model: Any, track: str = "residue", *, ax: Any = None) -> Any:
    """Learned substitution scores of an `AlignmentSVM`."""
    letters, table = model.substitution_matrix(track)
    return _signed(np.asarray(table), letters, letters, ax)


def path(
    Cs: ArrayLike, values: ArrayLike, *, name: str = "held-out score", ax: Any = None
) -> Any:
    """A value (score, gap, ...) for each C, on a log scale, the best one marked.

    Examples
    --------
    >>> ax = path([0.1, 1.0, 10.0], [0.8, 0.9, 0.7])
    >>> ax.get_xscale(), len(ax.lines)
    ('log', 2)
    """
    ax = _axis(ax)
    c, v = np.asarray(Cs, float), np.asarray(values, float)
    order = np.argsort(c)
    ax.plot(c[order], v[order], marker=".")
    ax.axvline(c[int(np.argmax(v))], color="0.7", lw=1, zorder=0)
    ax.set(xscale="log", xlabel="C", ylabel=name)
    return ax


def reliability(
    confidence: ArrayLike, correct: ArrayLike, *, bins: int = 15, ax: Any = None
) -> Any:
    """Reliability diagram: how often answers are right against how sure they are.

    Bars on the diagonal are calibrated; below it, the model is too sure of itself. The
    title has the expected calibration error.

    Parameters
    ----------
    confidence : array (n,)
        Probability that was given to each answer.
    correct : array (n,)
        Whether it was right.
    bins : int
    ax : matplotlib axis, optional

    Examples
    --------
    >>> ax = reliability([0.9, 0.9, 0.8, 0.1], [1, 1, 0, 0], bins=2)
    >>> len(ax.patches), ax.get_title()
    (2, 'expected calibration error 17.5 %')
    """
    ax = _axis(ax)
    found = binned(confidence, correct, bins=bins)
    share = found.counts / max(int(found.counts.sum()), 1)
    left = np.floor(np.minimum(found.confidence, 1.0 - 1e-12) * bins) / bins
    shades = 0.35 + 0.65 * share / max(share.max(initial=0.0), 1e-12)
    bars = ax.bar(left, found.accuracy, width=1.0 / bins, align="edge", color="C0")
    for bar, shade in zip(bars, shades):
        bar.set_alpha(shade)
    ax.plot([0.0, 1.0], [0.0, 1.0], color="0.4", lw=1, ls="--")
    ax.plot(found.confidence, found.accuracy, ls="", marker=".", color="C3")
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share that is right")
    ax.set_title(f"expected calibration error {100.0 * found.error:.1f} %", fontsize=9)
    return ax


def _signed(table: Any, rows: Sequence[Any], columns: Sequence[Any], ax: Any) -> Any:
    ax = _axis(ax)
    most = float(np.abs(table).max()) or 1.0
    image = ax.imshow(table, cmap="RdBu", vmin=-most, vmax=most)
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
    _name(ax, rows, columns)
    return ax


def _name(ax: Any, rows: Sequence[Any], columns: Sequence[Any]) -> None:
    ax.set(xticks=range(len(columns)), yticks=range(len(rows)))
    ax.set_xticklabels([str(c) for c in columns], rotation=90)
    ax.set_yticklabels([str(r) for r in rows])
