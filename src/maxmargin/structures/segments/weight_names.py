"""Names for the weights of segmentations, and what each segment adds to a score."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Rows, Vectors
from maxmargin.core.data.lazy_names import LazyNames
from maxmargin.core.structure import Pieces
from maxmargin.structures.chain.weight_names import other_name
from maxmargin.structures.segments.layout import SegmentLayout

LETTERS = {1: ("",), 2: ("B-", "I-"), 4: ("B-", "I-", "E-", "S-")}


class SegmentNames(LazyNames):
    """Names of all weights, each made when it is asked for.

    Parameters
    ----------
    layout : SegmentLayout
    labels : sequence
        Labels of segments; the first is "outside".
    inputs, pieces : sequences of str
        Names of the features of tokens and of segments.
    sparse : bool
        Whether input weights are feature-major.

    Examples
    --------
    >>> from maxmargin.structures.segments.layout import layout_of
    >>> layout = layout_of(2, 2, True, 6, 1, 1, start_end=False, skip=True)
    >>> list(SegmentNames(layout, ("O", "PER"), ["cap"], ["length=1"], True))[:6]
    ['cap / O', 'cap / B-PER', 'cap / I-PER', 'cap / PER', 'length=1 / PER', 'O -> O']
    """

    def __init__(
        self, layout: SegmentLayout, labels: Sequence[Hashable], inputs: Sequence[str],
        pieces: Sequence[str], sparse: bool,
    ) -> None:  # fmt: skip
        self.layout, self.labels, self.inputs = layout, labels, inputs
        self.pieces, self.sparse = pieces, sparse
        self.constant = other_name("bias", inputs)

    def __len__(self) -> int:
        return self.layout.dim

    def name_of(self, at: int) -> str:
        """Name of weight number `at`."""
        spot, labels = self.layout, self.labels
        if at < spot.width * spot.tokens:
            parts = divmod(at, spot.tokens if self.sparse else spot.width)
            f, y = parts if self.sparse else parts[::-1]
            return f"{self.inputs[f]} / {self.token_label(y)}"
        if 0 <= spot.skip <= at:
            a, b = divmod(at - spot.skip, spot.labels - 1)
            return f"{labels[a + 1]} .. {labels[b + 1]}"
        if at >= spot.bias:
            return f"{self.constant} / {self.token_label(at - spot.bias)}"
        if 0 <= spot.end <= at:
            return f"{labels[at - spot.end]} -> end"
        if 0 <= spot.start <= at:
            return f"start -> {labels[at - spot.start]}"
        if at >= spot.pairs:
            a, b = divmod(at - spot.pairs, spot.labels)
            return f"{labels[a]} -> {labels[b]}"
        f, k = divmod(at - spot.pieces, spot.labels - 1)
        return f"{self.pieces[f]} / {labels[k + 1]}"

    def token_label(self, y: int) -> str:
        """Role and label of a token, or the label alone where it is shared."""
        spot = self.layout
        if y == 0:
            return str(self.labels[0])
        if y > (spot.labels - 1) * spot.roles:
            return str(self.labels[y - (spot.labels - 1) * spot.roles])
        k, role = divmod(y - 1, spot.roles)
        return f"{LETTERS[spot.roles][role]}{self.labels[k + 1]}"


def segment_parts(structure: Any, x: Any, i: int, row: Labels) -> Pieces:
    """What each segment, or token outside, adds to psi of the codes `row` of sentence i."""
    spot, labels = structure.layout, structure.labels
    names, parts, before, seen, t = [], [], -1, 0, 0
    while t < len(row):
        end, k = t + 1, (int(row[t]) + 1) // 2
        while k > 0 and end < len(row) and row[end] == 2 * k:
            end += 1
        at, size = [], []
        for s in range(t, end):
            for y in _token_labels(spot, k, s - t, end - t):
                idx, val = _token_entries(spot, x.vectors, int(x.ptr[i]) + s, y)
                at.append(idx)
                size.append(val)
        alone = [spot.pairs + before * spot.labels + k] if t > 0 else []
        alone += [spot.start + k] if t == 0 and spot.start >= 0 else []
        alone += [spot.end + k] if end == len(row) and spot.end >= 0 else []
        if k > 0 and before == 0 and seen > 0 and spot.skip >= 0:
            alone.append(spot.skip + (seen - 1) * (spot.labels - 1) + k - 1)
        if k > 0:
            pieces = x.pieces.row((int(x.ptr[i]) + t) * spot.widest + end - t - 1)
            first = spot.pieces + k - 1
            alone += (first + pieces.astype(np.int64) * (spot.labels - 1)).tolist()
        at.append(np.array(alone, np.int64))
        size.append(np.ones(len(alone)))
        parts.append((np.concatenate(at), np.concatenate(size)))
        where = f"token {t}" if end == t + 1 else f"tokens {t}-{end - 1}"
        names.append(f"{where}: {labels[k]}")
        t, before, seen = end, k, k or seen
    return Pieces(names, Rows.pack(parts))


def _token_labels(spot: SegmentLayout, k: int, t: int, length: int) -> list[int]:
    """Token labels of token t of a segment of label k."""
    if k == 0:
        return [0]
    later = min(spot.roles - 1, 1) if t > 0 else 0
    if spot.roles == 4 and t == length - 1:
        later = 2 if t > 0 else 3
    shared = [1 + (spot.labels - 1) * spot.roles + k - 1] if spot.shared else []
    return [1 + (k - 1) * spot.roles + later, *shared]


def _token_entries(
    spot: SegmentLayout, vectors: Vectors, r: int, y: int
) -> tuple[Ints, Floats]:
    """Weights and values of token row r with token label y."""
    some = slice(int(vectors.ptr[r]), int(vectors.ptr[r + 1]))
    val = vectors.val[some]
    idx = vectors.idx[some] if vectors.sparse else np.arange(len(val))
    step, jump = vectors.stride(spot.tokens)
    at = idx.astype(np.int64) * step + y * jump
    return np.append(at, spot.bias + y), np.append(val, 1.0)
