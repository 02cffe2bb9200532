"""Factors over several nodes, against enumeration on random factor graphs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference.graph import (
    Cliques,
    GraphTables,
    TooDenseError,
    decode_cliques,
    plan_cliques,
    relax_cliques,
)
from maxmargin.inference.graph.cliques import in_elimination
from maxmargin.inference.graph.layers import eliminated_by_cost

seeds = st.integers(0, 2**31)


def random_graph(rng, nodes, labels=3):
    k = rng.integers(2, labels + 1, nodes)
    pairs = [[u, v] for u in range(nodes) for v in range(u) if rng.random() < 0.3]
    scopes = [
        rng.permutation(nodes)[: rng.integers(2, 4)].tolist()
        for _ in range(rng.integers(0, 4))
    ]
    tables = GraphTables.of(
        [rng.normal(size=n) for n in k],
        pairs,
        [rng.normal(size=(k[u], k[v])) for u, v in pairs],
    )
    factors = Cliques.of(scopes, [2.0 * rng.normal(size=k[c]) for c in scopes])
    return tables, factors


def batch(parts):
    tables = GraphTables.batch([t for t, _ in parts])
    shift = tables.node_ptr[:-1]
    at = np.cumsum([0, *[len(c.tables) for _, c in parts]])
    each = [c for _, c in parts]
    factors = Cliques(
        np.cumsum([0, *[c.size for c in each]]),
        np.cumsum([0, *np.concatenate([np.diff(c.node_ptr) for c in each])]),
        np.concatenate([c.nodes + s for c, s in zip(each, shift, strict=True)]),
        np.concatenate([c.table_ptr + a for c, a in zip(each, at[:-1], strict=True)]),
        np.concatenate([c.tables for c in each]),
    )
    return tables, factors


def planned(tables, factors, method):
    scopes = [
        [
            factors.scope(c) - tables.node_ptr[g]
            for c in range(*factors.graph_ptr[g : g + 2])
        ]
        for g in range(tables.n)
    ]
    shift = np.repeat(tables.node_ptr[:-1], np.diff(tables.edge_ptr))
    edges = (tables.edges - shift[:, None]).astype(np.int32)
    return plan_cliques(
        tables.node_ptr, tables.edge_ptr, edges, scopes, tables.n_labels, method
    )


def enumerated(tables, factors):
    best = -np.inf
    for labels in product(*[range(k) for k in tables.n_labels]):
        row = np.array(labels, np.int32)
        own = sum(
            factors.table(c, tables.n_labels)[tuple(row[factors.scope(c)])]
            for c in range(factors.size)
        )
        best = max(best, float(tables.score(row)[0]) + own)
    return best


@given(seed=seeds)
@settings(max_examples=25)
def test_elimination_finds_the_best_of_all_labels(seed):
    rng = np.random.default_rng(seed)
    parts = [random_graph(rng, n) for n in (4, 1, 5)]
    expected = [enumerated(*part) for part in parts]
    tables, factors = batch(parts)
    for method in ("auto", "junction"):
        found = decode_cliques(
            tables, factors, planned(tables, factors, method), method
        )
        np.testing.assert_allclose(found.score, expected, rtol=1e-9)
        np.testing.assert_allclose(found.bound, expected, rtol=1e-9)
        score = tables.score(found.labels) + factors.score(tables, found.labels)
        np.testing.assert_allclose(found.score, score, rtol=1e-9)


@given(seed=seeds)
@settings(max_examples=15)
def test_other_methods_bound_the_best_labels(seed):
    rng = np.random.default_rng(seed)
    parts = [random_graph(rng, n) for n in (4, 5)]
    expected = np.array([enumerated(*part) for part in parts])
    tables, factors = batch(parts)
    for method in ("trws", "loopy"):
        plan = planned(tables, factors, method)
        assert plan.certificate(method) == "bound"
        found = decode_cliques(tables, factors, plan, method)
        assert (found.score <= expected + 1e-9).all()
        assert (found.bound >= expected - 1e-9).all()
    for part, best in zip(parts, expected, strict=True):
        relaxed = relax_cliques(*part)
        assert relaxed.value >= best - 1e-7
        t, c = part
        inside = float(relaxed.node @ t.unary)
        inside += sum(
            float((mu * t.table(e)).sum()) for e, mu in enumerate(relaxed.edge)
        )
        tables_of = [c.table(q, t.n_labels) for q in range(c.size)]
        inside += sum(
            float((mu * own).sum())
            for mu, own in zip(relaxed.clique, tables_of, strict=True)
        )
        assert relaxed.value == pytest.approx(inside)


def test_a_single_factor_over_all_nodes_makes_the_relaxation_exact():
    rng = np.random.default_rng(0)
    tables = GraphTables.of(
        [rng.normal(size=2) for _ in range(3)],
        [[0, 1], [1, 2], [2, 0]],
        [rng.normal(size=(2, 2)) for _ in range(3)],
    )
    factors = Cliques.of([[0, 1, 2]], [rng.normal(size=(2, 2, 2))])
    assert relax_cliques(tables, factors).value == pytest.approx(
        enumerated(tables, factors)
    )


def test_what_does_not_fit_is_refused_or_left_to_messages():
    k = 20
    tables = GraphTables.of([np.zeros(k)] * 6, [], [])
    scope = list(range(6))
    factors = Cliques.of([[0, 1, 2]], [np.zeros((k, k, k))])
    wide = [[np.array(scope)]]
    sizes = tables.node_ptr, tables.edge_ptr, tables.edges
    with pytest.raises(TooDenseError, match=r"treewidth .* tables of 6.4e\+07 entries"):
        plan_cliques(*sizes, wide, tables.n_labels, "junction")
    assert (
        plan_cliques(*sizes, wide, tables.n_labels, "auto").certificate("auto")
        == "bound"
    )
    with pytest.raises(
        ValueError, match="inference='cut' is not available for cliques"
    ):
        plan_cliques(*sizes, [[factors.scope(0)]], tables.n_labels, "cut")


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from([None, 1, 3]))
def test_the_best_labels_for_each_cost_by_enumeration(seed, cap):
    rng = np.random.default_rng(seed)
    parts = [random_graph(rng, int(n)) for n in rng.integers(1, 6, 3)]
    tables, factors = batch(parts)
    orders = planned(tables, factors, "junction").orders()
    cost = rng.integers(0, 3, len(tables.unary))
    extra = in_elimination(tables, factors, orders)
    found = eliminated_by_cost(tables, orders, extra, cost, cap)
    first = 0
    for g, (graph, own) in enumerate(parts):
        best = {}
        for labels in product(*[range(k) for k in graph.n_labels]):
            row = np.array(labels, np.int32)
            at = int(cost[first + graph.label_ptr[:-1] + row].sum())
            at = at if cap is None else min(at, cap)
            score = float((graph.score(row) + own.score(graph, row))[0])
            best[at] = max(best.get(at, -np.inf), score)
        mine = slice(found.ptr[g], found.ptr[g + 1])
        assert found.cost[mine].tolist() == sorted(best)
        np.testing.assert_allclose(found.score[mine], [best[c] for c in sorted(best)])
        for r in range(mine.start, mine.stop):
            row = found.labels[found.label_ptr[r] : found.label_ptr[r + 1]]
            at = int(cost[first + graph.label_ptr[:-1] + row].sum())
            assert (at if cap is None else min(at, cap)) == found.cost[r]
            score = (graph.score(row) + own.score(graph, row))[0]
            np.testing.assert_allclose(score, found.score[r])
        first += len(graph.unary)
