"""How good answers in a taxonomy are: hierarchical precision, recall and F1.

    precision = sum_i |A_i n B_i| / sum_i |B_i|,    recall = sum_i |A_i n B_i| / sum_i |A_i|

A_i is the true class of example i with all nodes above it, B_i the predicted one with
those above it; a root that all share is left out. An answer that stops early loses recall
and no precision. With average="macro" both are means over examples, as in HiClass.

[1] Kiritchenko, Matwin, Famili 2005; Silla and Freitas 2011.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np


class HierarchicalScores(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def hierarchical_scores(
    true: Sequence[Iterable[Hashable]],
    predicted: Sequence[Iterable[Hashable]],
    average: str = "micro",
) -> HierarchicalScores:
    """Hierarchical precision, recall and F1 of label paths.

    Parameters
    ----------
    true, predicted : sequences of paths
        Each answer with all nodes above it, as ``Taxonomy.paths`` gives them; rows of
        HiClass's label arrays, padded by "", will do where names occur only once.
    average : {"micro", "macro"}
        Sums over all examples, or means over examples.

    Examples
    --------
    >>> hierarchical_scores([["pet", "cat"], ["fly"]], [["pet"], ["fly"]])
    HierarchicalScores(precision=1.0, recall=0.6666666666666666, f1=0.8)
    """
    if len(true) != len(predicted):
        raise ValueError(f"{len(true)} true paths, but {len(predicted)} predicted ones")
    if len(true) == 0:
        raise ValueError("there are no paths to compare")
    if average not in ("micro", "macro"):
        raise ValueError(f"average={average!r} is neither 'micro' nor 'macro'")
    counts = np.zeros((len(true), 3))
    for i, (one, other) in enumerate(zip(true, predicted, strict=True)):
        for what, path in (("true", one), ("predicted", other)):
            if isinstance(path, str):
                raise ValueError(
                    f"example {i}: the {what} path is the string {path!r}, not a row of "
                    "names; Taxonomy.paths makes rows of labels"
                )
        a, b = ({v for v in path if v is not None and v != ""} for path in (one, other))
        if not a:
            raise ValueError(f"example {i}: the true path is empty")
        counts[i] = len(a & b), len(b), len(a)
    both, found, right = counts.T
    if average == "micro":
        p, r = both.sum() / max(found.sum(), 1.0), both.sum() / right.sum()
    else:
        p, r = (both / np.maximum(found, 1.0)).mean(), (both / right).mean()
    f1 = 2.0 * p * r / (p + r) if p + r > 0.0 else 0.0
    return HierarchicalScores(float(p), float(r), float(f1))
