"""Curves, bars and tables of values as SVG and HTML, without any package.

Colours are CSS variables (--ink, --faint, --line, --a, --b, --good, --bad), so that a
page decides about light and dark. All text is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

WIDTH, HEIGHT = 460.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 62.0, 14.0, 40.0
FLAT = 1.5e-3  # curves that vary by less, relative to their size, are drawn as level
Curve = tuple[str, ArrayLike, ArrayLike]  # name, x, y


def line_chart(
    curves: Sequence[Curve], across: str, up: str, *, log: bool = False
) -> str:
    """Curves with their names at their ends.

    Parameters
    ----------
    curves : sequence of (name, x, y)
        Points that are not finite, or not positive on a log scale, are left out.
    across, up : str
        What the axes show.
    log : bool
        Whether y is on a log scale.

    Examples
    --------
    >>> line_chart([("gap", [0, 1], [1.0, 0.1])], "seconds", "gap", log=True)[:4]
    '<svg'
    """
    clean = [(name, *_finite(x, y, log)) for name, x, y in curves]
    clean = [curve for curve in clean if len(curve[1])]
    if not clean:
        return ""
    xs = np.concatenate([x for _, x, _ in clean])
    ys = np.concatenate([y for _, _, y in clean])
    frame = _Frame((xs.min(), xs.max()), (ys.min(), ys.max()), log)
    parts = [frame.open(f"{up} against {across}"), *frame.axes(across, up)]
    for k, (name, x, y) in enumerate(clean):
        points = " ".join(
            f"{frame.x(a):.1f},{frame.y(b):.1f}" for a, b in zip(x, y, strict=True)
        )
        colour = f"var(--{'ab'[k % 2]})"
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" '
            'stroke-width="2" stroke-linejoin="round"/>'
        )
        end = frame.y(y[-1]) + (4 if len(clean) == 1 else _aside(clean, k, frame))
        parts.append(
            f'<circle cx="{frame.x(x[-1]):.1f}" cy="{frame.y(y[-1]):.1f}" r="3" '
            f'fill="{colour}"/><text x="{frame.x(x[-1]) + 7:.1f}" y="{end:.1f}" '
            f'fill="{colour}">{escape(name)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _aside(clean: Sequence[Any], k: int, frame: _Frame) -> float:
    """Where to write the names of curves so that they do not overlap."""
    ends = [frame.y(y[-1]) for _, _, y in clean]
    if len(clean) != 2 or abs(ends[0] - ends[1]) > 14:
        return 4.0
    middle, upper = (ends[0] + ends[1]) / 2, 0 if ends[0] <= ends[1] else 1
    return middle - ends[k] + (-4.0 if k == upper else 12.0)


def _finite(x: ArrayLike, y: ArrayLike, log: bool) -> tuple[Any, Any]:
    a, b = np.asarray(x, float), np.asarray(y, float)
    keep = np.isfinite(a) & np.isfinite(b) & ((b > 0) | (not log))
    return a[keep], b[keep]


class _Frame:
    """From values to pixels, and the axes."""

    def __init__(
        self, x: tuple[float, float], y: tuple[float, float], log: bool
    ) -> None:
        self.log = log
        self.x0, self.x1 = min(x[0], 0.0), max(x[1], x[0] + 1e-9)
        low, high = (math.log10(y[0]), math.log10(y[1])) if log else y
        size = max(abs(high), abs(low))
        flat = high - low <= FLAT * size
        room = 0.05 * (size or 1.0) if flat else 0.05 * (high - low)
        self.y0, self.y1 = low - room, high + room

    def x(self, value: float) -> float:
        share = (value - self.x0) / (self.x1 - self.x0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        value = math.log10(value) if self.log else value
        share = (value - self.y0) / (self.y1 - self.y0)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def open(self, title: str) -> str:
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" '
            f'aria-label="{escape(title)}">'
        )

    def axes(self, across: str, up: str) -> list[str]:
        base, end = HEIGHT - BOTTOM, WIDTH - RIGHT
        out = []
        levels = self._levels()
        names = [short(v) for v in levels] if self.log else ticks(levels)
        for value, name in zip(levels, names, strict=True):
            y = self.y(value)
            out.append(
                f'<path d="M{LEFT} {y:.1f}H{end}" class="grid"/>'
                f'<text x="{LEFT - 7}" y="{y + 4:.1f}" class="tick" '
                f'text-anchor="end">{name}</text>'
            )
        across_at = nice(self.x0, self.x1, 5)
        for value, name in zip(across_at, ticks(across_at), strict=True):
            out.append(
                f'<text x="{self.x(value):.1f}" y="{base + 16}" class="tick" '
                f'text-anchor="middle">{name}</text>'
            )
        out.append(f'<path d="M{LEFT} {TOP}V{base}H{end}" class="axis"/>')
        out.append(
            f'<text x="{(LEFT + end) / 2}" y="{HEIGHT - 6}" class="tick" '
            f'text-anchor="middle">{escape(across)}</text>'
            f'<text x="12" y="{(TOP + base) / 2}" class="tick" text-anchor="middle" '
            f'transform="rotate(-90 12 {(TOP + base) / 2})">{escape(up)}</text>'
        )
        return out

    def _levels(self) -> list[float]:
        if not self.log:
            return nice(self.y0, self.y1, 5)
        powers = range(math.ceil(self.y0), math.floor(self.y1) + 1)
        step = max(1, len(powers) // 5)
        levels = [10.0**p for p in powers[::step] if p <= 308]
        return levels or [10.0 ** ((self.y0 + self.y1) / 2)]


def nice(low: float, high: float, about: int) -> list[float]:
    """Round numbers from low to high.

    Examples
    --------
    >>> nice(0.0, 9.7, 5)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    raw = (high - low) / max(about, 1)
    if not raw > 0 or not math.isfinite(raw):
        return [low]
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1.0, 2.0, 5.0, 10.0) if s * power >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    places = max(12, 2 - math.floor(math.log10(step)))
    return [round(k * step, places) for k in range(first, last + 1)]


