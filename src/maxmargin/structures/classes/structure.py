"""Multiclass classification with output features.

An output y is one of k classes, and

    psi(x, y) = phi(x) (x) Lambda(y),      <w, psi> = <phi(x), W Lambda(y)>

with Lambda(y) the unit vector of y (one weight vector per class), or output features:
the ancestors of y in a taxonomy, words that describe it, or any features whose inner
products are given class similarities. The best y is found by trying all.

[1] Tsochantaridis et al. 2005, sections 4.1 and 4.2, Propositions 21-24.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Rows,
    Vectors,
    fill_scores,
)
from maxmargin.core.data.validation import (
    FeatureMap,
    check_finite,
    check_sparse,
    check_types,
    require,
)
from maxmargin.core.jit import loop
from maxmargin.core.structure import (
    Answer,
    Augment,
    Found,
    Layers,
    OuterProductFeatures,
    Pieces,
    Structure,
)

SPARSE_BELOW = 0.3  # share of non-zeros under which dense input is kept sparse


class Points(NamedTuple):
    """Encoded inputs: one vector per example."""

    vectors: Vectors

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.vectors.n


@dataclass(frozen=True)
class Multiclass(Structure):
    """One of k classes.

    Parameters
    ----------
    outputs : array (k, z), optional
        Lambda(y) of each class; the identity if absent.
    bias : float
        Value of a constant feature appended to x; 0 for none.
    """

    outputs: Floats | None = None
    bias: float = 0.0
    k: int = 0
    width: int = 0
    sparse: bool = False
    phi: FeatureMap | None = field(default=None, repr=False, compare=False)

    @property
    def z(self) -> int:
        """Number of output features."""
        return self.k if self.outputs is None else int(np.shape(self.outputs)[1])

    @property
    def dim(self) -> int:
        """Length of w."""
        return self.width * self.z

    def validate(self) -> None:
        """Output features for k classes, and a map that fits the width."""
        check_types(self)
        require(np.isfinite(self.bias), "the constant feature is not finite")
        require(0 <= self.k < 2**31 and 0 <= self.width < 2**31, "a size is negative")
        if self.outputs is not None:
            require(self.outputs.ndim == 2, "output features are not a matrix")
            check_finite(self.outputs, "output features")
            require(self.k in (0, len(self.outputs)), "classes lack output features")
        if self.phi is not None:
            width = self.phi.width + (self.bias != 0.0)
            require(self.width == width, f"the map has {self.phi.width} features")
            require(self.sparse == self.phi.sparse, "the map has another layout")

    def bind(self, X: Any, Y: Any) -> Self:
        """Know the number of features and classes; Y are integers 0 .. k - 1."""
        k = int(np.max(Y)) + 1 if self.outputs is None else len(self.outputs)
        if int(np.max(Y)) >= k:
            raise ValueError(f"class {int(np.max(Y))} has no output features")
        if sp.issparse(X):
            sparse = True
        else:
            sparse = bool(np.count_nonzero(X) < SPARSE_BELOW * np.size(X))
        width = X.shape[1] + (self.bias != 0.0)
        return replace(self, k=max(k, self.k), width=width, sparse=sparse)

    def encode(self, X: Any) -> Points:
        """Rows of a dense or sparse matrix, through the map if there is one."""
        if sp.issparse(X):
            check_sparse(X, "X")
        if self.phi is not None:
            X = self.phi(X)
        if self.bias != 0.0:
            X = _with_constant(X, self.bias)
        if X.shape[1] != self.width:
            extra = int(self.bias != 0.0)
            raise ValueError(
                f"X has {X.shape[1] - extra} features, but there were "
                f"{self.width - extra} when the structure was bound"
            )
        return Points(Vectors.of(X, self.sparse))

    def encode_labels(self, x: Points, Y: Any) -> Ragged:
        """Classes 0 .. k - 1, one number per row."""
        labels = np.asarray(Y)
        bad = np.flatnonzero((labels < 0) | (labels >= self.k))
        if len(bad):
            raise ValueError(
                f"example {bad[0]}: class {labels[bad[0]]} is not one of 0 .. "
                f"{self.k - 1}"
            )
        return Ragged.single(labels)

    def decode_labels(self, x: Points, labels: Ragged) -> list[int]:
        """Classes as integers."""
        return labels.data.tolist()

    def slice(self, x: Points, start: int, stop: int) -> Points:
        """Some neighbouring examples; their entries are views."""
        return Points(x.vectors.slice(start, stop))

    def label_count(self) -> int:
        """Number of classes."""
        return self.k

    def weights(self, w: Floats) -> Floats:
        """W as (features, output features)."""
        if self.sparse:
            return w.reshape(self.width, self.z)
        return w.reshape(self.z, self.width).T

    def scores(self, x: Points, w: Floats) -> Floats:
        """<w, psi(x_i, y)> of all classes, (n, k)."""
        return self.class_scores(x, np.arange(x.n), w)

    def class_scores(self, x: Points, ids: Ints, w: Floats) -> Floats:
        """<w, psi(x_i, y)> of all classes for some examples, (len(ids), k)."""
        return _scores(*x.vectors, ids, w, self.lambdas(), self.outputs is None)

    def products(self, x: Points, ids: Ints, rows: Floats) -> Rows:
        """phi(x) (x) row for each example and its row (z,) of factors."""
        return Rows(*_features(*x.vectors, ids, rows, *x.vectors.stride(self.z)))

    def mapped(self, phi: Any) -> Self:
        """The same classes over phi(x) in place of x."""
        width = phi.width + (self.bias != 0.0)
        return replace(self, phi=phi, width=width, sparse=phi.sparse)

    def input_matrix(self, x: Points) -> Any:
        """Inputs without their constant."""
        return x.vectors.matrix()[:, : self.width - (self.bias != 0.0)]

    def with_inputs(self, x: Points, matrix: Any) -> Points:
        """The same examples with other inputs."""
        if self.bias != 0.0:
            matrix = _with_constant(matrix, self.bias)
        return Points(Vectors.of(matrix, sp.issparse(matrix)))

    def split_weights(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights of the inputs (features, z), and those of the constant."""
        weights = self.weights(w)
        if self.bias == 0.0:
            return weights, np.empty(0)
        return weights[:-1], weights[-1]

    def join_weights(self, inputs: Floats, rest: Floats) -> Floats:
        """Undo `split_weights`."""
        weights = inputs if self.bias == 0.0 else np.vstack((inputs, rest))
        return np.ascontiguousarray(weights if self.sparse else weights.T).ravel()

    def lambdas(self) -> Floats:
        """Lambda(y), (k, z)."""
        if self.outputs is None:
            return np.eye(self.k)
        return np.ascontiguousarray(self.outputs, dtype=np.float64)

    def outer_product(self, x: Points) -> OuterProductFeatures:
        """All outputs at once."""
        return OuterProductFeatures(x.vectors, self.lambdas())

    def features(self, x: Points, ids: Ints, labels: Ragged) -> Rows:
        """phi(x) (x) Lambda(y)."""
        return self.products(x, ids, self.lambdas()[labels.data])

    def argmax(
        self, x: Points, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Try all classes."""
        table = self.class_scores(x, ids, w)
        if augment is not None:
            truth = augment.truth.take(ids)
            weight = (augment.weight * augment.loss.scale(augment.truth))[ids]
            table += weight[:, None] * augment.loss.table[truth.data]
        best = table.argmax(axis=1)
        top = table[np.arange(len(ids)), best]
        return Found(Ragged.single(best), top, top)

    def cuts(self, x: Points, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Difference vectors phi(x) (x) (Lambda(truth) - Lambda(y)) directly."""
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        lambdas = self.lambdas()
        dpsi = self.products(x, ids, lambdas[truth.data] - lambdas[found.labels.data])
        delta = augment.loss.value(truth, found.labels)
        slack = augment.weight[ids] * delta - dpsi.dot(w)
        return Answer(found.labels, dpsi, delta, slack)

    def argmax_by_loss(
        self, x: Points, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """Every class is the best of its own layer."""
        table = self.class_scores(x, ids, w)
        truth = augment.truth.take(ids)
        scale = augment.loss.scale(augment.truth)[ids]
        loss = scale[:, None] * augment.loss.table[truth.data]
        ptr = np.arange(len(ids) + 1, dtype=np.int64) * self.k
        labels = Ragged.single(np.tile(np.arange(self.k), len(ids)))
        return Layers(ptr, labels, table.ravel(), loss.ravel())

    def nbest(
        self,
        x: Points,
        ids: Ints,
        w: Floats,
        k: int,
        augment: Augment | None = None,
    ) -> Layers:
        """The k best classes; with `augment` by score plus loss."""
        table = self.class_scores(x, ids, w)
        loss = np.zeros_like(table)
        rank = table
        if augment is not None:
            truth = augment.truth.take(ids)
            scale = augment.loss.scale(augment.truth)[ids]
            loss = scale[:, None] * augment.loss.table[truth.data]
            rank = table + augment.weight[ids][:, None] * loss
        k = min(k, self.k)
        best = np.argsort(-rank, axis=1, kind="stable")[:, :k]
        ptr = np.arange(len(ids) + 1, dtype=np.int64) * k
        rows = np.arange(len(ids))[:, None]
        return Layers(
            ptr, Ragged.single(best.ravel()), table[rows, best].ravel(),
            loss[rows, best].ravel(),
        )  # fmt: skip

    def explain_pieces(self, x: Points, i: int, row: Labels) -> Pieces:
        """One part for each output feature of the class."""
        own = self.lambdas()[int(row[0])]
        some = np.flatnonzero(own)
        rows = np.zeros((len(some), self.z))
        rows[np.arange(len(some)), some] = own[some]
        psi = self.products(x, np.full(len(some), i), rows)
        names = [f"output feature {z}" for z in some]
        return Pieces(names, psi, tuple(some.tolist()))

    def work(self, x: Points) -> Floats:
        """Products of the input with the weights of each output feature."""
        return np.diff(x.vectors.ptr) * float(self.z)


def _with_constant(X: Any, value: float) -> Any:
    column = np.full((X.shape[0], 1), value)
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(column)], format="csr")
    return np.hstack([np.asarray(X, dtype=np.float64), column])


