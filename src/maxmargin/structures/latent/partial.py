"""Outputs of which some labels are not known: they are hidden parts.

    Delta(y, y', h') = loss on the labels that were given;  h = the labels that were not

Works around any structure whose rows hold one label per position and whose inputs can
force labels (`x.forced`): inference is the structure's own, completion is inference
with the known labels forced. Hidden positions of a true row hold K + label once they
are completed, K + K before; the cost table gets rows of zeros for them.

[1] Yu 2011, Optimization Problem 5.1, with h the missing labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, Vectors
from maxmargin.core.data.validation import check_range, check_types, require
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import NOT_COMPLETED, Augment, Found, Structure
from maxmargin.structures.chain.constraints import legal_scores
from maxmargin.structures.chain.structure import Chain
from maxmargin.structures.chain.tokens.token_rows import Tokens


@dataclass(frozen=True)
class Partial(Structure):
    """A structure with `None` for labels that are not known.

    Parameters
    ----------
    inner : Structure
        One label per position, with `forced` in its inputs: `Chain`.
    """

    inner: Chain = field(default_factory=Chain)
    losses: ClassVar[tuple[LossForm, ...]] = ("table",)

    @property
    def dim(self) -> int:
        """Length of w."""
        return self.inner.dim

    def validate(self) -> None:
        """The inner structure is valid."""
        check_types(self)
        self.inner.validate()

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Bind the inner structure; unknown labels stand for the commonest one."""
        chain = self.inner
        plain = replace(chain, scheme=None, allowed=None).bind(X, filled(Y))
        legal = legal_scores(plain.labels, chain.scheme, chain.allowed)
        inner = replace(plain, scheme=chain.scheme, allowed=chain.allowed, legal=legal)
        return replace(self, inner=inner)

    def encode(self, X: Sequence[Any]) -> Tokens:
        """As the inner structure."""
        return self.inner.encode(X)

    def encode_labels(self, x: Tokens, Y: Sequence[Any]) -> Ragged:
        """Numbers; 2 K where the label is None."""
        # What stands in for unknown labels may break the mask: it is not looked at.
        rows = self._free().encode_labels(x, filled(Y, self.inner.labels[0]))
        hidden = np.array([y is None for row in Y for y in row], bool)
        data = np.where(hidden, np.int32(2 * self.label_count()), rows.data)
        return Ragged(rows.ptr, data.astype(np.int32))

    def decode_labels(self, x: Tokens, labels: Ragged) -> list[Any]:
        """Labels; None where not known, whether completed or not."""
        k = self.label_count()
        rows = self.inner.decode_labels(x, self._plain(labels))
        flags = Ragged(labels.ptr, (labels.data >= k).astype(np.int32)).unpack()
        return [
            [None if f else y for y, f in zip(row, flag, strict=True)]
            for row, flag in zip(rows, flags, strict=True)
        ]

    def features(self, x: Tokens, ids: Ints, labels: Ragged) -> Rows:
        """As the inner structure, hidden labels as completed."""
        return self.inner.features(x, ids, self._plain(labels))

    def argmax(
        self, x: Tokens, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """As the inner structure: hidden positions have a row of zeros in the table."""
        return self.inner.argmax(x, ids, w, augment)

    def complete(self, x: Tokens, ids: Ints, w: Floats, truth: Ragged) -> Ragged:
        """Inference with the known labels forced."""
        k = self.label_count()
        forced = np.where(truth.data >= k, np.int32(-1), truth.data).astype(np.int32)
        known = x._replace(forced=np.ascontiguousarray(forced))
        rows = self.inner.argmax(known, ids, w).labels
        asked = truth.take(ids)
        data = np.where(asked.data >= k, rows.data + k, rows.data)
        return Ragged(rows.ptr, data.astype(np.int32))

    def check_completed(self, x: Tokens, truth: Ragged, completed: Ragged) -> None:
        """Known labels are unchanged, hidden ones are labels."""
        k = self.label_count()
        require(np.array_equal(truth.ptr, completed.ptr), NOT_COMPLETED)
        hidden = truth.data >= k
        same = (completed.data == truth.data) | hidden
        require(same.all(), NOT_COMPLETED)
        check_range(completed.data[hidden], k, 2 * k + 1, NOT_COMPLETED)

    def known(self, x: Tokens, truth: Ragged) -> tuple[Any, Any, Ragged, Ints]:
        """Runs of known labels as sequences of their own: a start for training.

        Returns the inner structure without its mask, inputs, outputs, and the
        sequence that each run is from.
        """
        k = self.label_count()
        seen = np.flatnonzero(truth.data < k)
        owner = np.repeat(np.arange(truth.n), truth.sizes)[seen]
        starts = np.ones(len(seen), bool)
        starts[1:] = (np.diff(seen) > 1) | (np.diff(owner) > 0)
        first = np.flatnonzero(starts)
        ptr = np.append(first, len(seen)).astype(np.int64)
        edges = None if x.edges is None else _some_vectors(x.edges, seen)
        runs = x._replace(vectors=_some_vectors(x.vectors, seen), ptr=ptr, edges=edges)
        return self._free(), runs, Ragged(ptr, truth.data[seen]), owner[first]

    def _free(self) -> Any:
        return replace(self.inner, legal=np.empty(0))

    def label_count(self) -> int:
        """K."""
        return self.inner.label_count()

    def work(self, x: Tokens) -> Floats:
        """As the inner structure."""
        return self.inner.work(x)

    def feature_names(self) -> Sequence[str] | None:
        """As the inner structure."""
        return self.inner.feature_names()

    def _plain(self, labels: Ragged) -> Ragged:
        """Without the marks; what is not completed yet counts as label 0."""
        k = self.label_count()
        data: Labels = np.where(labels.data >= k, labels.data - k, labels.data)
        return Ragged(labels.ptr, np.where(data >= k, 0, data).astype(np.int32))


def _some_vectors(v: Vectors, rows: Ints) -> Vectors:
    """The vectors with these numbers."""
    if v.sparse:
        some = Rows(v.ptr, v.idx, v.val).take(rows)
        return v._replace(ptr=some.ptr, idx=some.idx, val=some.val)
    dense = np.ascontiguousarray(v.val.reshape(-1, v.width)[rows]).reshape(-1)
    return v._replace(ptr=v.ptr[: len(rows) + 1].copy(), val=dense)


def filled(Y: Sequence[Any], label: Any = None) -> list[list[Any]]:
    """Unknown labels replaced by a label, by default the commonest known one."""
    if label is None:
        counts: dict[Any, int] = {}
        for row in Y:
            for y in row:
                if y is not None:
                    counts[y] = counts.get(y, 0) + 1
        if not counts:
            raise ValueError("all labels are None: there is nothing to learn from")
        label = max(counts, key=lambda y: counts[y])
    return [[label if y is None else y for y in row] for row in Y]
