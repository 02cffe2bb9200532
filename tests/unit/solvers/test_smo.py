"""The factored dual: Theorem 4.1, relaxation, triangulation, kernels."""

import warnings

import networkx
import numpy as np
import pytest
from cases import network, network_cliques, network_typed
from contracts.dense import make, optimum
from small.graphs import RING, ring_data

from maxmargin import ChainSVM, NetworkSVM
from maxmargin.core import CompiledAscent
from maxmargin.inference.graph import GraphTables, best_in_forest
from maxmargin.inference.marginals import connected
from maxmargin.kernels import Linear, Polynomial, Rbf, named_kernel
from maxmargin.solvers import Smo
from maxmargin.structures.network import Graph
from maxmargin.structures.network import kernel_structure as kernel_network


def dual_of(X, Y, inference, tol=1e-5, C=1.0, **options):
    model = NetworkSVM(C, inference=inference, solver="smo", tol=tol, **options)
    return model.set_params(max_iter=20_000).fit(X, Y)


@pytest.mark.parametrize(
    "case", [network, network_typed, network_cliques],
    ids=["forest", "triangulated", "cliques"],
)  # fmt: skip
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_factored_dual_equals_the_exponential_one(case, seed):
    """Theorem 4.1 on forests; with clique marginals also on triangulated graphs."""
    problem, dense = make(case, seed, "SVM1-margin", loss=seed % 2)
    result, state = Smo(tol=1e-6, max_iter=5000).solve(problem)
    value, w = optimum(dense)
    assert result.dual == pytest.approx(value, rel=1e-6)
    assert result.primal == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(result.w, w, atol=1e-3)
    check_marginals(problem, state.point)


