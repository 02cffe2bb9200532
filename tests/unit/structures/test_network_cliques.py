"""Cliques in NetworkSVM: chains of order two, patterns, relaxations, and refusals."""

import io
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import ChainSVM, NetworkSVM, StructuralSVM, load
from maxmargin.io import FormatError, read_graphs, write_graphs
from maxmargin.structures.network import CliqueNetwork, Graph, Network


def sentences(n=12, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for m in rng.integers(1, 6, n):
        y = rng.integers(0, 2, m)
        for t in range(2, m):
            y[t] = y[t - 1] ^ y[t - 2] if rng.random() < 0.9 else y[t]
        X.append(np.eye(2)[y] + rng.normal(size=(m, 2)))
        Y.append(y.tolist())
    return X, Y


def as_graphs(X, order=2):
    return [
        Graph(
            x,
            [[t, t + 1] for t in range(len(x) - 1)],
            cliques=[list(range(t, t + order + 1)) for t in range(len(x) - order)],
        )
        for x in X
    ]


def test_a_chain_of_order_two_is_a_network_with_cliques_of_three():
    X, y = sentences()
    settings = {"C": 0.7, "tol": 1e-8, "bias": True}
    chain = ChainSVM(order=2, start_end=False, **settings).fit(X, y)
    network = NetworkSVM(**settings).fit(as_graphs(X), y)
    assert network.certificate_ == network.result_.certificate == "exact"
    assert network.result_.dual == pytest.approx(chain.result_.dual, rel=1e-6)
    assert len(network.coef_) == len(chain.coef_)
    fresh, _ = sentences(8, seed=9)
    for a, b in zip(
        network.predict(as_graphs(fresh)), chain.predict(fresh), strict=True
    ):
        assert a.tolist() == list(b)


def test_a_clique_of_two_nodes_is_an_edge():
    X, y = sentences()
    edges = [Graph(x, [[t, t + 1] for t in range(len(x) - 1)]) for x in X]
    pairs = [Graph(x, [], cliques=[[t, t + 1] for t in range(len(x) - 1)]) for x in X]
    asked = partial(NetworkSVM, C=0.7, tol=1e-8)
    expected, found = asked().fit(edges, y), asked().fit(pairs, y)
    assert found.result_.dual == pytest.approx(expected.result_.dual, rel=1e-6)
    potts = asked(pairwise="potts").fit(edges, y).result_
    equal = asked(cliques="equal").fit(pairs, y).result_
    assert equal.dual == pytest.approx(potts.dual, rel=1e-6)


def triples(n=40, seed=0):
    """Three nodes of which at most one is "x"; inputs hardly tell them apart."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        y = ["o", "o", "o"]
        if rng.random() < 0.8:
            y[rng.integers(3)] = "x"
        values = [[1.2 * (label == "x") + 0.6 * rng.normal()] for label in y]
        X.append(Graph(values, [], cliques=[[0, 1, 2]]))
        Y.append(y)
    return X, Y


def test_at_most_one_is_learned_as_one_weight():
    X, y = triples()
    model = NetworkSVM(C=1.0, cliques=("at most", 1, "x")).fit(X, y)
    names = model.structure_.feature_names()
    assert names[-1] == "clique:at most 1 x"
    assert model.coef_[-1] > 0.5
    bare = NetworkSVM(C=1.0).fit([x._replace(cliques=None) for x in X], y)
    fresh, truth = triples(200, seed=1)
    assert model.score(fresh, truth) > bare.score(
        [x._replace(cliques=None) for x in fresh], truth
    )
    told = model.explain(X[0])
    assert any(part.name.startswith("clique 0-1-2") for part in told.parts)


@pytest.mark.parametrize("inference", ["lp", "trws", "loopy"])
def test_approximate_inference_says_so_and_bounds_the_exact_optimum(inference):
    X, y = sentences()
    graphs = as_graphs(X)
    asked = partial(NetworkSVM, C=0.5, tol=1e-4, max_iter=60)
    exact = asked().fit(graphs, y).result_
    with warnings.catch_warnings():  # message passing may leave a gap
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = asked(inference=inference).fit(graphs, y)
    assert model.certificate_ == ("relaxed" if inference == "lp" else "bound")
    # Chains have no gap between labels and relaxation: the LP ends at the optimum.
    assert model.result_.dual <= exact.primal * (1 + 1e-6)
    assert model.result_.primal >= exact.dual * (1 - 1e-6)
    if inference == "lp":
        assert model.result_.primal == pytest.approx(exact.primal, rel=1e-3)


def test_relaxed_training_uses_fractional_planes():
    """A frustrated ring of pairs that a clique of two does not resolve."""
    rng = np.random.default_rng(0)
    ring = [[0, 1], [1, 2], [2, 0]]
    X = [Graph(rng.normal(size=(3, 2)), [], cliques=ring) for _ in range(6)]
    y = [rng.integers(0, 2, 3).tolist() for _ in X]
    relaxed = NetworkSVM(C=5.0, inference="lp", tol=1e-4, max_iter=100).fit(X, y)
    exact = NetworkSVM(C=5.0, tol=1e-6).fit(X, y)
    assert relaxed.result_.primal >= exact.result_.primal * (1 - 1e-6)
    assert relaxed.result_.dual >= exact.result_.dual * (1 - 1e-3)


def test_models_with_cliques_are_saved_and_checked():
    X, y = triples(10)
    model = NetworkSVM(cliques={None: "equal"}).fit(X, y)
    file = io.BytesIO()
    model.save(file)
    again = load(io.BytesIO(file.getvalue()))
    for a, b in zip(model.predict(X), again.predict(X), strict=True):
        assert a.tolist() == b.tolist()
    broken = model.structure_.cliques._replace(map=model.structure_.cliques.map + 5)
    with pytest.raises(ValueError, match="layout of cliques"):
        CliqueNetwork(
            kinds=model.structure_.kinds, layout=model.structure_.layout,
            patterns={None: "equal"}, cliques=broken,
        ).validate()  # fmt: skip


def test_mistakes_are_named():
    X, y = triples(3)
    bad = X[1]._replace(cliques=[[0, 5]])
    with pytest.raises(
        ValueError, match=r"graph 1, clique 0: \[0, 5\] leaves the graph"
    ):
        NetworkSVM().fit([X[0], bad], y[:2])
    with pytest.raises(ValueError, match="has a node more than once"):
        NetworkSVM().fit([X[0]._replace(cliques=[[0, 1, 0]])], y[:1])
    with pytest.raises(ValueError, match="two or more node numbers"):
        NetworkSVM().fit([X[0]._replace(cliques=[[0]])], y[:1])
    with pytest.raises(ValueError, match="clique_types has 2 entries for 1 cliques"):
        NetworkSVM().fit([X[0]._replace(clique_types=["a", "b"])], y[:1])
    with pytest.raises(ValueError, match="a tuple of patterns or a dict is needed"):
        NetworkSVM(cliques="ring").fit(X, y)
    with pytest.raises(ValueError, match="no clique has type 'ring'"):
        NetworkSVM(cliques={"ring": "equal"}).fit(X, y)
    with pytest.raises(ValueError, match="'z' is not a label of these nodes"):
        NetworkSVM(cliques=("at most", 1, "z")).fit(X, y)
    with pytest.raises(
        ValueError, match="inference='cut' is not available for cliques"
    ):
        NetworkSVM(inference="cut").fit(X, y)
    with pytest.raises(
        ValueError, match="cannot be trained with a kernel: leave out kernel"
    ):
        NetworkSVM(kernel="rbf").fit(X, y)
    with pytest.raises(ValueError, match="too wide for inference='trws', and solver"):
        NetworkSVM(solver="smo", inference="trws").fit(X, y)
    with pytest.raises(
        ValueError, match="are not available for graphs with cliques: give all labels"
    ):
        NetworkSVM().fit(X, [[None, "o", "x"], *y[1:]])
    with pytest.raises(ValueError, match="graph 0 has cliques, but this network"):
        StructuralSVM(Network()).fit(X, y)
    model = NetworkSVM().fit(X, y)
    with pytest.raises(
        ValueError, match="clique 0: no clique of type None over 2 nodes"
    ):
        model.predict([X[0]._replace(cliques=[[0, 1]])])


def test_cliques_travel_through_files(tmp_path):
    X, y = triples(4)
    X[0] = X[0]._replace(clique_types=["line"])
    write_graphs(tmp_path / "graphs.jsonl", X, y)
    again, labels, _ = read_graphs(tmp_path / "graphs.jsonl")
    assert labels == y
    for before, after in zip(X, map(lambda x: Graph(*x), again), strict=True):
        assert after.cliques == before.cliques
        assert after.clique_types == before.clique_types
    bad = '{"nodes": [[1.0]], "edges": [], "cliques": [[0, 3]]}'
    (tmp_path / "bad.jsonl").write_text(bad)
    with pytest.raises(FormatError, match=r"clique 0 is \[0, 3\], not two or more"):
        read_graphs(tmp_path / "bad.jsonl")
    (tmp_path / "bad.jsonl").write_text(bad.replace("cliques", "clique_types"))
    with pytest.raises(FormatError, match="but no"):
        read_graphs(tmp_path / "bad.jsonl")


def test_a_clique_that_is_too_wide_is_refused_with_its_size():
    y = [[str(v) for v in range(10)]]
    X = [Graph(np.eye(10), [], cliques=[list(range(8))])]
    with pytest.raises(
        ValueError, match=r"its 8 nodes have 1e\+08 joint labels.* split"
    ):
        NetworkSVM().fit(X, y)


def test_patterns_without_cliques_are_not_passed_over_in_silence():
    X = [Graph(np.eye(2), [[0, 1]])] * 3
    with pytest.warns(
        UserWarning, match=r"cliques='equal' is not used: no training graph"
    ):
        NetworkSVM(C=1.0, cliques="equal").fit(X, [["a", "b"]] * 3)
