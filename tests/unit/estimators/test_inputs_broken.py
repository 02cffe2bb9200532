"""Inputs that would lead compiled loops out of their arrays are refused."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import (
    ChainSVM,
    CoreferenceSVM,
    KernelSVM,
    MulticlassSVM,
    NetworkSVM,
    StructuralSVM,
)
from maxmargin.core import Sequences
from maxmargin.structures.clusters import PairFeatures


def broken(kind, rows=6, columns=4, form="csr"):
    """A matrix that scipy takes, with one index or pointer wrong."""
    dense = np.arange(1.0, 1.0 + rows * columns).reshape(rows, columns) % 5
    matrix = sp.csr_array(dense).asformat(form)
    if kind == "index":
        matrix.indices[3] = 10**6
    elif kind == "negative":
        matrix.indices[3] = -10
    elif kind == "pointer":
        matrix.indptr[2] = 10**6
    elif kind == "falling":
        matrix.indptr[2] = matrix.indptr[3] + 1
    return matrix


KINDS = ["index", "negative", "pointer", "falling"]
LABELS = [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("made", [MulticlassSVM, KernelSVM])
def test_classes(kind, form, made):
    with pytest.raises(ValueError, match="broken sparse matrix"):
        made().fit(broken(kind, form=form), LABELS)
    good = np.eye(6, 4) + 0.1
    model = made().fit(sp.csr_array(good), LABELS)
    with pytest.raises(ValueError, match="broken sparse matrix"):
        model.predict(broken(kind, form=form))


@pytest.mark.parametrize("kind", KINDS)
def test_sequences(kind):
    with pytest.raises(ValueError, match="sequence 1 is a broken sparse matrix"):
        ChainSVM().fit([sp.csr_array(np.eye(2, 4)), broken(kind)], [[0, 1], LABELS])
    flat = Sequences(broken(kind), [0, 2, 6])
    with pytest.raises(ValueError, match="broken sparse matrix"):
        ChainSVM().fit(flat, [LABELS[:2], LABELS[2:]])


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_and_pairs(kind):
    with pytest.raises(ValueError, match="broken sparse matrix"):
        NetworkSVM().fit([(broken(kind), [[0, 1]])], [LABELS])
    with pytest.raises(ValueError, match="document 0 is a broken sparse matrix"):
        CoreferenceSVM().fit([PairFeatures(4, broken(kind))], [[0, 0, 1, 1]])


class Own:
    """Two classes; what it returns for another than the first is wrong on purpose."""

    def __init__(self, longer=0, loss=1.0):
        self.longer, self.cost = longer, loss

    def joint_feature(self, x, y):
        size = 2 + (self.longer if y else 0)
        return np.concatenate((x * (2 * y - 1), np.ones(size)))[:size]

    def loss(self, truth, y):
        return self.cost * (truth != y)

    def argmax(self, w, x, truth=None):
        return 1 if truth is None else 1 - truth


class Right(Own):
    """The same with an argmax that is right, which never meets a negative loss."""

    def argmax(self, w, x, truth=None):
        def score(y):
            gain = 0.0 if truth is None else self.loss(truth, y)
            return w @ self.joint_feature(x, y) + gain

        return max((0, 1), key=score)


def test_own_features_of_another_length_are_refused():
    """They used to be multiplied with what lies behind w."""
    X, y = [np.array([1.0, 2.0]), np.array([0.5, 1.0])], [0, 0]
    with pytest.raises(ValueError, match="has length 1002"):
        StructuralSVM(Own(longer=1000)).fit(X, y)
    model = StructuralSVM(Right()).fit(X, y)
    model.structure_ = replace(model.structure_, owner=Own(longer=1000))
    with pytest.raises(ValueError, match="has length 1002"):
        model.predict(X)


@pytest.mark.parametrize("cost", [-1.0, np.nan, np.inf])
def test_own_losses_that_are_negative_are_refused(cost):
    """They used to end in "converged, primal 0, exact"."""
    X, y = [np.array([1.0, 2.0]), np.array([0.5, 1.0])], [0, 0]
    with pytest.raises(ValueError, match=r"must be finite and >= 0|not zero"):
        StructuralSVM(Own(loss=cost)).fit(X, y)


class RightWithHiddenParts(Right):
    def complete(self, w, x, y):
        return y


@pytest.mark.parametrize("made", [Right, RightWithHiddenParts])
def test_negative_losses_are_refused_where_argmax_is_right(made):
    """The truth would be the best output for ever: "converged, primal 0, exact"."""
    X, y = [np.array([1.0, 2.0]), np.array([0.5, 1.0])], [0, 0]
    with pytest.raises(ValueError, match=r"the loss of an output is -1.0"):
        StructuralSVM(made(loss=-1.0)).fit(X, y)
    assert list(StructuralSVM(made()).fit(X, y).predict(X)) == y


def test_a_sparse_psi_that_is_broken_is_refused():
    class Sparse(Own):
        def joint_feature(self, x, y):
            out = sp.csr_array(np.ones((1, 2)))
            out.indices[0] = 10**6
            return out

    with pytest.raises(ValueError, match="broken sparse matrix"):
        StructuralSVM(Sparse()).fit([np.ones(2)], [0])
