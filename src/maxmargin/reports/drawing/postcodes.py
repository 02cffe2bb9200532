"""The picture of the demo: written postcodes and what two models read in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def draw_postcodes(
    path: str,
    images: Sequence[Any],
    truth: Sequence[Sequence[int]],
    alone: Sequence[Sequence[int]],
    together: Sequence[Sequence[int]],
    title: str,
) -> None:
    """Save rows of digits with the two readings below them, errors in red.

    Parameters
    ----------
    path : str
        PNG file to write.
    images : sequence of arrays (5, 64)
    truth, alone, together : sequences of digit rows
        What was written, what digits say one by one, and what the chain says.
    title : str
    """
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    rows = len(images)
    figure, axes = plt.subplots(rows, 1, figsize=(5.4, 1.45 * rows + 0.7))
    for axis, image, right, one, two in zip(
        np.atleast_1d(axes), images, truth, alone, together, strict=True
    ):
        strip = np.hstack([digit.reshape(8, 8) for digit in image])
        axis.imshow(strip, cmap="gray_r", aspect="equal", vmin=0, vmax=1)
        axis.set_axis_off()
        axis.text(-1, 9.6, "alone", ha="right", va="center", fontsize=9)
        axis.text(-1, 12.6, "chain", ha="right", va="center", fontsize=9)
        for k, (y, a, b) in enumerate(zip(right, one, two, strict=True)):
            for value, height in ((a, 9.6), (b, 12.6)):
                axis.text(
                    8 * k + 3.5, height, str(value), ha="center", va="center",
                    fontsize=12, family="monospace",
                    color="#222222" if value == y else "white",
                    bbox=None if value == y else {
                        "boxstyle": "round,pad=0.15", "color": "#c62828"
                    },
                )  # fmt: skip
        axis.set_ylim(14.2, -0.5)
        axis.set_xlim(-8, 40)
    figure.suptitle(title, fontsize=10.5)
    figure.tight_layout(h_pad=0.4)
    figure.savefig(path, dpi=130)
    plt.close(figure)
