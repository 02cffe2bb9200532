"""One HTML page about a trained model: nothing to fetch, light and dark.

The page is made of sections; each looks at what the estimator offers (`classes_`,
`transitions`, `substitution_matrix`, `motif_`, ...) and is left out where it has
nothing to say.
"""

from __future__ import annotations

import inspect
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.reports import learned
from maxmargin.reports.drawing.svg import heat, line_chart, listed, short, table
from maxmargin.reports.explanation import shortened
from maxmargin.reports.style import CSS
from maxmargin.reports.tally import class_scores, confusion, flat_labels

PACKAGES = ("maxmargin", "numpy", "scipy", "numba", "scikit-learn")
WORTH = {
    "exact": "Inference is exact: no weights whatever have an objective below the dual.",
    "relaxed": "Inference is relaxed: the gap is that of the relaxed problem, an upper "
    "bound of the exact one.",
    "bound": "Inference is approximate: primal and gap are upper bounds.",
    "reduced": "The certificate is that of the problem over the outputs found so far.",
}


@dataclass
class Subject:
    """What a page is about, with the predictions made once."""

    model: Any
    X: Any = None
    y: Any = None
    found: Any = None
    command: str | None = None

    @property
    def result(self) -> Any:
        """The certificate, if the model has kept it."""
        return getattr(self.model, "result_", None)


def write(
    estimator: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    command: str | None = None,
) -> None:
    """Write the page; see `StructuredEstimator.report`.

    Parameters
    ----------
    estimator : a fitted estimator
    path : str or path
    X, y : optional
        Data to score the model on.
    title, command : str, optional
        Heading, and the command that trained the model.
    """
    Path(path).write_text(page(estimator, X, y, title, command), encoding="utf8")


def page(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    command: str | None = None,
) -> str:
    """The page as text."""
    subject = Subject(estimator, X, y, command=command)
    if X is not None:
        subject.found = estimator.predict(X)
    name = title or f"{type(estimator).__name__} report"
    parts: list[tuple[str, str]] = []
    for heading, section in SECTIONS:
        body = section(subject)
        if body:
            parts.append((heading, body))
    links = "".join(f'<a href="#{_anchor(h)}">{h}</a>' for h, _ in parts)
    sections = "".join(
        f'<section id="{_anchor(h)}"><h2>{h}</h2>{body}</section>' for h, body in parts
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(name)}</title><style>{CSS}</style></head><body><main>"
        f"<h1>{escape(name)}</h1>{_tiles(subject)}<nav>{links}</nav>{sections}"
        "</main></body></html>\n"
    )


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _tiles(subject: Subject) -> str:
    tiles: list[tuple[str, str, str]] = []
    result = subject.result
    if result is not None:
        good = "good" if result.converged else "bad"
        status = result.status.name.lower().replace("_", " ")
        tiles.append((status, "training", good))
        tiles.append((f"{100 * result.gap:.2g} %", "duality gap", ""))
    if subject.y is not None:
        score = float(subject.model.score(subject.X, subject.y))
        tiles.append((f"{score:.4f}", _score_name(subject.model), ""))
        tiles.append((str(len(subject.y)), "examples here", ""))
    size, kind = _size(subject.model)
    tiles.append((short(size), kind, ""))
    return (
        '<div class="tiles">'
        + "".join(
            f'<div class="tile {kind}"><b>{escape(value)}</b><span>{escape(name)}'
            "</span></div>"
            for value, name, kind in tiles
        )
        + "</div>"
    )


def _score_name(model: Any) -> str:
    """First line of what `score` says about itself."""
    text = (inspect.getdoc(type(model).score) or "score").splitlines()[0]
    if "accuracy" in text:  # scikit-learn's own
        return "Share of right predictions"
    return text.split(";")[0].rstrip(".")


def _size(model: Any) -> tuple[float, str]:
    """How large the model is: weights, or points of a kernel."""
    expansion = getattr(model, "expansion_", None)
    if expansion is not None:
        return float(len(expansion.beta)), "points of the kernel"
    return float(np.size(model.coef_)), "weights"


def _certificate(subject: Subject) -> str:
    result = subject.result
    if result is None:
        return ""
    worth = WORTH.get(result.certificate, "")
    history = result.history
    calls = history["oracle_calls"]
    primal, dual = history["primal"], history["dual"]
    keep = np.isfinite(primal) & (primal <= 20 * max(result.primal, 1e-12))
    curves = [
        ("primal", calls[keep], primal[keep]),
        ("dual", calls, dual),
    ]
    charts = [
        ("Objective", line_chart(curves, "oracle calls", "objective")),
        ("Gap", line_chart(
            [("gap", calls, history["gap"])], "oracle calls",
            "relative gap", log=True,
        )),
    ]  # fmt: skip
    outer = getattr(result, "outer", None)
    if outer is not None and len(outer):
        charts.append(("Hidden parts", _outer_chart(outer)))
    drawn = "".join(f"<div><h3>{n}</h3>{chart}</div>" for n, chart in charts if chart)
    return (
        f"<p>{escape(result.status.value[0].upper() + result.status.value[1:])}. "
        f"{worth}</p>"
        + listed(
            [
                ("primal", f"{result.primal:.6g}"),
                ("dual", f"{result.dual:.6g}"),
                ("gap", f"{result.gap:.3g}, {result.certificate}"),
                ("iterations", str(result.iterations)),
                ("oracle calls", str(result.oracle_calls)),
                ("planes held", str(result.planes)),
                ("seconds", f"{result.seconds:.3g}, compiling included"),
            ]
        )
        + f'<div class="pair">{drawn}</div>'
    )  # fmt: skip


