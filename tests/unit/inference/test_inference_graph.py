"""Every inference against enumeration on small random graphs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference.graph import (
    METHODS,
    GraphTables,
    TooDenseError,
    eliminate,
    forest,
    improve,
    junction,
    layers,
    loose_bound,
    plan,
)
from maxmargin.inference.graph import toulbar2 as search
from maxmargin.inference.graph.best_other import best_other
from maxmargin.inference.graph.decode import decode
from maxmargin.inference.loopy import graphcut, messages, relaxation

seeds = st.integers(0, 10**6)
quick = settings(deadline=None, max_examples=25)


def forest_of(rng, nodes, most=3):
    k = rng.integers(1, most + 1, nodes)
    place = rng.permutation(nodes)
    edges = []
    for i in range(1, nodes):
        if rng.random() < 0.8:
            edge = [place[i], place[rng.integers(0, i)]]
            edges.append(edge[:: rng.choice([-1, 1])])
    return tables_of(rng, k, edges)


def graph_of(rng, nodes, most=3, density=0.6):
    k = rng.integers(1, most + 1, nodes)
    edges = [
        [i, j][:: rng.choice([-1, 1])]
        for i in range(nodes)
        for j in range(i)
        if rng.random() < density
    ]
    return tables_of(rng, k, edges)


def tables_of(rng, k, edges):
    return GraphTables.of(
        [rng.normal(size=n) for n in k],
        edges,
        [rng.normal(size=(k[a], k[b])) for a, b in edges],
    )


def grid_of(rng, rows, columns, k, table=None):
    at = np.arange(rows * columns).reshape(rows, columns)
    across = np.c_[at[:, :-1].ravel(), at[:, 1:].ravel()]
    down = np.c_[at[:-1].ravel(), at[1:].ravel()]
    table = rng.normal(size=(k, k)) if table is None else table
    unary = rng.normal(size=(rows * columns, k))
    return GraphTables.of(unary, np.concatenate([across, down]), table)


def enumerate_scores(t):
    rows = np.array(list(product(*map(range, t.n_labels))), dtype=np.int32)
    return rows, np.array([t.score(row)[0] for row in rows])


def several(rng, make):
    parts = [make(rng, rng.integers(1, 6)) for _ in range(rng.integers(1, 4))]
    return parts, GraphTables.batch(parts)


def check_valid(t, best, found):
    np.testing.assert_allclose(found.score, t.score(found.labels), atol=1e-9)
    assert (found.score <= best + 1e-9).all()
    assert (found.bound >= best - 1e-9).all()


def test_batch_take_and_score():
    rng = np.random.default_rng(0)
    parts = [graph_of(rng, n) for n in (3, 1, 4)]
    t = GraphTables.batch(parts)
    labels = np.array([rng.integers(0, k) for k in t.n_labels], dtype=np.int32)
    split = np.split(labels, t.node_ptr[1:-1])
    one = [p.score(y)[0] for p, y in zip(parts, split, strict=True)]
    np.testing.assert_allclose(t.score(labels), one)
    some = t.take([2, 0])
    mixed = np.concatenate([split[2], split[0]])
    np.testing.assert_allclose(some.score(mixed), [one[2], one[0]])
    assert t.table(0).shape == tuple(t.n_labels[t.edges[0]])


def test_tables_need_one_table_per_edge():
    with pytest.raises(ValueError, match="1 pairwise tables were given for 2 edges"):
        GraphTables.of([[0, 0]] * 3, [[0, 1], [1, 2]], [np.eye(2)])


@quick
@given(seeds)
def test_forest_is_exact(seed):
    parts, t = several(np.random.default_rng(seed), forest_of)
    found = forest.best_in_forest(t)
    best = [enumerate_scores(p)[1].max() for p in parts]
    np.testing.assert_allclose(found.score, best)
    np.testing.assert_allclose(t.score(found.labels), best)


def test_forest_refuses_cycles():
    t = GraphTables.of([[0, 0]] * 3, [[0, 1], [1, 2], [2, 0]], np.eye(2))
    with pytest.raises(ValueError, match="graph 0 is not a forest: 1 of its edges"):
        forest.best_in_forest(t)


@quick
@given(seeds)
def test_marginals_equal_enumeration(seed):
    t = forest_of(np.random.default_rng(seed), 4)
    rows, score = enumerate_scores(t)
    p = np.exp(score - score.max())
    found = forest.marginals(t)
    np.testing.assert_allclose(found.log_z, np.log(p.sum()) + score.max())
    p /= p.sum()
    node = np.zeros_like(t.unary)
    edge = np.zeros_like(found.edge)
    for row, share in zip(rows, p, strict=True):
        node[t.label_ptr[:-1] + row] += share
        for e, (u, v) in enumerate(t.edges):
            edge[found.edge_ptr[e] + row[u] * t.n_labels[v] + row[v]] += share
    np.testing.assert_allclose(found.node, node, atol=1e-12)
    np.testing.assert_allclose(found.edge, edge, atol=1e-12)


@quick
@given(seeds, st.sampled_from([None, 1, 2]))
def test_layers_equal_enumeration(seed, cap):
    rng = np.random.default_rng(seed)
    parts, t = several(rng, forest_of)
    cost = rng.integers(0, 3, len(t.unary))
    found = layers.best_by_cost(t, cost, cap)
    owned = np.split(cost, np.cumsum([len(p.unary) for p in parts])[:-1])
    for g, (p, own) in enumerate(zip(parts, owned, strict=True)):
        rows, score = enumerate_scores(p)
        total = own[p.label_ptr[:-1] + rows].sum(axis=1)
        total = total if cap is None else np.minimum(total, cap)
        mine = slice(found.ptr[g], found.ptr[g + 1])
        assert found.cost[mine].tolist() == sorted(set(total.tolist()))
        for r in range(mine.start, mine.stop):
            labels = found.labels[found.label_ptr[r] : found.label_ptr[r + 1]]
            at = own[p.label_ptr[:-1] + labels].sum()
            assert found.cost[r] == (at if cap is None else min(at, cap))
            np.testing.assert_allclose(p.score(labels)[0], found.score[r])
            np.testing.assert_allclose(
                found.score[r], score[total == found.cost[r]].max()
            )


@quick
@given(seeds, st.sampled_from([None, 1, 2]))
def test_layers_of_forests_and_loops_together(seed, cap):
    rng = np.random.default_rng(seed)
    both = several(rng, forest_of)[0] + several(rng, graph_of)[0]
    parts = [both[k] for k in rng.permutation(len(both))]
    t = GraphTables.batch(parts)
    graphs = plan(t.node_ptr, t.edge_ptr, t.edges, t.n_labels, "junction")
    cost = rng.integers(0, 3, len(t.unary))
    found = layers.layers_of(t, graphs, cost, cap)
    owned = np.split(cost, np.cumsum([len(p.unary) for p in parts])[:-1])
    for g, (p, own) in enumerate(zip(parts, owned, strict=True)):
        rows, score = enumerate_scores(p)
        total = own[p.label_ptr[:-1] + rows].sum(axis=1)
        total = total if cap is None else np.minimum(total, cap)
        mine = slice(found.ptr[g], found.ptr[g + 1])
        assert found.cost[mine].tolist() == sorted(set(total.tolist()))
        for r in range(mine.start, mine.stop):
            labels = found.labels[found.label_ptr[r] : found.label_ptr[r + 1]]
            np.testing.assert_allclose(p.score(labels)[0], found.score[r])
            best = score[total == found.cost[r]].max()
            np.testing.assert_allclose(found.score[r], best)


@quick
@given(seeds)
def test_junction_tree_is_exact(seed):
    parts, t = several(np.random.default_rng(seed), graph_of)
    found = junction.best_by_elimination(t)
    best = [enumerate_scores(p)[1].max() for p in parts]
    np.testing.assert_allclose(found.score, best)


def test_junction_tree_names_the_treewidth_it_refuses():
    t = grid_of(np.random.default_rng(0), 30, 30, 5)
    with pytest.raises(
        TooDenseError, match=r"graph 0 is too dense .* treewidth .* least \d"
    ):
        junction.best_by_elimination(t)


@pytest.mark.parametrize(
    ("edges", "width"),
    [
        ([[0, 1], [1, 2], [2, 3]], 1),
        ([[0, 1], [1, 2], [2, 3], [3, 0]], 2),
        ([[i, j] for i in range(4) for j in range(i)], 3),
        ([], 0),
    ],
)
def test_width_of_known_graphs(edges, width):
    found = eliminate(np.full(4, 2), np.array(edges, np.int32).reshape(-1, 2))
    assert found.width == width
    assert max(len(c) for c in found.cliques()) == width + 1


def test_cliques_cover_all_edges_and_are_maximal():
    t = graph_of(np.random.default_rng(3), 8, density=0.4)
    cliques = [set(c) for c in eliminate(t.n_labels, t.edges).cliques()]
    assert all(any({u, v} <= c for c in cliques) for u, v in t.edges.tolist())
    assert not any(a < b for a in cliques for b in cliques)


@quick
@given(seeds)
def test_approximate_methods_bound_the_best(seed):
    _, t = several(np.random.default_rng(seed), graph_of)
    best = junction.best_by_elimination(t).score
    for found in (
        messages.best_by_trws(t),
        messages.best_by_max_product(t),
        graphcut.expand(t),
    ):
        check_valid(t, best, found)
    assert (loose_bound(t) >= best - 1e-9).all()
    assert (messages.trws_bound(t, 1) >= best - 1e-9).all()


@quick
@given(seeds)
def test_trws_and_loopy_are_exact_on_forests(seed):
    _, t = several(np.random.default_rng(seed), forest_of)
    best = forest.best_in_forest(t).score
    found = messages.best_by_trws(t, max_iter=200, tol=1e-9)
    np.testing.assert_allclose(found.score, best, atol=1e-6)
    np.testing.assert_allclose(found.bound, best, atol=1e-3)
    np.testing.assert_allclose(messages.best_by_max_product(t).score, best, atol=1e-6)


def test_more_sweeps_never_raise_the_bound():
    t = graph_of(np.random.default_rng(1), 20, 5, 0.3)
    bounds = [messages.trws_bound(t, n)[0] for n in (1, 2, 4, 8, 16)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < bounds[0]


def test_loopy_checks_damping():
    t = GraphTables.of([[0, 0]], [], [])
    with pytest.raises(ValueError, match=r"damping is 1\.0"):
        messages.best_by_max_product(t, damping=1.0)


@settings(deadline=None, max_examples=10)
@given(seeds)
def test_relaxation_bounds_and_is_consistent(seed):
    _, t = several(np.random.default_rng(seed), graph_of)
    best = junction.best_by_elimination(t).score
    found = relaxation.relax(t)
    assert (found.value >= best - 1e-7).all()
    assert (found.score <= best + 1e-9).all()
    np.testing.assert_allclose(found.score[found.integral], best[found.integral])
    k = t.n_labels
    for e, (u, v) in enumerate(t.edges):
        mu = found.edge[found.edge_ptr[e] : found.edge_ptr[e + 1]].reshape(k[u], k[v])
        np.testing.assert_allclose(
            mu.sum(1), found.node[t.label_ptr[u] : t.label_ptr[u + 1]], atol=1e-7
        )
        np.testing.assert_allclose(
            mu.sum(0), found.node[t.label_ptr[v] : t.label_ptr[v + 1]], atol=1e-7
        )


def test_relaxation_is_exact_on_forests_and_fractional_on_odd_cycles():
    t = forest_of(np.random.default_rng(5), 5)
    assert relaxation.relax(t).integral.all()
    odd = GraphTables.of([[0, 0]] * 3, [[0, 1], [1, 2], [2, 0]], 1 - np.eye(2))
    found = relaxation.relax(odd)
    assert not found.integral.any()
    np.testing.assert_allclose(found.node, 0.5)


@quick
@given(seeds)
def test_cut_is_exact_where_tables_attract(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 8)
    edges = [[i, j] for i in range(n) for j in range(i) if rng.random() < 0.5]
    pairs = rng.normal(size=(len(edges), 2, 2))
    for p in pairs:
        if p[0, 0] + p[1, 1] < p[0, 1] + p[1, 0]:
            p[:] = p[::-1].copy()
    t = GraphTables.of(rng.normal(size=(n, 2)), edges, pairs)
    assert graphcut.submodular(t).all()
    found = graphcut.best_by_cut(t)
    np.testing.assert_allclose(found.score, enumerate_scores(t)[1].max())


def test_cut_refuses_what_it_cannot_do():
    t = GraphTables.of([[0, 0]] * 2, [[0, 1]], 1 - np.eye(2))
    with pytest.raises(ValueError, match="cannot be solved by one cut"):
        graphcut.best_by_cut(t)
    three = GraphTables.of([[0, 0, 0]] * 2, [[0, 1]], np.eye(3))
    assert not graphcut.submodular(three).any()


def test_expansion_is_near_the_bound_on_a_potts_grid():
    t = grid_of(np.random.default_rng(0), 20, 20, 5, np.eye(5))
    found = graphcut.expand(t)
    alone = improve(t, np.zeros(t.n_nodes, np.int32))
    assert found.score[0] > t.score(alone)[0]
    assert found.score[0] > 0.98 * messages.best_by_trws(t).bound[0]


def test_search_is_exact():
    pytest.importorskip("pytoulbar2")
    rng = np.random.default_rng(2)
    t = GraphTables.batch([grid_of(rng, 4, 4, 3), graph_of(rng, 6, density=1.0)])
    best = junction.best_by_elimination(t).score
    found = search.best_by_search(t)
    np.testing.assert_allclose(found.score, best, atol=1e-4)
    assert (found.bound >= best - 1e-9).all()


@pytest.mark.parametrize("method", METHODS)
def test_decode_by_name(method):
    if method == "search":
        pytest.importorskip("pytoulbar2")
    rng = np.random.default_rng(7)
    two = [forest_of(rng, 4, 2) for _ in range(3)]
    parts = [GraphTables.of(rng.normal(size=(4, 2)), [[0, 1], [1, 2]], np.eye(2))]
    if method not in ("cut", "forest"):
        parts += [*two, graph_of(rng, 5), grid_of(rng, 3, 3, 2, np.eye(2))]
    t = GraphTables.batch(parts)
    graphs = plan(t.node_ptr, t.edge_ptr, t.edges, t.n_labels, method)
    best = junction.best_by_elimination(t).score
    found = decode(t, graphs, method)
    check_valid(t, best, found)
    if graphs.certificate(method) == "exact":
        np.testing.assert_allclose(found.score, best)
        np.testing.assert_allclose(found.bound, best)
    some = np.arange(t.n)[::-1]
    again = decode(t.take(some), graphs.take(some), method)
    np.testing.assert_allclose(again.score, found.score[::-1])


def test_auto_falls_back_where_a_junction_tree_is_too_large():
    rng = np.random.default_rng(0)
    t = GraphTables.batch([grid_of(rng, 12, 12, 5), grid_of(rng, 25, 25, 2, np.eye(2))])
    graphs = plan(t.node_ptr, t.edge_ptr, t.edges, t.n_labels, "auto")
    assert graphs.width.tolist() == [-1, -1]
    assert graphs.certificate("auto") == "bound"
    found = decode(t, graphs, "auto")
    assert (found.bound >= found.score).all()
    assert found.bound[1] == found.score[1]  # a cut


def test_plan_refuses_unknown_methods_and_cyclic_forests():
    t = grid_of(np.random.default_rng(0), 2, 2, 2)
    with pytest.raises(ValueError, match="inference='magic' is not one of 'auto'"):
        plan(t.node_ptr, t.edge_ptr, t.edges, t.n_labels, "magic")
    with pytest.raises(ValueError, match="does not fit; 'auto' takes any graph"):
        plan(t.node_ptr, t.edge_ptr, t.edges, t.n_labels, "forest")


@quick
@given(seeds, st.sampled_from(["forest", "junction", "trws"]))
def test_best_other_labels(seed, method):
    rng = np.random.default_rng(seed)
    parts, t = several(rng, forest_of if method == "forest" else graph_of)
    graphs = plan(t.node_ptr, t.edge_ptr, t.edges, t.n_labels, method)
    best = decode(t, graphs, method).labels
    for given_ in (best, np.zeros(t.n_nodes, np.int32)):
        found = best_other(t, graphs, method, given_)
        for g, p in enumerate(parts):
            own = slice(t.node_ptr[g], t.node_ptr[g + 1])
            rows, score = enumerate_scores(p)
            other = score[(rows != given_[own]).any(axis=1)]
            if len(other) == 0:
                assert found.score[g] == -np.inf
                continue
            assert (found.labels[own] != given_[own]).any()
            assert found.bound[g] >= other.max() - 1e-9
            if method != "trws":
                np.testing.assert_allclose(found.score[g], other.max())
