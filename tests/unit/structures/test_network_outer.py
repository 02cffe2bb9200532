"""Planes of networks in (node, label) and (edge, pair) coordinates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from cases import network, network_typed
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import NetworkSVM
from maxmargin.core.structure import Augment
from maxmargin.structures.network import (
    Graph,
    Network,
    multilabel_graphs,
    tree_edges,
)

seeds = st.integers(0, 2**32 - 1)


def written_out(parts, rows, dim):
    """Rows in outer coordinates, written out in weights from the definition."""
    out = np.zeros((rows.n, dim))
    vectors, k = parts.vectors, parts.k
    limit = len(parts.kinds.row) * k
    for q in range(rows.n):
        own = slice(rows.ptr[q], rows.ptr[q + 1])
        assert len(set(rows.idx[own].tolist())) == len(rows.idx[own])
        for c, value in zip(rows.idx[own].tolist(), rows.val[own], strict=True):
            if c < limit:
                r, label = divmod(c, k)
                t, row = parts.kinds.kind[r], parts.kinds.row[r]
                some = slice(vectors.ptr[row], vectors.ptr[row + 1])
                x = vectors.val[some]
                at = np.arange(len(x)) + label * parts.kinds.width[t]
                if vectors.sparse:
                    at = vectors.idx[some] * parts.kinds.labels[t] + label
                out[q, parts.kinds.at[t] + at] += value * x
                continue
            c -= limit
            if parts.edges is None:
                out[q, parts.base + c] += value
                continue
            e, p = divmod(c, parts.edges.pairs)
            width = parts.edges.width
            first = parts.edges.at[parts.edges.kind[e]] + p * width
            x = parts.edges.val[e * width : (e + 1) * width]
            out[q, first : first + width] += value * x
    return out


def shared_case(rng):
    """A node per label, all with the features of the example."""
    X = sp.random_array((4, 5), density=0.6, rng=rng, format="csr")
    Y = rng.integers(0, 2, (4, 3))
    Y[0], Y[1] = 0, 1
    return Network(), multilabel_graphs(X, [[0, 1], [1, 2]], 3), Y.tolist()


CASES = {
    "forests": network.tiny,
    "edge features": network_typed.tiny,
    "shared rows": shared_case,
}


@pytest.mark.parametrize("pairwise", ["full", "symmetric", "potts"])
@pytest.mark.parametrize("inference", ["auto", "lp"])
@pytest.mark.parametrize("name", CASES)
@given(seed=seeds)
@settings(max_examples=3, deadline=None)
def test_outer_planes_are_the_same_planes(name, inference, pairwise, seed):
    rng = np.random.default_rng(seed)
    _, X, Y = CASES[name](rng)
    structure = Network(inference, pairwise).bind(X, Y)
    x = structure.encode(X)
    parts = structure.outer_coordinates(x)
    assert parts is not None
    truth, ids = structure.encode_labels(x, Y), rng.permutation(x.n)
    rows = structure.outer_features(x, ids, truth.take(ids))
    plain = structure.features(x, ids, truth.take(ids)).csr(structure.dim).toarray()
    np.testing.assert_allclose(written_out(parts, rows, structure.dim), plain)
    w = 0.3 * rng.normal(size=structure.dim)
    for loss in network.LOSSES if name == "forests" else network_typed.LOSSES:
        if name == "shared rows" and loss.form != "zero-one":
            loss = network.LOSSES[0]
        augment = Augment(truth, loss.bind(structure.label_count()), np.ones(x.n))
        a = structure.cuts(x, ids, w, augment)
        b = structure.outer_cuts(x, ids, w, augment)
        np.testing.assert_array_equal(a.bound, b.bound)
        height = a.delta - a.dpsi.dot(w)
        np.testing.assert_allclose(height, a.bound, atol=1e-7)
        made = written_out(parts, b.dpsi, structure.dim)
        dense = a.dpsi.csr(structure.dim).toarray()
        np.testing.assert_allclose(made, dense, atol=1e-12)


def test_large_graphs_with_few_features_keep_planes_in_weights():
    """Their planes touch every weight, which are fewer than nodes."""
    rng = np.random.default_rng(0)
    edges = np.c_[np.arange(99), np.arange(1, 100)]
    X, Y = [(rng.normal(size=(100, 3)), edges)], [rng.integers(0, 2, 100)]
    network = Network().bind(X, Y)
    assert network.outer_coordinates(network.encode(X)) is None


@pytest.mark.parametrize("sparse", [True, False])
def test_shared_features_are_held_once(sparse):
    """A row shared by all nodes is one vector, and training is as with copies."""
    rng = np.random.default_rng(3)
    dense = (rng.random((30, 6)) < 0.3) * rng.normal(size=(30, 6))
    Y = (dense @ rng.normal(size=(6, 4)) > 0).astype(int)
    edges = tree_edges(Y)
    once = multilabel_graphs(sp.csr_array(dense) if sparse else dense, edges, 4)
    copies = [
        Graph(np.tile(row, (4, 1)), edges, None, np.arange(4), np.arange(3))
        for row in dense
    ]
    x = Network().bind(once, Y).encode(once)
    assert len(x.ptr) == 31
    assert x.row.tolist() == np.repeat(np.arange(30), 4).tolist()
    one = NetworkSVM(tol=1e-4).fit(once, Y)
    other = NetworkSVM(tol=1e-4).fit(copies, Y)
    assert one.result_.gap <= 1e-4
    np.testing.assert_allclose(one.result_.primal, other.result_.primal, rtol=2e-4)
    for i in range(4):
        np.testing.assert_array_equal(one.predict(once)[i], one.predict(copies)[i])
