"""Spanning forests against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference.cluster import components, spanning_forest, spanning_trees


def total(parent, score):
    out = 0.0
    for v, u in enumerate(parent):
        if u != v:
            a, b = min(u, v), max(u, v)
            out += score[b * (b - 1) // 2 + a]
    return out


@given(seed=st.integers(0, 10**6), m=st.integers(0, 9))
@settings(max_examples=40)
def test_forest_is_kruskals(seed, m):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=m * (m - 1) // 2)
    graph = nx.Graph()
    graph.add_nodes_from(range(m))
    for b in range(m):
        for a in range(b):
            if score[b * (b - 1) // 2 + a] > 0:
                graph.add_edge(a, b, weight=score[b * (b - 1) // 2 + a])
    best = nx.maximum_spanning_tree(graph)
    parent = spanning_forest(m, score)
    weight = sum(d["weight"] for _, _, d in best.edges(data=True))
    assert total(parent, score) == pytest.approx(weight)
    names = components(parent)
    for a, b in best.edges:
        assert names[a] == names[b]
    assert len(set(names.tolist())) == nx.number_connected_components(best)
    assert all(parent[min(c)] == min(c) for c in nx.connected_components(best))


@given(seed=st.integers(0, 10**6), m=st.integers(1, 9))
@settings(max_examples=40)
def test_trees_span_their_clusters(seed, m):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=m * (m - 1) // 2) - 1.0
    cluster = rng.integers(3, size=m).astype(np.int32)
    parent = spanning_trees(cluster, score)
    names = components(parent)
    for a in range(m):
        for b in range(m):
            assert (names[a] == names[b]) == (cluster[a] == cluster[b])
    weight = 0.0
    for c in set(cluster.tolist()):
        graph = nx.Graph()
        members = np.flatnonzero(cluster == c)
        for b in members:
            for a in members[members < b]:
                graph.add_edge(a, b, weight=score[b * (b - 1) // 2 + a])
        tree = nx.maximum_spanning_tree(graph)
        weight += sum(d["weight"] for _, _, d in tree.edges(data=True))
    assert total(parent, score) == pytest.approx(weight)
