"""Dependency trees drawn as text and as SVG: arcs above the words, from head to modifier.

A tree is a list of heads, or of (head, label) pairs; head 0 is the root. Arcs that
another tree does not have can be marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

LETTER, STEP, GAP = 8.0, 24.0, 26.0  # width of a letter, height of an arc, room


def text_arcs(words: Sequence[str], tree: Sequence[Any]) -> str:
    """One line per word with its head and label, indented by depth.

    Examples
    --------
    >>> print(text_arcs(["I", "saw", "it"], [(2, "nsubj"), (0, "root"), (2, "obj")]))
      I    <- saw   nsubj
    saw    <- root  root
      it   <- saw   obj
    """
    arcs = [_arc(entry) for entry in tree]
    names = ["root", *words]
    depth = [_depth(arcs, t) for t in range(len(arcs))]
    wide = max((len(w) + 2 * d for w, d in zip(words, depth, strict=True)), default=0)
    far = max((len(names[head]) for head, _ in arcs), default=0)
    lines = []
    for word, d, (head, label) in zip(words, depth, arcs, strict=True):
        shown = f"{'  ' * d}{word}"
        lines.append(
            f"{shown:<{wide + 2}} <- {names[head]:<{far + 1}} {label}".rstrip()
        )
    return "\n".join(lines)


def svg_arcs(
    words: Sequence[str], tree: Sequence[Any], other: Sequence[Any] | None = None
) -> str:
    """Draw as SVG; arcs that `other` does not have are marked.

    Examples
    --------
    >>> print(svg_arcs(["I", "slept"], [2, 0])[:4])
    <svg
    """
    arcs = [_arc(entry) for entry in tree]
    known = None if other is None else [_arc(entry) for entry in other]
    center, pen = [], GAP
    for word, (_, label) in zip(words, arcs, strict=True):
        wide = LETTER * max(len(word), len(label), 2)
        center.append(pen + wide / 2)
        pen += wide + GAP
    level, leaves = _levels(arcs), _leaves(arcs)
    top = STEP * (max(level, default=0) + 1.5)
    drawn, texts = [], []
    for t, (head, label) in enumerate(arcs):
        wrong = known is not None and known[t] != (head, label)
        mark = ' class="wrong"' if wrong else ""
        x, high = center[t], top - STEP * level[t]
        if head == 0:
            path, place = f"M{x:.1f},4 V{top - 4:.1f}", (x + 18, 14.0)
        else:
            start = center[head - 1] + leaves[t]
            path = _path(start, x, top - 4, high)
            place = ((start + x) / 2, high - 3)
        drawn.append(f'<path{mark} d="{path}" marker-end="url(#tip)"/>')
        if label:
            texts.append(
                f'<text{mark} x="{place[0]:.1f}" y="{place[1]:.1f}" '
                f'font-size="11">{escape(label)}</text>'
            )
    for word, x in zip(words, center, strict=True):
        texts.append(
            f'<text x="{x:.1f}" y="{top + 14:.1f}" font-size="14">{escape(word)}</text>'
        )
    style = (  # names begin with .arcs: the style of an inline SVG holds for the page
        ".arcs text{font-family:sans-serif;text-anchor:middle;fill:currentColor}"
        ".arcs path{stroke:#8a94a0;fill:none}.arcs path.wrong{stroke:#d1495b}"
        ".arcs text.wrong{fill:#d1495b}.arcs #tip path{fill:#8a94a0;stroke:none}"
    )
    return "\n".join([
        f'<svg class="arcs" xmlns="http://www.w3.org/2000/svg" width="{pen:.0f}" '
        f'height="{top + 24:.0f}" role="img" aria-label="dependency tree">',
        f"<style>{style}</style>",
        '<defs><marker id="tip" markerWidth="7" markerHeight="7" refX="6" refY="3" '
        'orient="auto"><path d="M0,0 L6,3 L0,6 z"/>'
        "</marker></defs>",
        *drawn,
        *texts,
        "</svg>",
    ])  # fmt: skip


def _arc(entry: Any) -> tuple[int, str]:
    if isinstance(entry, tuple | list):
        return int(entry[0]), str(entry[1])
    return int(entry), ""


def _path(start: float, end: float, low: float, high: float) -> str:
    """Up, across and down, with round corners."""
    side = 1 if end > start else -1
    r = min(8.0, low - high, abs(end - start) / 2)
    turn = side * r
    return (
        f"M{start:.1f},{low:.1f} V{high + r:.1f} "
        f"Q{start:.1f},{high:.1f} {start + turn:.1f},{high:.1f} H{end - turn:.1f} "
        f"Q{end:.1f},{high:.1f} {end:.1f},{high + r:.1f} V{low:.1f}"
    )


def _leaves(arcs: Sequence[tuple[int, str]]) -> list[float]:
    """How far from the middle of its head each arc begins: short arcs further out."""
    found = [0.0] * len(arcs)
    for head in {head for head, _ in arcs if head}:
        own = [t for t, arc in enumerate(arcs) if arc[0] == head]
        for side in (-1, 1):
            far = sorted(
                (t for t in own if side * (t + 1 - head) > 0), key=lambda t: -side * t
            )
            step = min(5.0, 15.0 / max(len(far), 1))
            for k, t in enumerate(far):
                found[t] = side * (5.0 + step * k)
    return found


def _depth(arcs: Sequence[tuple[int, str]], t: int) -> int:
    """Arcs between a token and the root, less one; the length at most, if there is a cycle."""
    steps, head = 0, arcs[t][0]
    while head != 0 and steps < len(arcs):
        steps, head = steps + 1, arcs[head - 1][0]
    return steps


def _levels(arcs: Sequence[tuple[int, str]]) -> list[int]:
    """Height of each arc: one more than the highest arc that lies below it."""
    spans = [tuple(sorted((t + 1, head))) for t, (head, _) in enumerate(arcs)]
    level = [1] * len(arcs)
    order = sorted(range(len(arcs)), key=lambda t: spans[t][1] - spans[t][0])
    for k, t in enumerate(order):
        if arcs[t][0] == 0:
            continue
        low, high = spans[t]
        below = [
            level[u]
            for u in order[:k]
            if arcs[u][0] != 0 and low <= spans[u][0] and spans[u][1] <= high
        ]
        level[t] = 1 + max(below, default=0)
    return level
