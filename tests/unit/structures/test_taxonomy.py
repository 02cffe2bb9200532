"""Taxonomies: ancestors, heights, lattices, weights, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.structures.classes import (
    Taxonomy,
    compact,
    described,
    join_paths,
    similar,
    split_paths,
)

TREE = {"a1": "a", "a2": "a", "b1": "b", "a": "top", "b": "top"}
CLASSES = ["a1", "a2", "b1"]


def test_the_ways_to_write_a_tree_agree():
    nested = {"top": {"a": {"a1": {}, "a2": {}}, "b": ["b1"]}}
    mixed = {"top": [{"a": ["a1", "a2"]}, {"b": "b1"}]}
    trees = [Taxonomy.of(s) for s in (TREE, list(TREE.items()), nested, mixed)]
    for tree in trees:
        assert tree.heights(CLASSES).tolist() == [[0, 1, 2], [1, 0, 2], [2, 2, 0]]
        features, nodes = tree.features(CLASSES)
        shared = {
            node: frozenset(np.flatnonzero(features[:, z]))
            for z, node in enumerate(nodes)
        }
        assert shared == {
            "a": {0, 1}, "b": {2}, "a1": {0}, "a2": {1}, "b1": {2},
        }  # fmt: skip
    assert Taxonomy.of(trees[0]) is trees[0]


def test_node_weights_scale_columns():
    features, nodes = Taxonomy.of(TREE).features(CLASSES, {"a": 2.0, "b1": 0.0})
    assert features[0, nodes.index("a")] == 2.0
    assert features[2, nodes.index("b1")] == 0.0
    assert features[2, nodes.index("b")] == 1.0


def test_a_lattice_takes_the_lowest_common_ancestor():
    lattice = {"x": ["p", "q"], "y": ["q", "r"], "z": "r", "p": "top", "q": "top",
               "r": "top"}  # fmt: skip
    table = Taxonomy.of(lattice).heights(["x", "y", "z"])
    assert table.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_a_forest_has_an_implied_root():
    assert Taxonomy.of([("x", "p"), ("y", "q")]).heights(["x", "y"])[0, 1] == 2.0


def test_a_class_may_be_an_inner_node():
    table = Taxonomy.of({"x": "p", "y": "p"}).heights(["p", "x", "y"])
    assert table.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


@st.composite
def trees(draw):
    """Parents of nodes 1, 2, ...; node 0 is the root."""
    n = draw(st.integers(2, 12))
    return {i: draw(st.integers(0, i - 1)) for i in range(1, n)}


@settings(deadline=None, max_examples=50)
@given(trees())
def test_the_loss_of_a_tree_is_an_ultrametric(parents):
    tree = Taxonomy.of(parents)
    leaves = sorted(set(parents) - set(parents.values()))
    table = tree.heights(leaves)
    assert (table == table.T).all() and not np.diag(table).any()
    assert (table[~np.eye(len(leaves), dtype=bool)] >= 1).all()
    through = np.maximum(table[:, :, None], table[None, :, :]).min(axis=1)
    assert (table <= through).all()


@settings(deadline=None, max_examples=50)
@given(trees())
def test_features_count_common_ancestors(parents):
    tree = Taxonomy.of(parents)
    leaves = sorted(set(parents) - set(parents.values()))

    def way(node):
        return {node} | (way(parents[node]) if node in parents else set())

    features, nodes = tree.features(leaves)
    for i, x in enumerate(leaves):
        for j, y in enumerate(leaves):
            assert features[i] @ features[j] == len(way(x) & way(y) & set(nodes))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"a": "b", "b": "c", "c": "a"}, "cycle: .* -> .* -> .* -> "),
        ({"a": "a"}, "cycle: a -> a"),
        ("abc", "give a mapping"),
        ([("a", "b"), ("c",)], "item 1"),
        ({}, "no nodes"),
    ],
)
def test_bad_taxonomies_are_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        Taxonomy.of(spec)


def test_bad_classes_and_weights_are_refused():
    tree = Taxonomy.of(TREE)
    with pytest.raises(ValueError, match="'c9' has no node"):
        tree.heights(["a1", "c9"])
    with pytest.raises(ValueError, match="no node 'zz'"):
        tree.features(CLASSES, {"zz": 1.0})
    with pytest.raises(ValueError, match=r"\['a'\] is -1"):
        tree.features(CLASSES, {"a": -1.0})


def test_similarities_are_factored_or_refused():
    S = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    np.testing.assert_allclose(similar(S, 3) @ similar(S, 3).T, S, atol=1e-12)
    S[0, 1] = S[1, 0] = 2.0
    smallest = np.linalg.eigvalsh(S)[0]
    with pytest.raises(ValueError, match=f"eigenvalue is {smallest:.6g}"):
        similar(S, 3)
    with pytest.raises(ValueError, match="not symmetric"):
        similar([[1.0, 0.3], [0.0, 1.0]], 2)
    with pytest.raises(ValueError, match="shape"):
        similar(np.eye(2), 3)


def test_descriptions_by_matrix_or_label():
    rows = {"x": [1.0, 0.0], "y": [1.0, 2.0]}
    dense = described(["x", "y"], rows)
    sparse = described(["x", "y"], {k: sp.csr_array([v]) for k, v in rows.items()})
    assert dense.tolist() == sparse.tolist() == [[1, 0], [1, 2]]
    assert described(["x", "y"], sp.csr_array(dense)).tolist() == dense.tolist()
    with pytest.raises(ValueError, match="no row for class 'z'"):
        described(["x", "z"], rows)
    with pytest.raises(ValueError, match="2 classes"):
        described(["x", "y"], np.ones((3, 2)))
    with pytest.raises(ValueError, match="class 'y' has nan"):
        described(["x", "y"], [[1.0, 2.0], [np.nan, 1.0]])


def test_compact_keeps_inner_products():
    features = np.random.default_rng(0).normal(size=(3, 20))
    small = compact(features)
    assert small.shape[1] <= 3
    np.testing.assert_allclose(small @ small.T, features @ features.T, atol=1e-9)


def test_a_graph_of_networkx_goes_in_and_out():
    nx = pytest.importorskip("networkx")
    graph = nx.DiGraph([("top", "a"), ("top", "b"), ("a", "a1"), ("a", "a2"),
                        ("b", "b1")])  # fmt: skip
    tree = Taxonomy.of(graph)
    assert tree.heights(CLASSES).tolist() == Taxonomy.of(TREE).heights(CLASSES).tolist()
    assert set(tree.to_networkx().edges) == set(graph.edges)
    with pytest.raises(ValueError, match="no directions"):
        Taxonomy.of(graph.to_undirected())
    with pytest.raises(ValueError, match="cycle"):
        Taxonomy.of(nx.DiGraph([("a", "b"), ("b", "a")]))


def test_label_paths_go_in_and_out():
    paths = [["animal", "pet", "cat"], ["animal", "fly", ""], ["plant", None, None]]
    labels = join_paths(paths)
    tree = Taxonomy.from_paths(paths)
    assert labels == ["animal::pet::cat", "animal::fly", "plant"]
    assert tree.heights(labels).tolist() == [[0, 2, 3], [2, 0, 3], [3, 3, 0]]
    back = split_paths(labels).tolist()
    assert back == [["animal", "pet", "cat"], ["animal", "fly", ""], ["plant", "", ""]]


def test_the_same_name_in_two_places_is_two_nodes():
    tree = Taxonomy.from_paths([["a", "other"], ["b", "other"]])
    assert tree.nodes == ("a", "b", "a::other", "b::other")


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ([["a"], ["", ""]], "path 1 is empty"),
        ([["a", "", "c"]], "path 0, level 1: a name is missing"),
        ([["a"], ["x::y"]], "path 1, level 0: 'x::y' has '::'"),
        (["abc"], "path 0 is 'abc'"),
    ],
)
def test_broken_paths_are_named(paths, words):
    with pytest.raises(ValueError, match=words):
        join_paths(paths)


@given(tree=trees(), cost=st.floats(0.0, 1.0))
@settings(max_examples=50, deadline=None)
def test_costs_of_answers_by_their_definition(tree, cost):
    taxonomy = Taxonomy.of(tree)
    height = dict(zip(taxonomy.nodes, taxonomy.height(), strict=True))
    leaves = [z for z in taxonomy.nodes if height[z] == 0]

    def up(z):
        return [z, *up(tree[z])] if z in tree else [z]

    nodes, table = taxonomy.answer_costs(leaves, cost)
    assert nodes[: len(leaves)] == tuple(leaves) and set(nodes) == set(taxonomy.nodes)
    for z, row in zip(nodes, table, strict=True):
        for y, found in zip(leaves, row, strict=True):
            common = min(height[v] for v in up(z) if v in up(y))
            assert found == pytest.approx(cost * height[z] if z in up(y) else common)


def test_at_cost_one_a_class_is_never_worse_than_a_node_above_it():
    _, table = Taxonomy.of(TREE).answer_costs(CLASSES, 1.0)
    for row in table[3:]:
        assert (table[:3] <= row).all(axis=1).any()
