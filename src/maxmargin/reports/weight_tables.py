"""What a model has learned, drawn: the middle section of a report.

Each function draws one kind of thing; estimators say which of them they have to show.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Floats
from maxmargin.reports.confusion import natural_key
from maxmargin.reports.drawing.logo import sequence_logo
from maxmargin.reports.drawing.svg import bars, heat, line_chart

LABELS = 12  # labels whose features are shown one by one
CELLS = 40  # rows that a table may have

Named = Sequence[tuple[str, float]]  # weights by name


def largest_weights(weights: Named) -> str:
    """The largest and smallest weights by name."""
    if not weights:
        return ""
    return f"<h3>Largest and smallest weights</h3>{bars(weights)}"


def features_by_label(
    labels: Iterable[tuple[Hashable, Named, Named]], others: int = 0
) -> str:
    """For each label the features most for and most against it.

    `others` is the number of labels that are not shown.
    """
    out = []
    for label, most, least in labels:
        rows = [pair for pair in most if pair[1] > 0]
        rows += [pair for pair in reversed(least) if pair[1] < 0]
        out.append(f"<div><h3>{escape(str(label))}</h3>{bars(rows)}</div>")
    note = f'<p class="faint">{others} more labels are not shown.</p>' if others else ""
    return (
        f'<h3>Features of each label</h3><div class="pair">{"".join(out)}</div>{note}'
    )


def transition_table(scores: Mapping[tuple[Hashable, Hashable], float]) -> str:
    """Scores of pairs of neighbouring labels."""
    names = sorted({a for a, _ in scores}, key=natural_key)
    if len(names) > CELLS:
        return ""
    rows = [[scores[a, b] for b in names] for a in names]
    return (
        "<h3>Transitions</h3><p>Score of a label (column) after another (row).</p>"
        + heat(rows, names, names, corner="before \\ after")
    )


def substitution_table(track: str, letters: Sequence[str], scores: Floats) -> str:
    """Scores of pairs of letters of a track."""
    if len(letters) > CELLS:
        return ""
    drawn = heat(scores, letters, letters, corner=track, digits=False)
    return f"<h3>Substitution scores: {escape(track)}</h3>{drawn}"


def motif_logo(
    probabilities: Floats, background: Floats, consensus: str, sites: int
) -> str:
    """The logo of a motif."""
    drawn = sequence_logo(probabilities, background, f"motif {consensus}")
    return (
        f"<h3>Motif {escape(consensus)}, {sites} sites</h3>"
        f'<div class="logo">{drawn}</div>'
    )


def kernel_points(coefficients: ArrayLike) -> str:
    """How much weight the points of a kernel expansion have, one row per point."""
    size = np.sort(np.abs(np.asarray(coefficients)).sum(axis=1))[::-1]
    chart = line_chart(
        [("points", np.arange(1, len(size) + 1), size)], "point, largest first",
        "sum of |coefficients|",
    )  # fmt: skip
    return (
        f"<h3>Kernel</h3><p>The model is an expansion over {len(size)} points; it has no "
        f'weights of features.</p><div class="pair"><div>{chart}</div></div>'
    )
