"""Sequence logos: stacked letters whose heights sum to the information in bits.

    height of base c at position j = p[j, c] * sum_d p[j, d] log2(p[j, d] / q[d])

Schneider and Stephens 1990; q is the background (uniform: at most 2 bits for bases, 4.3
for amino acids).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.core.data.arrays import Floats

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
KINDS = {  # of amino acids, by what they have in common
    "#2a9d4b": "GSTYCNQ", "#c8313b": "DE", "#2464b4": "KRH", "#333333": "AVLIPWFM",
}  # fmt: skip
COLOURS = {"A": "#2a9d4b", "C": "#2464b4", "G": "#e6a100", "T": "#c8313b"}
# Outlines in a box of 100 x 100, y downwards.
SHAPES = {
    "A": "M0 100 L38 0 L62 0 L100 100 L78 100 L70 77 L30 77 L22 100 Z "
    "M36 60 L64 60 L50 20 Z",
    "C": "M100 34 C94 10 74 0 52 0 C20 0 0 20 0 50 C0 80 20 100 52 100 "
    "C76 100 94 88 100 64 L78 59 C75 75 66 82 52 82 C33 82 22 70 22 50 "
    "C22 30 33 18 52 18 C66 18 75 26 78 40 Z",
    "G": "M100 32 C94 10 75 0 52 0 C20 0 0 20 0 50 C0 80 20 100 52 100 "
    "C72 100 88 94 100 84 L100 46 L52 46 L52 63 L78 63 L78 75 "
    "C71 80 62 82 53 82 C33 82 22 70 22 50 C22 30 33 18 52 18 "
    "C66 18 75 25 78 37 Z",
    "T": "M0 0 L100 0 L100 18 L61 18 L61 100 L39 100 L39 18 L0 18 Z",
}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 36.0, 150.0, 44.0, 10.0, 26.0


def letter_heights(
    probabilities: ArrayLike, background: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Height of each letter in bits, (length, 4), or (length, 20) for amino acids.

    Examples
    --------
    >>> letter_heights([[1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]]).tolist()
    [[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if background is None:
        q = np.full(p.shape[-1], 1.0 / p.shape[-1])
    else:
        q = np.asarray(background, float)
    terms = np.where(p > 0, p * np.log2(np.maximum(p, 1e-300) / q), 0.0)
    heights: Floats = p * np.maximum(terms.sum(axis=1), 0.0)[:, None]
    return heights


def sequence_logo(
    probabilities: ArrayLike, background: ArrayLike | None = None, title: str = ""
) -> str:
    """The logo as an SVG document.

    Parameters
    ----------
    probabilities : array (length, 4) or (length, 20)
        Share of A, C, G, T, or of the amino acids in the order of their letters, at each
        position.
    background : array (4,) or (20,), optional
        Shares that carry no information; uniform if absent.
    title : str
        Read out by screen readers and shown on hover.
    """
    heights = letter_heights(probabilities, background)
    most = max(2.0, float(heights.sum(axis=1).max(initial=0.0)))
    width = LEFT + WIDTH * len(heights) + 6.0
    total = TOP + HEIGHT + BOTTOM
    label = title or "sequence logo"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} '
        f'{total:.0f}" width="{width:.0f}" height="{total:.0f}" role="img">',
        f"<title>{_escape(label)}</title>",
        *_axis(most, width),
    ]
    for j, column in enumerate(heights):
        parts += _stack(j, column, most)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axis(most: float, width: float) -> list[str]:
    style = 'font-family="sans-serif" font-size="11" fill="#444"'
    base = TOP + HEIGHT
    out = [
        f'<path d="M{LEFT} {TOP} V{base} H{width - 6:.1f}" fill="none" stroke="#888"/>',
        f'<text x="12" y="{TOP + HEIGHT / 2}" {style} text-anchor="middle" '
        f'transform="rotate(-90 12 {TOP + HEIGHT / 2})">bits</text>',
    ]
    for bits in range(int(most) + 1):
        y = base - HEIGHT * bits / most
        out.append(
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" {style} text-anchor="end">'
            f"{bits}</text>"
        )
    return out


def _stack(j: int, column: NDArray[np.float64], most: float) -> list[str]:
    x, y = LEFT + WIDTH * j, TOP + HEIGHT
    out = []
    for c in np.argsort(column):
        tall = HEIGHT * column[c] / most
        if tall < 0.3:
            continue
        y -= tall
        if len(column) == 20:
            out.append(_amino_acid(AMINO_ACIDS[c], x, y, tall))
            continue
        letter = "ACGT"[c]
        out.append(
            f'<path transform="translate({x + 1:.2f} {y:.2f}) '
            f'scale({(WIDTH - 2) / 100:.4f} {tall / 100:.5f})" fill-rule="evenodd" '
            f'fill="{COLOURS[letter]}" d="{SHAPES[letter]}"/>'
        )
    out.append(
        f'<text x="{x + WIDTH / 2:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle" '
        f'font-family="sans-serif" font-size="11" fill="#444">{j + 1}</text>'
    )
    return out


def _amino_acid(letter: str, x: float, y: float, tall: float) -> str:
    """A letter of a font, stretched to its height."""
    colour = next(c for c, letters in KINDS.items() if letter in letters)
    return (
        f'<text transform="translate({x + WIDTH / 2:.2f} {y + tall:.2f}) '
        f'scale(1 {tall / 24:.5f})" text-anchor="middle" font-family="sans-serif" '
        f'font-weight="bold" font-size="33" fill="{colour}">{letter}</text>'
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
