"""Labelled graphs as SVG: grids as squares, other graphs with springs or on a circle."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.reports.drawing.graphs import place_nodes
from maxmargin.reports.drawing.marked_text import HUES

SIZE, EDGE = 300.0, 20.0  # of the picture, and its margin
MOST = 2500  # nodes that are drawn
SPRINGS = 150  # larger graphs stand on a circle: springs take too long


def grid_shape(edges: ArrayLike, n: int) -> tuple[int, int] | None:
    """(rows, columns) if the edges are those of a grid in row-major order.

    Examples
    --------
    >>> grid_shape([[0, 1], [2, 3], [0, 2], [1, 3]], 4), grid_shape([[0, 3]], 4)
    ((2, 2), None)
    """
    pairs = {
        (min(a, b), max(a, b)) for a, b in np.asarray(edges).reshape(-1, 2).tolist()
    }
    for columns in range(2, n // 2 + 1):
        if n % columns:
            continue
        across = {(v, v + 1) for v in range(n) if (v + 1) % columns}
        down = {(v, v + columns) for v in range(n - columns)}
        if pairs == across | down:
            return n // columns, columns
    return None


def graph_svg(
    edges: ArrayLike,
    labels: Sequence[Hashable],
    truth: Sequence[Hashable] | None = None,
    known: Sequence[Hashable] = (),
) -> str:
    """A labelled graph with a legend; nodes that differ from the truth are outlined.

    Parameters
    ----------
    edges : int array (m, 2)
    labels : sequence
        Label of each node.
    truth : sequence, optional
        True labels.
    known : sequence, optional
        All labels of the model, so that a label has the same colour everywhere.

    Examples
    --------
    >>> svg = graph_svg([[0, 1]], ["a", "b"], truth=["a", "a"])
    >>> svg.count("<circle"), svg.count("ring")
    (2, 1)
    """
    n = len(labels)
    if n > MOST:
        return f'<p class="faint">{n} nodes: too many to draw.</p>'
    names = list(known) or sorted({*labels, *(truth or ())}, key=str)
    hues = [names.index(label) % HUES if label in names else 0 for label in labels]
    wrong = [truth is not None and truth[v] != labels[v] for v in range(n)]
    pairs = np.asarray(edges, np.int64).reshape(-1, 2)
    shape = grid_shape(pairs, n)
    if shape is not None:
        drawn, height = _grid(shape, labels, hues, wrong)
    else:
        drawn, height = _nodes(pairs, labels, hues, wrong), SIZE
    used = [
        k for k, name in enumerate(names) if name in labels or name in (truth or ())
    ]
    legend = " ".join(
        f'<span class="token hue{k % HUES}"><b>{escape(str(names[k]))}</b></span>'
        for k in used
    )
    note = " Outlined nodes differ from the truth." if any(wrong) else ""
    return (
        f'<svg class="graph" viewBox="0 0 {SIZE:.0f} {height:.0f}" role="img" '
        f'aria-label="labelled graph">{drawn}</svg><div class="legend">{legend}{note}</div>'
    )


def _grid(
    shape: tuple[int, int], labels: Sequence[Hashable], hues: Sequence[int],
    wrong: Sequence[bool],
) -> tuple[str, float]:  # fmt: skip
    rows, columns = shape
    side = SIZE / columns
    out = []
    for v, hue in enumerate(hues):
        x, y = side * (v % columns), side * (v // columns)
        ring = " ring" if wrong[v] else ""
        out.append(
            f'<rect class="hue{hue}{ring}" x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" '
            f'height="{side:.1f}"><title>{escape(str(labels[v]))}</title></rect>'
        )
    return "".join(out), side * rows


def _nodes(
    pairs: Ints, labels: Sequence[Hashable], hues: Sequence[int], wrong: Sequence[bool]
) -> str:
    n = len(labels)
    at = place_nodes(pairs, n) if n <= SPRINGS else _circle(n)
    low, high = at.min(axis=0), at.max(axis=0)
    at = EDGE + (SIZE - 2 * EDGE) * (at - low) / np.maximum(high - low, 1e-9)
    if n == 1:
        at[:] = SIZE / 2
    out = [
        f'<line x1="{at[a, 0]:.1f}" y1="{at[a, 1]:.1f}" x2="{at[b, 0]:.1f}" '
        f'y2="{at[b, 1]:.1f}"/>'
        for a, b in pairs.tolist()
    ]
    radius = 11.0 if n <= 30 else 7.0 if n <= 100 else 4.0
    for v, hue in enumerate(hues):
        ring = " ring" if wrong[v] else ""
        out.append(
            f'<circle class="hue{hue}{ring}" cx="{at[v, 0]:.1f}" cy="{at[v, 1]:.1f}" '
            f'r="{radius}"><title>node {v}: {escape(str(labels[v]))}</title></circle>'
        )
    return "".join(out)


def _circle(n: int) -> Floats:
    angle = 2.0 * np.pi * np.arange(n) / n
    circle: Floats = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return circle