@loop
def _scores(ptr, idx, val, width, ids, w, lambdas, plain):
    """Scores (len(ids), k) of all classes."""
    k, z = lambdas.shape
    out = np.zeros((len(ids), k))
    row = np.empty(z)
    for q in range(len(ids)):
        if plain:
            fill_scores(ptr, idx, val, width, ids[q], w, z, out[q])
        else:
            fill_scores(ptr, idx, val, width, ids[q], w, z, row)
            for y in range(k):
                s = 0.0
                for j in range(z):
                    s += row[j] * lambdas[y, j]
                out[q, y] = s
    return out


@loop
def _features(ptr, idx, val, width, ids, rows, per_feature, per_label):
    """Rows of phi(x) (x) rows[q]."""
    size = 0
    out_ptr = np.zeros(len(ids) + 1, np.int64)
    for q in range(len(ids)):
        active = 0
        for j in range(rows.shape[1]):
            if rows[q, j] != 0.0:
                active += 1
        size += active * (ptr[ids[q] + 1] - ptr[ids[q]])
        out_ptr[q + 1] = size
    out_idx, out_val = np.empty(size, np.int32), np.empty(size)
    m = 0
    for q in range(len(ids)):
        a, b = ptr[ids[q]], ptr[ids[q] + 1]
        for j in range(rows.shape[1]):
            c = rows[q, j]
            if c != 0.0:
                for p in range(a, b):
                    f = idx[p] if len(idx) > 0 else p - a
                    out_idx[m] = f * per_feature + j * per_label
                    out_val[m] = c * val[p]
                    m += 1
    return out_ptr, out_idx, out_val
