"""What a model has learned, as far as it can be shown: the middle of a report."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from maxmargin.reports.drawing.logo import sequence_logo
from maxmargin.reports.drawing.svg import bars, heat, line_chart

LABELS = 12  # labels whose features are shown one by one
CELLS = 40  # labels or letters that a table may have


def section(model: Any) -> str:
    """Logo, tables and weights by name, where the model has them."""
    parts = [_logo(model), _transitions(model), _substitution(model)]
    try:
        parts.append(_features_by_label(model) or _top_weights(model))
    except ValueError:  # a kernel has no weights of features
        parts.append(_points(model))
    return "".join(parts)


def _points(model: Any) -> str:
    expansion = getattr(model, "expansion_", None)
    if expansion is None:
        return ""
    size = np.sort(np.abs(np.asarray(expansion.beta)).sum(axis=1))[::-1]
    chart = line_chart(
        [("points", np.arange(1, len(size) + 1), size)], "point, largest first",
        "sum of |coefficients|",
    )  # fmt: skip
    return (
        f"<h3>Kernel</h3><p>{len(size)} points carry the machine; weights of features "
        f'there are none.</p><div class="pair"><div>{chart}</div></div>'
    )


def _logo(model: Any) -> str:
    motif = getattr(model, "motif_", None)
    if motif is None:
        return ""
    drawn = sequence_logo(
        motif.probabilities, motif.background, f"motif {model.consensus()}"
    )
    return (
        f"<h3>Motif {escape(model.consensus())}, {motif.sites} sites</h3>"
        f'<div class="logo">{drawn}</div>'
    )


def _transitions(model: Any) -> str:
    if not hasattr(model, "transitions"):
        return ""
    scores = model.transitions()
    names = sorted({a for a, _ in scores}, key=str)
    if len(names) > CELLS:
        return ""
    table = [[scores[a, b] for b in names] for a in names]
    return (
        "<h3>Transitions</h3><p>Score of a label (column) after another (row).</p>"
        + heat(table, names, names, corner="before \\ after")
    )


def _substitution(model: Any) -> str:
    if not hasattr(model, "substitution_matrix"):
        return ""
    structure = getattr(model.structure_, "alignment", model.structure_)
    out = []
    for track in structure.symbols.letters:
        try:
            letters, values = model.substitution_matrix(track)
        except ValueError:
            continue
        if len(letters) <= CELLS:
            drawn = heat(values, letters, letters, corner=track, digits=False)
            out.append(f"<h3>Substitution scores: {escape(track)}</h3>{drawn}")
    return "".join(out)


def _features_by_label(model: Any) -> str:
    if not hasattr(model, "top_features"):
        return ""
    out = []
    for label in list(model.classes_)[:LABELS]:
        most = model.top_features(label, 6)
        least = model.top_features(label, -3)
        rows = [pair for pair in most if pair[1] > 0]
        rows += [pair for pair in reversed(least) if pair[1] < 0]
        out.append(f"<div><h3>{escape(str(label))}</h3>{bars(rows)}</div>")
    more = len(model.classes_) - len(out)
    note = f'<p class="faint">{more} further labels are not shown.</p>' if more else ""
    return (
        f'<h3>Features of each label</h3><div class="pair">{"".join(out)}</div>{note}'
    )


def _top_weights(model: Any) -> str:
    rows = model.top_weights(10) if hasattr(model, "top_weights") else []
    return f"<h3>Largest and smallest weights</h3>{bars(rows)}" if rows else ""
