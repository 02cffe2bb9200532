"""Sets of labels, such that with a label all labels above it are in the set.

An output y is a row of k zeros and ones; in a taxonomy no label is 1 where one of its
parents is 0. Features are summed over the labels of the set,

    psi(x, y) = sum_l y_l  phi(x) (x) e_l,     <w, psi> = sum_l y_l <w_l, phi(x)>

so the best y is the best closed set of labels (`inference.label_sets`). Without a
taxonomy and with the Hamming loss, training falls into one binary SVM per label.

[1] Rousu, Saunders, Szedmak, Shawe-Taylor 2006, Kernel-based learning of hierarchical
multilabel classification models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.structure import (
    Answer,
    Augment,
    Found,
    OuterCoordinates,
    Pieces,
    Structure,
)
from maxmargin.inference.label_sets import best_sets
from maxmargin.structures.classes.structure import Multiclass, Points


@dataclass(frozen=True)
class LabelSets(Structure):
    """Which of k labels apply.

    Parameters
    ----------
    parents : tuple of tuple of int, optional
        Numbers of the labels right above each label, all smaller than its own; none by
        default.
    bias : float
        Value of a constant feature appended to x; 0 for none.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> sets = LabelSets(parents=((), (0,))).bind(X, [[1, 1], [0, 0], [1, 0]])
    >>> x = sets.encode(X)
    >>> sets.argmax(x, np.arange(3), np.array([1.0, -2.0, 0.5, 0.5])).labels.unpack()
    [[1, 1], [0, 0], [0, 0]]
    """

    parents: tuple[tuple[int, ...], ...] = ()
    bias: float = 0.0
    k: int = 0
    inputs: Multiclass = field(default_factory=Multiclass, repr=False)

    @property
    def dim(self) -> int:
        """Length of w."""
        return self.inputs.dim

    def validate(self) -> None:
        """Labels after their parents, and one weight vector for each."""
        check_types(self)
        self.inputs.validate()
        require(self.inputs.outputs is None, "labels have output features")
        if self.inputs.width:  # bound to data
            require(self.inputs.k == self.k, "a label has no weights")
            require(self.inputs.bias == self.bias, "the constant feature differs")
        require(len(self.parents) in (0, self.k), "a label lacks its parents")
        for z, above in enumerate(self.parents):
            require(all(0 <= p < z for p in above), f"label {z} is before a parent")

    def bind(self, X: Any, Y: Any) -> Self:
        """Know the number of features and labels; Y has rows of zeros and ones."""
        k = len(self.parents) or self.k or len(Y[0])
        inputs = Multiclass(bias=self.bias, k=k)
        return replace(self, k=k, inputs=inputs.bind(X, [k - 1]))

    def encode(self, X: Any) -> Points:
        """Rows of a dense or sparse matrix."""
        return self.inputs.encode(X)

    def encode_labels(self, x: Points, Y: Any) -> Ragged:
        """Rows of k zeros and ones that have what is above their labels."""
        for i, y in enumerate(Y):
            if len(y) != self.k or not set(np.asarray(y).tolist()) <= {0, 1}:
                raise ValueError(
                    f"example {i}: {y!r:.60} is not a row of {self.k} zeros and ones"
                )
            for z, above in enumerate(self.parents):
                lost = [p for p in above if y[z] and not y[p]]
                if lost:
                    raise ValueError(
                        f"example {i} has label {z}, but not label {lost[0]} above it"
                    )
        return Ragged.pack(Y)

    def decode_labels(self, x: Points, labels: Ragged) -> list[list[int]]:
        """Rows of zeros and ones."""
        return labels.unpack()

    def slice(self, x: Points, start: int, stop: int) -> Points:
        """Some neighbouring examples."""
        return self.inputs.slice(x, start, stop)

    def label_count(self) -> int:
        """Values of a label: it applies or not."""
        return 2

    def work(self, x: Points) -> Floats:
        """Products of the input with the weights of each label."""
        return self.inputs.work(x)

    def scores(self, x: Points, ids: Ints, w: Floats) -> Floats:
        """What each label adds to the score of a set, (len(ids), k)."""
        return self.inputs.class_scores(x, ids, w)

    def weights(self, w: Floats) -> Floats:
        """Weights as (features, labels)."""
        return self.inputs.weights(w)

    def features(self, x: Points, ids: Ints, labels: Ragged) -> Rows:
        """Sum of phi(x) (x) e_l over the labels of the set."""
        return self.inputs.products(x, ids, self._table(labels).astype(np.float64))

    def argmax(
        self, x: Points, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """The best set that has what is above its labels."""
        gains = self.scores(x, ids, w)
        base = np.zeros(len(ids))
        if augment is not None and augment.loss.form == "table":
            truth = self._table(augment.truth.take(ids))
            scale = (augment.weight * augment.loss.scale(augment.truth))[ids]
            cost = augment.loss.table[truth]  # (examples, labels, value)
            gains += scale[:, None] * (cost[:, :, 1] - cost[:, :, 0])
            base += scale * cost[:, :, 0].sum(axis=1)
        elif augment is not None:
            return self._unlike(gains, augment, ids)
        return _found(self._best(gains), gains, base)

    def _unlike(self, gains: Floats, augment: Augment, ids: Ints) -> Found:
        """Best of the true set and, with the weight of the loss, the best other one."""
        truth = self._table(augment.truth.take(ids)).astype(bool)
        best, score = truth.copy(), (gains * truth).sum(axis=1)
        push = 1.0 + np.abs(gains).sum(axis=1)
        for z in range(self.k):  # sets that differ from the truth at this label
            forced = gains.copy()
            forced[:, z] += np.where(truth[:, z], -2.0, 2.0) * push
            other = self._best(forced)
            value = (gains * other).sum(axis=1) + augment.weight[ids]
            better = (other != truth).any(axis=1) & (value > score)
            best[better], score[better] = other[better], value[better]
        return Found(_rows(best), score, score)

    def _best(self, gains: Floats) -> np.ndarray:
        return best_sets(gains, self.parents) if self.parents else gains > 0.0

    def outer_coordinates(self, x: Points) -> OuterCoordinates | None:
        """One coordinate for each label of each example."""
        if x.n * self.k >= 2**31:
            return None
        return OuterCoordinates(x.vectors, self.k, np.arange(x.n + 1, dtype=np.int64))

    def outer_cuts(self, x: Points, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """As `cuts`: one number for each wrong label."""
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        wrong = self._table(truth) - self._table(found.labels)
        delta = augment.loss.value(truth, found.labels)
        gain = (wrong * self.scores(x, ids, w)).sum(axis=1)
        slack = augment.weight[ids] * delta - gain
        return Answer(found.labels, self._coordinates(ids, wrong), delta, slack)

    def outer_features(self, x: Points, ids: Ints, labels: Ragged) -> Rows:
        """The labels of each set."""
        return self._coordinates(ids, self._table(labels))

    def _coordinates(self, ids: Ints, table: Labels) -> Rows:
        at, label = np.nonzero(table)
        idx = np.asarray(ids)[at] * self.k + label
        ptr = np.concatenate(([0], np.cumsum((table != 0).sum(axis=1))))
        return Rows(
            ptr.astype(np.int64), idx.astype(np.int32), table[at, label].astype(float)
        )

    def _table(self, labels: Ragged) -> Labels:
        return labels.data.reshape(labels.n, self.k)

    def explain_pieces(self, x: Points, i: int, row: Labels) -> Pieces:
        """One part for each label of the set."""
        some = np.flatnonzero(row)
        rows = np.eye(self.k)[some]
        psi = self.inputs.products(x, np.full(len(some), i), rows)
        return Pieces([f"label {z}" for z in some], psi, tuple(some.tolist()))


def _found(sets: np.ndarray, gains: Floats, base: Floats) -> Found:
    score = base + (gains * sets).sum(axis=1)
    return Found(_rows(sets), score, score)


def _rows(sets: Sequence[Any] | np.ndarray) -> Ragged:
    return Ragged.pack(np.asarray(sets).astype(np.int32))