def ticks(values: Sequence[float]) -> list[str]:
    """Labels of evenly spaced numbers, with as many decimals as tell them apart.

    Examples
    --------
    >>> ticks([1.08, 1.09, 1.1]), ticks([56000.0, 56010.0])
    (['1.08', '1.09', '1.10'], ['56k', '56.01k'])
    """
    if len(set(values)) > 1 and max(map(abs, values)) < 1e4:
        places = max(0, -math.floor(math.log10(values[1] - values[0]) + 1e-9))
        if places <= 4:
            return [f"{value:.{places}f}" for value in values]
    labels = [[short(value, more) for value in values] for more in range(7)]
    return next((row for row in labels if len(set(row)) == len(row)), labels[0])


def aligned(values: Sequence[float]) -> list[str]:
    """Numbers for a column: with three decimals each, if that suits their sizes.

    Examples
    --------
    >>> aligned([0.342, 0.2, -0.0977]), aligned([1500.0, 0.001])
    (['0.342', '0.200', '-0.098'], ['1500', '1e-3'])
    """
    sizes = [abs(value) for value in values if value]
    if not sizes or not 0.1 <= max(sizes) < 100 or min(sizes) < 0.001:
        return [short(value) for value in values]
    return [f"{value:.3f}" if value else "0" for value in values]


def short(value: float, more: int = 0) -> str:
    """A number for an axis or a cell, with `more` digits than usual.

    Examples
    --------
    >>> short(0.0012), short(1250000), short(3.0), short(0.25)
    ('1.2e-3', '1.25M', '3', '0.25')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.{3 + more}g}M"
    if size >= 1e4:
        return f"{value / 1e3:.{3 + more}g}k"
    if size < 0.01:
        number, power = f"{value:.{1 + more}e}".split("e")
        return f"{number.removesuffix('.0')}e{int(power)}"
    return f"{value:.{3 + more}g}" if size < 1000 else f"{value:.0f}"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], kinds: str = "") -> str:
    """A table; `kinds` has a letter per column: "n" numbers, "t" text."""
    kinds = kinds or "t" * len(head)
    cells = "".join(
        f'<th class="{k}">{escape(name)}</th>'
        for name, k in zip(head, kinds, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{k}">{_cell(value)}</td>'
            for value, k in zip(row, kinds, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table><thead><tr>{cells}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return short(float(value))
    return escape(str(value))


def listed(items: Sequence[tuple[str, str]]) -> str:
    """Names and what they stand for, side by side."""
    return (
        "<dl>"
        + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in items)
        + "</dl>"
    )


def facts(items: Sequence[tuple[str, str]]) -> str:
    """Names above what they stand for, several in a row."""
    drawn = "".join(
        f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in items
    )
    return f'<dl class="facts">{drawn}</dl>'


def bars(items: Sequence[tuple[str, float]]) -> str:
    """Named values as bars that grow from the middle; red to the left."""
    most = max((abs(value) for _, value in items), default=0.0) or 1.0
    out = []
    numbers = aligned([value for _, value in items])
    for (name, value), number in zip(items, numbers, strict=True):
        side = "pos" if value >= 0 else "neg"
        out.append(
            f'<div class="bar"><span class="name">{escape(name)}</span>'
            f'<span class="track"><i class="{side}" style="--v:'
            f'{abs(value) / most:.4f}"></i></span>'
            f'<span class="n">{number}</span></div>'
        )
    return f'<div class="bars">{"".join(out)}</div>'


def heat(
    values: ArrayLike, rows: Sequence[Any], columns: Sequence[Any], *,
    corner: str = "", digits: bool = True, whole: bool = False,
) -> str:  # fmt: skip
    """A table of coloured cells: blue above zero, red below.

    Parameters
    ----------
    values : array (rows, columns)
    rows, columns : names
    corner : str
        What the names are.
    digits : bool
        Whether cells show their value; it always shows on hover.
    whole : bool
        Counts: shown as they are, and coloured by their share in the row.
    """
    table_ = np.asarray(values, float)
    base = table_.sum(axis=1, keepdims=True) if whole else np.abs(table_).max()
    share = np.abs(table_) / np.maximum(base, 1e-300)
    head = "".join(f"<th><span>{escape(str(c))}</span></th>" for c in columns)
    body = []
    numbers = iter(aligned((np.round(table_, 3) + 0.0).ravel().tolist()))
    for r, name in enumerate(rows):
        cells = []
        for c, column in enumerate(columns):
            v = float(table_[r, c])
            number = next(numbers)
            text = (f"{v:.0f}" if whole else number) if digits else ""
            if whole and v == 0:
                text = ""
            tint = "neg" if v < 0 else "pos"
            right = " diagonal" if whole and str(name) == str(column) else ""
            strong = " strong" if share[r, c] > 0.55 else ""
            cells.append(
                f'<td class="{tint}{right}{strong}" style="--v:{share[r, c]:.3f}" '
                f'title="{escape(str(name))}, {escape(str(column))}: {v:.6g}">'
                f"{text}</td>"
            )
        body.append(f"<tr><th>{escape(str(name))}</th>{''.join(cells)}</tr>")
    return (
        f'<div class="wide"><table class="heat"><thead><tr><th class="corner">'
        f"{escape(corner)}</th>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
        "</table></div>"
    )
