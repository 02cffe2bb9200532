"""Alignments to look at: blocks of text, and SVG.

An alignment is columns (k, 2) of positions with -1 for a gap. Equal letters are joined
by "|"; with a reference, a match is marked "*" where the reference has it, "+" where it
is at most `shift` positions off, "!" where it is wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

COLOURS = {"*": "#2a9d5c", "+": "#e0b23c", "!": "#d1495b", "|": "#4c78a8", " ": "none"}


def alignment_text(
    first: Any, second: Any, columns: ArrayLike, reference: ArrayLike | None = None,
    *, shift: int = 4, width: int = 60,
) -> str:  # fmt: skip
    """Blocks of three lines, four with a reference, with positions from 1.

    Examples
    --------
    >>> print(alignment_text("ACD", "AD", [[0, 0], [1, -1], [2, 1]]))
    first   1 ACD 3
              | |
    second  1 A-D 2
    """
    names = [_name(first, "first"), _name(second, "second")]
    pairs = np.asarray(columns, np.int64).reshape(-1, 2)
    rows = _rows(first, second, pairs)
    marks = agreement(pairs, reference, shift) if reference is not None else None
    margin = max(len(n) for n in names) + 2
    digits = len(str(int(pairs.max(initial=0)) + 1))
    lines: list[str] = []
    for begin in range(0, len(pairs), width):
        span = slice(begin, begin + width)
        if lines:
            lines.append("")
        middle = [
            "|" if a == b != "-" else " "
            for a, b in zip(rows[0][span], rows[1][span], strict=True)
        ]
        block = []
        for side in (0, 1):
            seen = pairs[span, side]
            seen = seen[seen >= 0]
            at = (int(seen[0]) + 1, int(seen[-1]) + 1) if len(seen) else ("", "")
            text = (
                f"{names[side]:<{margin}}{at[0]:>{digits}} {rows[side][span]} {at[1]}"
            )
            block.append(text.rstrip())
        pad = " " * (margin + digits + 1)
        lines += [block[0], (pad + "".join(middle)).rstrip(), block[1]]
        if marks is not None:
            lines.append((pad + marks[span]).rstrip())
    return "\n".join(lines)


def agreement(columns: ArrayLike, reference: ArrayLike, shift: int = 4) -> str:
    """One mark per column: "*" right, "+" within the shift, "!" wrong, " " a gap.

    Examples
    --------
    >>> agreement([[0, 0], [1, 1], [2, -1]], [[0, 0], [-1, 1], [1, 2], [2, 3]])
    '*! '
    """
    true = np.asarray(reference, np.int64).reshape(-1, 2)
    true = true[(true >= 0).all(axis=1)]
    partner = {int(j): int(i) for i, j in true}
    marks = []
    for i, j in np.asarray(columns, np.int64).reshape(-1, 2).tolist():
        if i < 0 or j < 0:
            marks.append(" ")
        elif j not in partner or abs(partner[j] - i) > shift:
            marks.append("!")
        else:
            marks.append("*" if partner[j] == i else "+")
    return "".join(marks)


def alignment_svg(
    first: Any, second: Any, columns: ArrayLike, reference: ArrayLike | None = None,
    *, shift: int = 4, width: int = 60,
) -> str:  # fmt: skip
    """The same as a picture: coloured boxes join the letters of a match."""
    names = [_name(first, "first"), _name(second, "second")]
    pairs = np.asarray(columns, np.int64).reshape(-1, 2)
    rows = _rows(first, second, pairs)
    if reference is not None:
        marks = agreement(pairs, reference, shift)
    else:
        marks = "".join(
            "|" if a == b != "-" else " " for a, b in zip(*rows, strict=True)
        )
    cell, block, margin = 11, 56, 8 * max(len(n) for n in names) + 12
    parts: list[str] = []
    for k, (a, b, mark) in enumerate(zip(*rows, marks, strict=True)):
        x, y = margin + cell * (k % width), 18 + block * (k // width)
        if mark != " ":
            parts.append(
                f'<rect x="{x - 5}" y="{y - 11}" width="10" height="30" rx="2" '
                f'fill="{COLOURS[mark]}" fill-opacity="0.35"/>'
            )
        parts.append(f'<text x="{x}" y="{y}">{_escaped(a)}</text>')
        parts.append(f'<text x="{x}" y="{y + 16}">{_escaped(b)}</text>')
    blocks = -(-len(pairs) // width)
    for k in range(blocks):
        for side in (0, 1):
            y = 18 + block * k + 16 * side
            parts.append(
                f'<text x="4" y="{y}" text-anchor="start">{_escaped(names[side])}</text>'
            )
    size = margin + cell * min(width, len(pairs)) + 8, block * max(blocks, 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        'font-family="monospace" font-size="12" text-anchor="middle" '
        'fill="currentColor" role="img" aria-label="alignment">'
        + "".join(parts)
        + "</svg>"
    )


def _rows(first: Any, second: Any, pairs: Any) -> tuple[str, str]:
    texts = [s if isinstance(s, str) else s["residue"] for s in (first, second)]
    rows = [
        "".join(texts[side][k] if k >= 0 else "-" for k in pairs[:, side].tolist())
        for side in (0, 1)
    ]
    return rows[0], rows[1]


def _name(sequence: Any, otherwise: str) -> str:
    return (
        otherwise if isinstance(sequence, str) else str(sequence.get("name", otherwise))
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