def _outer_chart(outer: Any) -> str:
    best = int(outer["restart"][int(np.argmin(outer["objective"]))])
    rounds = outer[outer["restart"] == best]
    return line_chart(
        [("latent", rounds["round"].astype(float), rounds["objective"])],
        "completions of the hidden parts", "latent objective",
    )  # fmt: skip


def _data(subject: Subject) -> str:
    if subject.y is None:
        return ""
    sizes = [len(flat_labels([output])) for output in subject.y]
    rows = [("examples", str(len(sizes)))]
    if hasattr(subject.model, "classes_"):
        labels = flat_labels(subject.y)
        if max(sizes, default=1) > 1:
            rows.append(("labels in all", str(len(labels))))
            spread = f"{min(sizes)} to {max(sizes)}, median {int(np.median(sizes))}"
            rows.append(("labels per example", spread))
        rows.append(("classes", str(len(set(labels)))))
    structure = getattr(subject.model, "structure_", None)
    rows.append(("structure", type(structure).__name__))
    rows.append(("length of psi", str(getattr(structure, "dim", ""))))
    return listed(rows)


def _scores(subject: Subject) -> str:
    if subject.y is None or not hasattr(subject.model, "classes_"):
        return ""
    truth, found = flat_labels(subject.y), flat_labels(subject.found)
    rows = [
        [str(s.label), s.precision, s.recall, s.f1, s.support]
        for s in class_scores(truth, found)[:40]
    ]
    return table(["class", "precision", "recall", "F1", "examples"], rows, "tnnnn")


def _confusion(subject: Subject) -> str:
    if subject.y is None or not hasattr(subject.model, "classes_"):
        return ""
    truth, found = flat_labels(subject.y), flat_labels(subject.found)
    classes, counts, left = confusion(truth, found)
    note = (
        f'<p class="faint">The {len(classes)} classes in most errors; {left} others '
        "are left out.</p>"
        if left
        else ""
    )
    drawn = heat(counts, classes, classes, corner="true \\ found", whole=True)
    return note + drawn


def _hardest(subject: Subject) -> str:
    if subject.y is None:
        return ""
    try:
        cases = subject.model.hardest(subject.X, subject.y, 6)
    except ValueError:  # kernels have no joint features; labels may be hidden
        return ""
    out: list[str] = []
    for case in cases:
        right = case.short_by <= 1e-9
        mark = (
            '<span class="ok">right</span>'
            if right
            else f'<span class="wrong">truth scores {short(case.short_by)} less</span>'
        )
        lines = [f"truth   {shortened(case.truth, 400)}"]
        lines += [f"{score:7.3f}  {shortened(o, 400)}" for o, score in case.best]
        out.append(
            f"<details{' open' if not out else ''}><summary>example {case.example}: "
            f"{mark}</summary><pre>{escape(chr(10).join(lines))}</pre></details>"
        )
    return (
        "<p>Those among the first 500 whose truth lies furthest below the best output, "
        "with the best outputs and their scores.</p>" + "".join(out)
    )


def _trained_by(subject: Subject) -> str:
    model, result = subject.model, subject.result
    rows = [("maxmargin", _version("maxmargin")), ("python", platform.python_version())]
    rows += [(name, _version(name)) for name in PACKAGES[1:]]
    made = getattr(model, "provenance_", None) or {}  # of models from files
    command = subject.command or made.get("command")
    if command:
        rows.insert(0, ("command", str(command)))
    if result is not None:
        rows.append(("trainer", str(result.notes.get("chosen", model.solver))))
    rows.append(("page written", time.strftime("%Y-%m-%d %H:%M")))
    parameters = [(k, shortened(repr(v), 120)) for k, v in model.get_params().items()]
    return (
        f"{listed(rows)}<details><summary>all parameters, seed included "
        f"(<code>random_state</code>)</summary>{listed(parameters)}</details>"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _learned(subject: Subject) -> str:
    return learned.section(subject.model)


Section = Callable[[Subject], str]
SECTIONS: list[tuple[str, Section]] = [
    ("Certificate", _certificate),
    ("Data", _data),
    ("Scores by class", _scores),
    ("Confusion", _confusion),
    ("What it learned", _learned),
    ("Hardest examples", _hardest),
    ("What trained it", _trained_by),
]
