"""Networks: bad input, types, inference by name, training, certificates."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from small.graphs import ring_data

from maxmargin import NetworkSVM
from maxmargin.core import Augment, Formulation, Problem
from maxmargin.inference.graph import common_unit, layers
from maxmargin.losses import Hamming
from maxmargin.structures.network import (
    Graph,
    Network,
    full_edges,
    graph_from_adjacency,
    graph_from_networkx,
    grid_edges,
    grid_graph,
    image_labels,
    multilabel_graphs,
    tree_edges,
)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ((np.eye(2), [[0, 5]]), r"graph 1, edge 0: \(0, 5\) leaves the graph"),
        ((np.eye(2), [[0, -1]]), "nodes 0 .. 1"),
        ((np.eye(2), [[0, 1], [1, 1]]), "graph 1, edge 1: node 1 is linked to itself"),
        ((np.eye(2), [[0, 1], [1, 0]]), "edge 1: nodes 1 and 0 are linked twice"),
        ((np.eye(2), [[0.0, 1.0]]), "edges must be an integer array"),
        ((np.eye(2), [[0, 1]], [[1.0], [2.0]]), "edge_features has 2 entries for 1"),
        ((np.eye(2), [[0, 1]], None, ["a"]), "node_types has 1 entries for 2 nodes"),
        ((np.empty((0, 2)), []), "graph 1 has no nodes"),
        ((np.ones((2, 3)), [[0, 1]]), "has 3 features, others of this type 2"),
        (7, "expected a Graph or a tuple"),
        (np.eye(3)[0], "expected a Graph or a tuple .* but got ndarray"),
    ],
)
def test_bad_graphs_are_named(graph, message):
    good = (np.eye(2), [[0, 1]])
    with pytest.raises(ValueError, match=message):
        Network().bind([good, graph], [[0, 1], [0, 1]])


def test_bad_features_labels_and_types_are_named():
    X, Y = [(np.eye(2), [[0, 1]])] * 2, [["a", "b"], ["b", "a"]]
    network = Network().bind(X, Y)
    x = network.encode(X)
    with pytest.raises(ValueError, match="graph 1 has 2 nodes, but 3 labels"):
        network.encode_labels(x, [["a", "b"], ["a", "b", "a"]])
    with pytest.raises(ValueError, match="graph 0, node 1: label 'z' is not one of"):
        network.encode_labels(x, [["a", "z"], ["a", "b"]])
    with pytest.raises(ValueError, match="graph 0, node 1: a feature is nan"):
        network.encode([(np.array([[1.0, 2.0], [np.nan, 0.0]]), [])])
    with pytest.raises(ValueError, match="graph 0, node 0: 3 features, but 2"):
        network.encode([(np.ones((1, 3)), [])])
    with pytest.raises(ValueError, match="node 0: type 'page' was not seen"):
        network.encode([Graph(np.eye(2), [], None, ["page", "page"])])
    with pytest.raises(ValueError, match="edge 0: no edge of type 'far'"):
        network.encode([Graph(np.eye(2), [[0, 1]], None, None, ["far"])])
    with pytest.raises(ValueError, match="has edge features, but there were none"):
        network.encode([Graph(np.eye(2), [[0, 1]], [[1.0]])])
    with pytest.raises(ValueError, match="pairwise='odd' is not one of"):
        Network(pairwise="odd").bind(X, Y)
    assert Network().dim == 0


def test_a_graph_without_edges_is_labelled_node_by_node():
    X, Y = [(np.eye(2), []), (np.eye(2), [])], [[0, 1], [0, 1]]
    model = NetworkSVM(C=10.0).fit(X, Y)
    assert [y.tolist() for y in model.predict(X)] == Y
    assert model.certificate_ == "exact"
    assert model.structure_.dim == 2 * 3


def test_labels_of_a_type_are_its_own():
    graph = Graph([[1.0], [1.0, 2.0]], [[0, 1]], None, ["u", "v"])
    X, Y = [graph] * 3, [["a", "x"], ["b", "y"], ["a", "y"]]
    network = Network().bind(X, Y)
    assert [network.labels_of(t) for t in (0, 1)] == [["a", "b"], ["x", "y"]]
    x = network.encode(X)
    with pytest.raises(ValueError, match=r"label 'x' is not one of .* 'u'"):
        network.encode_labels(x, [["x", "x"]] * 3)
    found = network.argmax(x, np.arange(3), np.random.default_rng(0).normal(size=14))
    for y in network.decode_labels(x, found.labels):
        assert y[0] in "ab"
        assert y[1] in "xy"
    assert len(network.feature_names()) == network.dim


@pytest.mark.parametrize("pairwise", ["full", "symmetric", "potts"])
def test_pairwise_parameters(pairwise):
    X, Y = ring_data(np.random.default_rng(0), k=3)
    network = Network(pairwise=pairwise).bind(X, Y)
    size = {"full": 9, "symmetric": 6, "potts": 1}[pairwise]
    assert network.dim == 3 * 4 + size
    assert len(network.feature_names()) == network.dim
    table = network.tables(
        network.encode(X), np.array([0]), np.arange(network.dim, dtype=float)
    ).table(0)
    if pairwise != "full":
        np.testing.assert_array_equal(table, table.T)
    if pairwise == "potts":
        np.testing.assert_array_equal(table, table[0, 0] * np.eye(3))


def test_sparse_and_dense_features_agree():
    rng = np.random.default_rng(1)
    dense = [rng.integers(0, 2, (4, 5)) * 1.0 for _ in range(3)]
    edges = [[0, 1], [1, 2], [2, 3], [3, 0]]
    Y = [rng.integers(0, 2, 4) for _ in dense]
    a = Network().bind([(d, edges) for d in dense], Y)
    b = Network().bind([(sp.csr_array(d), edges) for d in dense], Y)
    assert b.kinds.sparse
    names = a.feature_names(), b.feature_names()
    assert sorted(names[0]) == sorted(names[1])
    w = rng.normal(size=a.dim)
    v = w[[names[0].index(n) for n in names[1]]]
    ids = np.arange(3)
    xa = a.encode([(d, edges) for d in dense])
    xb = b.encode([(sp.csr_array(d), edges) for d in dense])
    np.testing.assert_allclose(a.argmax(xa, ids, w).score, b.argmax(xb, ids, v).score)


def test_lp_answers_are_planes_below_the_relaxed_risk():
    rng = np.random.default_rng(3)
    X, Y = ring_data(rng, n=6, k=2)
    network = Network(inference="lp").bind(X, Y)
    exact = Network(inference="junction").bind(X, Y)
    assert (network.certificate, exact.certificate) == ("relaxed", "exact")
    x = network.encode(X)
    truth = network.encode_labels(x, Y)
    loss = Hamming().bind(2)
    augment = Augment(truth, loss, np.ones(6))
    ids, fractional = np.arange(6), 0
    for _ in range(10):
        w, v = rng.normal(size=(2, network.dim))
        answer = network.cuts(x, ids, w, augment)
        np.testing.assert_allclose(
            answer.bound, answer.delta - answer.dpsi.dot(w), atol=1e-7
        )
        best = exact.cuts(exact.encode(X), ids, w, augment).bound
        assert (answer.bound >= best - 1e-7).all()
        other = network.cuts(x, ids, v, augment)
        height = answer.delta - answer.dpsi.dot(v)
        assert (height <= other.bound + 1e-7).all()  # a plane of the relaxed problem
        fractional += int((answer.labels.sizes == 0).sum())
    assert fractional > 0


@pytest.mark.parametrize("method", ["trws", "loopy", "expansion", "auto"])
def test_slack_of_approximate_oracles_is_a_bound(method):
    rng = np.random.default_rng(5)
    X, Y = ring_data(rng, n=5, k=3, nodes=5, edges=full_edges(5).tolist())
    network = Network(inference=method).bind(X, Y)
    exact = Network(inference="junction").bind(X, Y)
    x, xe = network.encode(X), exact.encode(X)
    truth = network.encode_labels(x, Y)
    augment = Augment(truth, Hamming().bind(3), np.ones(5))
    ids = np.arange(5)
    for _ in range(5):
        w = rng.normal(size=network.dim)
        answer = network.cuts(x, ids, w, augment)
        best = exact.cuts(xe, ids, w, augment).bound
        assert (answer.bound >= best - 1e-9).all()
        assert (answer.delta - answer.dpsi.dot(w) <= best + 1e-9).all()
        assert (answer.delta - answer.dpsi.dot(w) >= -1e-9).all()


@pytest.mark.parametrize("inference", ["auto", "lp", "trws"])
@pytest.mark.parametrize("solver", ["block-dual", "one-slack"])
def test_training_on_rings(inference, solver):
    X, Y = ring_data(np.random.default_rng(2), n=10)
    model = NetworkSVM(C=1.0, inference=inference, solver=solver, tol=1e-2)
    if inference == "trws":
        model.set_params(max_iter=30)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, Y)
    else:
        model.fit(X, Y)
        assert model.result_.converged
    certificate = {"auto": "exact", "lp": "relaxed", "trws": "bound"}[inference]
    assert model.certificate_ == model.result_.certificate == certificate
    assert model.score(X, Y) > 0.8
    assert model.result_.primal >= model.result_.dual


def test_slack_rescaling_is_exact_where_junction_trees_are_small(monkeypatch):
    for edges in ([[0, 1], [1, 2]], None):  # a tree, and a ring
        given = {} if edges is None else {"edges": edges}
        X, Y = ring_data(np.random.default_rng(2), n=6, **given)
        model = NetworkSVM(C=1.0, rescaling="slack").fit(X, Y)
        assert model.result_.certificate == "exact"
        assert model.result_.converged

    def exact(**options):
        structure = Network(**options).bind(X, Y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, Y)
        loss, form = Hamming().bind(2), Formulation("slack")
        return Problem(structure, loss, form, x, truth, np.ones(6)).exact

    assert exact()
    assert not exact(inference="trws")
    monkeypatch.setattr(layers, "MOST_LAYERED", 4)
    assert not exact()


def test_margin_curve_starts_at_the_error_and_rises():
    X, Y = ring_data(np.random.default_rng(4), n=8, edges=[[0, 1], [1, 2]])
    model = NetworkSVM(C=0.05).fit(X, Y)
    curve = model.margin_curve(X, Y, [0.0, 0.1, 0.5, 2.0, 100.0])
    assert (np.diff(curve) >= 0).all()
    np.testing.assert_allclose(curve[0], 1 - model.score(X, Y))
    assert curve[-1] == 1.0


def test_common_unit():
    assert common_unit(np.array([0.0, 3.0, 6.0])) == 3.0
    np.testing.assert_allclose(common_unit(np.array([0.1, 0.25])), 0.05)
    assert common_unit(np.zeros(3)) == 1.0
    with pytest.raises(ValueError, match="multiples of a common unit"):
        common_unit(np.array([1.0, np.pi]))


def test_grid_builders():
    edges, kinds = grid_edges(3, 3, 8)
    assert len(edges) == 20
    assert np.bincount(kinds).tolist() == [6, 6, 4, 4]
    image = np.arange(12.0).reshape(3, 4)
    graph = grid_graph(image, features=lambda a, b: np.abs(a - b))
    assert graph.n == 12
    assert sorted(set(graph.edge_features.ravel().tolist())) == [1.0, 4.0]
    assert image_labels([range(12)], [(3, 4)])[0].shape == (3, 4)
    with pytest.raises(ValueError, match="a grid has 4 or 8"):
        grid_edges(2, 2, 6)


def test_graphs_from_matrices_and_networkx():
    matrix = np.array([[1, 2, 0], [0, 0, 0], [3, 0, 0]])
    graph = graph_from_adjacency(np.eye(3), matrix, weights=True)
    assert graph.edges.tolist() == [[0, 1], [0, 2]]
    assert graph.edge_features.tolist() == [[2.0, 0.0], [0.0, 3.0]]
    again = graph_from_adjacency(np.eye(3), sp.csr_array(matrix))
    assert again.edges.tolist() == graph.edges.tolist()
    with pytest.raises(ValueError, match=r"shape \(3, 3\), but there are 2 nodes"):
        graph_from_adjacency(np.eye(2), matrix)
    nx = pytest.importorskip("networkx")
    g = nx.DiGraph()
    g.add_node("p", x=[1.0], kind="a")
    g.add_node("q", x=[0.0], kind="b")
    g.add_edges_from([("p", "q"), ("q", "p"), ("p", "p")], how="link", f=2.0)
    made, names = graph_from_networkx(g, "x", "f", "kind", "how")
    assert (made.edges.tolist(), names) == ([[0, 1]], ["p", "q"])
    assert made.edge_features.tolist() == [[2.0]]
    assert (made.node_types, made.edge_types) == (["a", "b"], ["link"])
    with pytest.raises(ValueError, match="no attribute 'z'"):
        graph_from_networkx(g, "z")


def test_multilabel_graphs_learn_that_labels_exclude_each_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = np.eye(3, dtype=int)[X.argmax(axis=1)]
    assert len(tree_edges(Y)) == 2
    graphs = multilabel_graphs(X, full_edges(3), 3)
    model = NetworkSVM(C=1.0).fit(graphs, list(Y))
    found = np.array(list(model.predict(graphs)))
    assert (found.sum(axis=1) == 1).mean() > 0.9
    assert multilabel_graphs(sp.csr_array(X), full_edges(3), 3)[0].nodes.shape == (3, 3)


def test_edges_that_training_did_not_have():
    rng = np.random.default_rng(0)

    def graph(*rest):
        return (rng.normal(size=(3, 2)), *rest)

    def fit(X):
        return NetworkSVM(C=1.0).fit(X, [(x[0][:, 0] > 0).astype(int) for x in X])

    path, ends = [(0, 1), (1, 2)], ["a", "b", "a"]
    bare = fit([graph([]) for _ in range(4)])
    with pytest.raises(
        ValueError, match="graph 1, edge 0: the training graphs had no "
    ):
        bare.predict([graph([]), graph(path)])
    typed = fit([graph(path, None, ends) for _ in range(4)])
    with pytest.raises(ValueError, match="edge 1: no edge from 'a' to 'a' was seen"):
        typed.predict([graph([(0, 1), (0, 2)], None, ends)])
    kinds = fit([graph(path, None, None, ["s", "s"]) for _ in range(4)])
    with pytest.raises(ValueError, match="of type 't' was seen in training, so the"):
        kinds.predict([graph(path, None, None, ["s", "t"])])
    # Other edges of the same kind are no problem, nor is a graph with a cycle.
    plain = fit([graph(path) for _ in range(4)])
    assert len(plain.predict([graph([(0, 2), (0, 1), (1, 2)]), graph([])])) == 2


def test_graphs_of_other_libraries_go_into_fit():
    nx = pytest.importorskip("networkx")
    g = nx.path_graph(4)
    nx.set_node_attributes(g, {v: {"x": [float(v)], "size": float(v * v)} for v in g})
    nx.set_edge_attributes(g, {e: {"w": 2.0, "v": [1.0, 3.0]} for e in g.edges})
    labels = ["a", "a", "b", "b"]
    links = sp.csr_array(np.eye(4, k=1))
    data = SimpleNamespace(
        x=np.arange(4.0)[:, None], edge_index=np.array([[0, 1, 2], [1, 2, 3]])
    )
    plain_graph = (np.arange(4.0)[:, None], [[0, 1], [1, 2], [2, 3]])
    model = NetworkSVM(C=10.0).fit([plain_graph], [labels])
    for other in (g, data, (np.arange(4.0)[:, None], links)):
        again = NetworkSVM(C=10.0).fit([other], [labels])
        np.testing.assert_array_equal(again.coef_, model.coef_)
        assert (
            again.predict([other])[0].tolist()
            == model.predict([plain_graph])[0].tolist()
        )
        assert again.score([other], [labels]) == model.score([plain_graph], [labels])
    made, _ = graph_from_networkx(g, ["x", "size"], ["w", "v"])
    assert made.nodes.tolist() == [[0, 0], [1, 1], [2, 4], [3, 9]]
    assert made.edge_features.tolist() == [[2, 1, 3]] * 3
    with pytest.raises(
        ValueError, match="node 0 has no attribute 'z'; it has 'x', 'size'"
    ):
        graph_from_networkx(g, ["x", "z"])
    with pytest.raises(ValueError, match="edge 0 to 1 has no attribute 'z'"):
        graph_from_networkx(g, "x", "z")
    g.nodes[2]["x"] = "blue"
    with pytest.raises(ValueError, match="graph 0: node 2: attribute 'x' is 'blue'"):
        NetworkSVM().fit([g], [labels])
    with pytest.raises(ValueError, match="graph 1: the adjacency matrix has shape"):
        NetworkSVM().fit([plain_graph, (np.ones((3, 1)), links)], [labels, labels[:3]])


def test_labels_of_nodes_may_be_tensors():
    class Tensor(list):
        def detach(self):
            return self

        cpu = detach

    nodes = (np.arange(4.0)[:, None], [[0, 1], [1, 2], [2, 3]])
    model = NetworkSVM(C=10.0).fit([nodes], [Tensor([0, 0, 1, 1])])
    assert list(model.classes_) == [0, 1]
    assert model.predict([nodes])[0].tolist() == [0, 0, 1, 1]
