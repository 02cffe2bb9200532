"""Kernels on the features of edges, in the factored dual."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import network_typed
from contracts.dense import make, optimum

import maxmargin
from maxmargin import NetworkSVM
from maxmargin.core import Problem
from maxmargin.kernels import Polynomial
from maxmargin.solvers import Smo
from maxmargin.structures.network import Graph, KernelNetwork
from maxmargin.structures.network import kernel_structure as kernel_network

SQUARE = Polynomial(2, 1.0, 0.0)


def edge_data(seed, n=8, edges=((0, 1), (2, 1), (1, 3)), k=2):
    """The first node tells its label; edges tell whether their ends are equal."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        labels = rng.integers(0, k, 4)
        extra = rng.normal(size=(len(edges), 2))
        for e, (u, v) in enumerate(edges):  # a circle: not to be cut by a line
            extra[e] *= (0.3 if labels[u] == labels[v] else 2.0) / np.linalg.norm(
                extra[e]
            )
        nodes = np.zeros((4, 2))
        nodes[0] = 1.0, 2.0 * labels[0] - 1.0
        X.append(Graph(nodes, np.array(edges), extra))
        Y.append(labels.tolist())
    return X, Y


def fitted(X, Y, **options):
    options = {"C": 1.0, "solver": "smo", "tol": 1e-5, "max_iter": 20_000, **options}
    return NetworkSVM(**options).fit(X, Y)


def squared(graph):
    """Edge features mapped as the quadratic kernel does."""
    if graph.edge_features is None or len(graph.edge_features) == 0:
        return graph
    extra = [np.outer(v, v).ravel() for v in np.asarray(graph.edge_features)]
    return graph._replace(edge_features=np.array(extra))


@pytest.mark.parametrize("pairwise", ["full", "symmetric", "potts"])
def test_linear_edge_kernel_is_the_network_without_one(pairwise):
    X, Y = edge_data(0)
    plain = fitted(X, Y, pairwise=pairwise)
    kernel = fitted(X, Y, pairwise=pairwise, edge_kernel="linear")
    assert kernel.result_.dual == pytest.approx(plain.result_.dual, rel=1e-4)
    new = edge_data(1)[0]
    for a, b in zip(plain.predict(new), kernel.predict(new), strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_it_reaches_the_dense_dual_of_its_feature_map(seed):
    """Typed nodes and edges, cycles; the dense QP has all labellings."""
    mapped = SimpleNamespace(
        tiny=_mapped_tiny,
        outputs=network_typed.outputs,
        LOSSES=network_typed.LOSSES,
    )
    problem, dense = make(mapped, seed, "SVM1-margin", loss=0)
    value, _ = optimum(dense)
    _, X, Y = network_typed.tiny(np.random.default_rng(seed))
    network = KernelNetwork(
        inference="junction", bias=False, kernel=Polynomial(1, 1.0, 0.0),
        edge_kernel=SQUARE,
    ).bind(X, Y)  # fmt: skip
    x = network.encode(X)
    own = Problem(
        network, problem.loss, problem.formulation, network.with_gram(x),
        network.encode_labels(x, Y), problem.C,
    )  # fmt: skip
    result, _ = Smo(tol=1e-6, max_iter=5000).solve(own)
    assert result.dual == pytest.approx(value, rel=1e-6)
    assert result.primal == pytest.approx(value, rel=1e-5)


def _mapped_tiny(rng):
    network, X, Y = network_typed.tiny(rng)
    return replace(network, bias=False), [squared(g) for g in X], Y


def test_a_kernel_on_edges_learns_what_weights_cannot():
    X, Y = edge_data(2, n=40)
    new, true = edge_data(3, n=40)
    plain = fitted(X, Y, tol=1e-2)
    kernel = fitted(X, Y, tol=1e-2, edge_kernel="rbf")
    assert kernel.score(new, true) > plain.score(new, true) + 0.1
    assert kernel.score(new, true) > 0.9
    assert kernel.certificate_ == "exact"


def test_scores_of_training_edges_are_kept_up_to_date():
    X, Y = edge_data(0)
    model = fitted(X, Y, kernel="quadratic", edge_kernel="rbf", tol=1e-3)
    structure = model.structure_
    ids = np.arange(len(X))
    fresh = structure.encode(X)
    kept = structure.tables(structure.with_gram(fresh), ids, model.coef_)
    made = structure.tables(fresh, ids, model.coef_)
    np.testing.assert_allclose(kept.unary, made.unary, atol=1e-9)
    np.testing.assert_allclose(kept.pairwise, made.pairwise, atol=1e-9)
    assert len(structure.feature_names()) == structure.dim == len(model.coef_)


def test_explained_parts_add_up_to_the_score():
    X, Y = edge_data(0)
    model = fitted(X, Y, edge_kernel="rbf", tol=1e-3)
    structure, x = model.structure_, model.structure_.encode(X)
    one, truth = np.array([1]), structure.encode_labels(x, Y)
    pieces = structure.explain_pieces(x, 1, truth.row(1))
    tables = structure.tables(x, one, model.coef_)
    local = structure.local_labels(x, one, truth.take(one))
    assert len(pieces.names) == 4 + 3
    assert pieces.psi.dot(model.coef_).sum() == pytest.approx(tables.score(local)[0])


def test_a_saved_model_predicts_the_same(tmp_path):
    X, Y = edge_data(0)
    model = fitted(X, Y, edge_kernel="rbf", tol=1e-2)
    maxmargin.save(model, tmp_path / "edges.mm")
    again = maxmargin.load(tmp_path / "edges.mm")
    for a, b in zip(model.predict(X), again.predict(X), strict=True):
        assert a.tolist() == b.tolist()


def test_what_edge_kernels_need(monkeypatch):
    X, Y = edge_data(0)
    bare = [g._replace(edge_features=None) for g in X]
    with pytest.raises(ValueError, match="compares edges by their features, but"):
        NetworkSVM(edge_kernel="rbf").fit(bare, Y)
    with pytest.raises(ValueError, match="edge_kernel needs kernel_method='exact'"):
        NetworkSVM(edge_kernel="rbf", kernel_method="cpsp").fit(X, Y)
    with pytest.raises(ValueError, match="BlockDual needs Joint features"):
        NetworkSVM(edge_kernel="rbf", solver="block-dual").fit(X, Y)
    monkeypatch.setattr(kernel_network, "MEMORY", 8.0 * 32**2 + 1000.0)
    with pytest.raises(MemoryError, match="Gram matrix of 24 edges needs"):
        NetworkSVM(edge_kernel="rbf").fit(X, Y)


def test_a_graph_too_large_for_a_kernel_is_refused_at_once():
    n = 100_000
    edges = np.c_[np.arange(n - 1), np.arange(1, n)]
    graph = Graph(np.ones((n, 1)), edges, np.ones((n - 1, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MemoryError, match=r"100000 nodes needs 80\.0 GB"):
            NetworkSVM(edge_kernel="rbf").fit([graph], [np.arange(n) % 2])