def check_marginals(problem, point):
    """Nodes sum to C, edges agree with their nodes, w is what the marginals say."""
    ids = np.arange(problem.n)
    t = problem.structure.tables(problem.x, ids, np.zeros(problem.dim))
    node = np.add.reduceat(point.node, t.label_ptr[:-1])
    np.testing.assert_allclose(node, problem.C[t.graph_of_node()])
    k = t.n_labels
    for e, (u, v) in enumerate(t.edges):
        mu = point.edge[point.edge_ptr[e] : point.edge_ptr[e + 1]].reshape(k[u], k[v])
        own = [point.node[t.label_ptr[q] : t.label_ptr[q + 1]] for q in (u, v)]
        np.testing.assert_allclose(mu.sum(axis=1), own[0], atol=1e-9)
        np.testing.assert_allclose(mu.sum(axis=0), own[1], atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_marginals_of_cliques_agree_and_tell_the_weights(seed):
    """w = sum C psi(truth) - E psi, where cliques of psi have the marginals of the point."""
    problem, _ = make(network_cliques, seed, "SVM1-margin", loss=0)
    result, state = Smo(tol=1e-6, max_iter=5000).solve(problem)
    structure, point, ids = problem.structure, state.point, np.arange(problem.n)
    tables = structure.tables(problem.x, ids, np.zeros(problem.dim))
    orders = problem.x.plan.orders()
    factors = structure.factors(problem.x, ids, np.zeros(problem.dim))
    kind, layout = problem.x.cliques.kind, structure.cliques
    k, expected = tables.n_labels, np.zeros(problem.dim)
    for c in range(factors.size):
        scope = factors.scope(c).tolist()
        expected += clique_features(structure, layout, kind[c], scope, k, orders, point)
    truth = structure.features(problem.x, ids, problem.truth)
    right = truth.total(problem.dim, problem.C)
    first = structure.dim - layout.size
    np.testing.assert_allclose((right - expected)[first:], result.w[first:], atol=1e-9)
    assert result.converged


def clique_features(structure, layout, kind, scope, k, orders, point):
    """Expected features of one clique, by the marginals of a clique that contains it."""
    out = np.zeros(structure.dim)
    for q, v in enumerate(orders.order.tolist()):
        nodes = [*orders.scope[orders.scope_ptr[q] : orders.scope_ptr[q + 1]], v]
        if not set(scope) <= set(nodes):
            continue
        mu = point.clique[point.clique_ptr[q] : point.clique_ptr[q + 1]].reshape(
            k[nodes]
        )
        axes = tuple(a for a, u in enumerate(nodes) if u not in scope)
        left = [u for u in nodes if u in scope]
        own = mu.sum(axis=axes).transpose([left.index(u) for u in scope]).ravel()
        for u, total in zip(nodes, range(len(nodes)), strict=True):
            rest = tuple(a for a in range(len(nodes)) if a != total)
            node = point.node[point.label_ptr[u] : point.label_ptr[u + 1]]
            np.testing.assert_allclose(mu.sum(axis=rest), node, atol=1e-9)
        weight = layout.map[layout.map_ptr[kind] : layout.map_ptr[kind + 1]]
        at = structure.dim - layout.size + layout.at[kind] + weight
        np.add.at(out, at[weight >= 0], own[weight >= 0])
        return out
    raise AssertionError(f"no clique of the junction tree contains {scope}")


@pytest.mark.parametrize("order", [2, 3])
def test_a_chain_of_higher_order_is_a_network_with_cliques(order):
    """The factored dual of cliques (t, .., t + order) is that of the chain."""
    rng = np.random.default_rng(order)
    X = [rng.normal(size=(length, 3)) for length in rng.integers(1, 7, 12)]
    Y = [rng.integers(2, size=len(x)).tolist() for x in X]
    chain = ChainSVM(0.5, order=order, start_end=False, tol=1e-7).fit(X, Y).result_
    graphs = [chain_graph(x, order) for x in X]
    found = dual_of(graphs, Y, "auto", tol=1e-6, C=0.5).result_
    assert found.converged
    assert found.dual == pytest.approx(chain.dual, rel=1e-5)


def chain_graph(x, order):
    """Neighbours as edges, and as cliques of 3 to order + 1 nodes."""
    n = len(x)
    cliques = [
        list(range(t, t + size))
        for size in range(3, order + 2)
        for t in range(n - size + 1)
    ]
    return Graph(x, [[t, t + 1] for t in range(n - 1)], cliques=cliques or None)


def test_generic_steps_and_compiled_ascent_reach_the_same_optimum():
    X, Y = ring_data(np.random.default_rng(1), edges=[[0, 1], [2, 1]])
    fast = dual_of(X, Y, "auto")
    assert fast.structure_.offers(CompiledAscent) is not None
    X = [g._replace(edge_features=np.ones((2, 1))) for g in X]
    # one constant feature and no bias on edges: the same model, but not compiled
    slow = dual_of(X, Y, "auto", bias=False)
    plain = dual_of([g._replace(edge_features=None) for g in X], Y, "auto", bias=False)
    assert slow.structure_.offers(CompiledAscent) is None
    assert slow.result_.dual == pytest.approx(plain.result_.dual, rel=1e-4)


def frustrated(rng):
    """Rings on which the relaxed optimum is fractional."""
    X = [Graph(rng.normal(size=(3, 2)), RING) for _ in range(4)]
    return X, [rng.permutation([0, 1, q % 2]).tolist() for q in range(4)]


def test_relaxed_dual_is_above_and_triangulation_closes_it():
    X, Y = frustrated(np.random.default_rng(0))
    relaxed = dual_of(X, Y, "lp", tol=1.5e-3, C=10.0).result_
    exact = dual_of(X, Y, "junction", tol=1e-4, C=10.0).result_
    reference = NetworkSVM(10.0, inference="junction", tol=1e-5).fit(X, Y).result_
    over = NetworkSVM(10.0, inference="lp", tol=1e-4).fit(X, Y).result_
    assert exact.dual == pytest.approx(reference.dual, rel=2e-4)
    assert relaxed.dual == pytest.approx(over.dual, rel=2e-3)
    assert relaxed.dual > exact.dual * 1.001
    assert (relaxed.certificate, exact.certificate) == ("relaxed", "exact")


def test_bounded_inference_never_overstates_the_dual():
    X, Y = ring_data(np.random.default_rng(3), k=3)
    exact = dual_of(X, Y, "junction").result_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = NetworkSVM(
            1.0, inference="trws", solver="smo", max_iter=50, tol=1e-6
        ).fit(X, Y)
    assert found.result_.dual <= exact.primal * (1 + 1e-9)
    assert found.result_.primal >= exact.dual * (1 - 1e-9)


def test_linear_kernel_is_the_network_without_one():
    X, Y = ring_data(np.random.default_rng(1), edges=[[0, 1], [2, 1]])
    plain, kernel = dual_of(X, Y, "auto"), dual_of(X, Y, "auto", kernel="linear")
    assert kernel.result_.dual == pytest.approx(plain.result_.dual, rel=1e-4)
    for a, b in zip(plain.predict(X), kernel.predict(X), strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("edges", [[[0, 1], [2, 1]], RING], ids=["forest", "ring"])
def test_quadratic_kernel_is_its_feature_map(edges):
    X, Y = ring_data(np.random.default_rng(1), edges=edges)
    mapped = [
        g._replace(nodes=np.array([np.outer(v, v).ravel() for v in g.nodes])) for g in X
    ]
    method = "auto" if edges != RING else "junction"
    plain = dual_of(mapped, Y, method, bias=False, tol=1e-5)
    kernel = dual_of(X, Y, method, bias=False, kernel=Polynomial(2, 1.0, 0.0), tol=1e-5)
    assert kernel.result_.dual == pytest.approx(plain.result_.dual, rel=1e-4)
    new = ring_data(np.random.default_rng(9), edges=edges)[0]
    new_mapped = [
        g._replace(nodes=np.array([np.outer(v, v).ravel() for v in g.nodes]))
        for g in new
    ]
    found = [y.tolist() for y in kernel.predict(new)]
    same = [y.tolist() == z for y, z in zip(plain.predict(new_mapped), found)]
    assert np.mean(same) > 0.8


def test_kernel_needs_memory_and_smo(monkeypatch):
    X, Y = ring_data(np.random.default_rng(1))
    with pytest.raises(ValueError, match="BlockDual needs Joint features"):
        NetworkSVM(kernel="rbf", solver="block-dual").fit(X, Y)
    monkeypatch.setattr(kernel_network, "MEMORY", 1000.0)
    with pytest.raises(MemoryError, match="Gram matrix of 36 nodes needs"):
        NetworkSVM(kernel="rbf").fit(X, Y)


def test_kernels_by_name():
    X = np.random.default_rng(0).normal(size=(5, 3))
    size = (X**2).sum(axis=1).mean()
    assert named_kernel("linear", X) == Linear()
    assert named_kernel("cubic", X) == Polynomial(3, 1.0 / size)
    rbf = named_kernel("rbf", X)
    assert rbf == Rbf(1.0 / size)
    np.testing.assert_allclose(np.diag(rbf(X, X)), 1.0)
    np.testing.assert_allclose(Polynomial(3, 0.5, 2.0)(X, X), (0.5 * X @ X.T + 2) ** 3)
    with pytest.raises(ValueError, match="kernel='odd' is not known"):
        named_kernel("odd")


def test_smo_says_what_it_needs():
    X, Y = ring_data(np.random.default_rng(1), edges=[[0, 1]])
    with pytest.raises(ValueError, match="needs rescaling='margin' and a loss that"):
        NetworkSVM(solver="smo", loss="zero-one").fit(X, Y)
    with pytest.raises(ValueError, match="cannot train penalty='squared'"):
        NetworkSVM(solver="smo", penalty="squared").fit(X, Y)


def test_warm_start_goes_on_from_the_marginals():
    X, Y = ring_data(np.random.default_rng(1), edges=[[0, 1], [2, 1]])
    model = NetworkSVM(1.0, solver="smo", tol=1e-5, warm_start=True, max_iter=5000)
    first = model.fit(X, Y).result_
    again = model.fit(X, Y).result_
    assert again.iterations == 1
    assert again.dual == pytest.approx(first.dual, rel=1e-9)
    model.set_params(C=2.0).fit(X, Y)
    cold = NetworkSVM(2.0, solver="smo", tol=1e-5, max_iter=5000).fit(X, Y)
    assert model.result_.dual == pytest.approx(cold.result_.dual, rel=1e-4)


def test_a_long_chain_needs_no_quadratic_memory():
    rng = np.random.default_rng(0)
    n = 20_000
    nodes = rng.normal(size=(n, 2))
    edges = np.c_[np.arange(n - 1), np.arange(1, n)]
    y = (nodes[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NetworkSVM(1e-3, solver="smo", max_iter=3).fit([(nodes, edges)], [y])
    assert model.structure_.offers(CompiledAscent) is None
    assert model.score([(nodes, edges)], [y]) > 0.9
    tables = model.structure_.tables(
        model.structure_.encode([(nodes, edges)]), np.array([0]), model.coef_
    )
    assert best_in_forest(tables).score[0] > 0


@pytest.mark.parametrize("inference", ["auto", "junction", "trws"])
def test_places_that_are_not_connected_have_their_own_steps(inference):
    """One long graph: a step for the whole of it would hardly move."""
    rng = np.random.default_rng(0)
    n = 600
    nodes = rng.normal(size=(n, 2))
    chain = np.c_[np.arange(n - 1), np.arange(1, n)]
    ladder = np.concatenate([chain, np.c_[np.arange(n - 2), np.arange(2, n)]])
    y = (nodes[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)
    X = [(nodes, chain if inference == "auto" else ladder)]
    model = NetworkSVM(
        0.01, inference=inference, solver="smo", tol=0.02, max_iter=100
    ).fit(X, [y])
    reference = NetworkSVM(0.01, inference=inference, tol=1e-3).fit(X, [y]).result_
    assert model.result_.status.name == "CONVERGED"
    assert model.result_.dual <= reference.primal * (1 + 1e-9)
    assert model.result_.dual == pytest.approx(reference.dual, rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_connected_components_of_what_differs(seed):
    rng = np.random.default_rng(seed)
    n = 12
    pairs = [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.12]
    tables = GraphTables.of(np.zeros((n, 2)), np.reshape(pairs, (-1, 2)), np.eye(2))
    differs = rng.random(n) < 0.7
    graph = networkx.Graph(pairs)
    graph.add_nodes_from(range(n))
    parts = networkx.connected_components(graph.subgraph(np.flatnonzero(differs)))
    found = connected(tables, differs, np.empty((0, 2), np.int64))
    assert (found[~differs] == -1).all()
    named = {frozenset(np.flatnonzero(found == g)) for g in set(found[differs])}
    assert named == {frozenset(p) for p in parts}
    seen = found[differs]
    first = [g for q, g in enumerate(seen) if g not in seen[:q]]
    assert first == list(range(len(first)))
