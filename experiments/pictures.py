"""Pictures of records as SVG: ladders and curves. The site turns them over in the dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

STYLE = (
    "svg{background:#fff}text{font:12px sans-serif;fill:#333}.value{font-weight:bold}"
    "path{stroke:#ccc}.ours{fill:#1d6fb8}"
    ".theirs{fill:none;stroke:#b4560f;stroke-width:2}"
)
COLOURS = ("#1d6fb8", "#c0591a", "#2e8b57", "#8e5bb5", "#b8941d", "#777777", "#c2385a")


class Rung(NamedTuple):
    """One line of a ladder."""

    name: str
    ours: float
    published: float | None


def ladder(rungs: Sequence[Rung], better: str) -> str:
    """One rung per method: a dot is ours, a ring what the paper printed."""
    left = 14 + 7.2 * max(len(r.name) for r in rungs)
    wide, tall, step = left + 380, 30 + 26 * len(rungs), 26
    values = [v for r in rungs for v in (r.ours, r.published) if v is not None]
    low, high = min(0.0, *values), max(values) or 1.0

    def x(value: float) -> float:
        return left + 300 * (value - low) / (high - low)

    parts = []
    for k, rung in enumerate(rungs):
        y = 18 + step * k
        parts.append(
            f'<text x="{left - 10:.0f}" y="{y + 4}" text-anchor="end">'
            f'{escape(rung.name)}</text><path d="M{left:.0f} {y}H{left + 300:.0f}"/>'
            f'<circle cx="{x(rung.ours):.1f}" cy="{y}" r="5" class="ours"/>'
            f'<text x="{left + 312:.0f}" y="{y + 4}" class="value">{rung.ours:g}</text>'
        )
        if rung.published is not None:
            parts.append(
                f'<circle cx="{x(rung.published):.1f}" cy="{y}" r="7" class="theirs"/>'
            )
    parts.append(f'<text x="{left:.0f}" y="{tall - 6}">{escape(better)}</text>')
    return _page(wide, tall, parts)


def curves(
    lines: dict[str, list[tuple[float, float]]], x_name: str, y_name: str, log: bool
) -> str:
    """One line per series over a common axis, logarithmic in x (and y if `log`)."""
    points = [p for line in lines.values() for p in line]
    across = _Axis([p[0] for p in points], True, 60, 420)
    up = _Axis([p[1] for p in points], log, 250, 20)
    parts = [
        f'<path d="M{across(t):.1f} 250V20"/>'
        f'<text x="{across(t):.1f}" y="268" text-anchor="middle">{t:g}</text>'
        for t in across.ticks
    ]
    parts += [
        f'<path d="M60 {up(t):.1f}H420"/>'
        f'<text x="54" y="{up(t) + 4:.1f}" text-anchor="end">{t:g}</text>'
        for t in up.ticks
    ]
    for k, (name, line) in enumerate(lines.items()):
        colour = COLOURS[k % len(COLOURS)]
        route = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in line)
        parts.append(
            f'<path d="M{route}" style="fill:none;stroke:{colour};stroke-width:2"/>'
            f'<circle cx="440" cy="{30 + 20 * k}" r="5" style="fill:{colour}"/>'
            f'<text x="452" y="{34 + 20 * k}">{escape(name)}</text>'
        )
        parts += [
            f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" '
            f'style="fill:{colour}"/>'
            for x, y in line
        ]
    parts.append(f'<text x="240" y="288" text-anchor="middle">{escape(x_name)}</text>')
    parts.append(f'<text x="8" y="12">{escape(y_name)}</text>')
    wide = 470 + 7.2 * max(map(len, lines))
    return _page(wide, max(296, 40 + 20 * len(lines)), parts)


class _Axis:
    """From values to places on the page, with round ticks."""

    def __init__(
        self, values: Sequence[float], log: bool, begin: float, end: float
    ) -> None:
        self.log, self.begin, self.end = log, begin, end
        if log:
            low, high = floor(log10(min(values))), ceil(log10(max(values)))
            high = max(high, low + 1)
            self.ticks = [10.0**k for k in range(low, high + 1)]
        else:
            low, high = min(values), max(values)
            step = 10.0 ** floor(log10((high - low) or 1.0))
            step = next(s for s in (step / 5, step / 2, step) if (high - low) / s <= 8)
            low, high = step * floor(low / step), step * ceil(high / step)
            count = round((high - low) / step)
            self.ticks = [round(low + k * step, 10) for k in range(count + 1)]
        self.low, self.high = low, high

    def __call__(self, value: float) -> float:
        at = log10(value) if self.log else value
        share = (at - self.low) / ((self.high - self.low) or 1.0)
        return self.begin + share * (self.end - self.begin)


def _page(wide: float, tall: float, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {tall:.0f}" '
        f'width="{wide:.0f}" role="img"><style>{STYLE}</style>{"".join(parts)}</svg>\n'
    )
