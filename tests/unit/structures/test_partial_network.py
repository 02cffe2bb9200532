"""Networks with hidden labels: completion by enumeration, training, bad input."""

from itertools import product

import numpy as np
import pytest

from maxmargin import NetworkSVM
from maxmargin.structures.latent import PartialNetwork, part_of
from maxmargin.structures.latent.partial_network import filled
from maxmargin.structures.network import Graph, grid_edges


def example(rng, inference="auto"):
    edges, _ = grid_edges(2, 3)  # a loop: junction tree
    X = [Graph(rng.normal(size=(6, 2)), edges)]
    Y = [["a", None, "b", None, None, "a"]]
    return PartialNetwork(inference).bind(X, Y), X, Y


@pytest.mark.parametrize("seed", range(4))
def test_completion_is_the_best_of_all_that_agree(seed):
    rng = np.random.default_rng(seed)
    network, X, Y = example(rng)
    x = network.encode(X)
    truth = network.encode_labels(x, Y)
    w = rng.normal(size=network.dim)
    ids = np.arange(1)
    done = network.complete(x, ids, w, truth)
    assert network.decode_labels(x, done)[0].tolist() == Y[0]
    plain = network.observed()

    def worth(labels):
        rows = plain.encode_labels(x, [labels])
        return float(plain.features(x, ids, rows).dot(w)[0])

    best = max(
        worth([p if y is None else y for y, p in zip(Y[0], pick, strict=True)])
        for pick in product("ab", repeat=6)
    )
    value = float(network.features(x, ids, done).dot(w)[0])
    assert value == pytest.approx(best)


def trees(rng, n):
    """Stars: leaves carry the middle's label in their features, faintly."""
    X, Y = [], []
    edges = [[0, v] for v in range(1, 6)]
    for _ in range(n):
        kind = int(rng.integers(2))
        labels = [kind] + [kind if rng.random() < 0.9 else 1 - kind for _ in range(5)]
        nodes = np.array(labels)[:, None] + rng.normal(scale=0.8, size=(6, 1))
        X.append(Graph(nodes, edges))
        Y.append(labels)
    return X, Y


def test_hidden_labels_are_better_than_dropped_trees():
    rng = np.random.default_rng(0)
    X, Y = trees(rng, 60)
    hidden = [[None if rng.random() < 0.4 else y for y in row] for row in Y]
    whole = [i for i, row in enumerate(hidden) if None not in row]
    test = trees(rng, 200)
    latent = NetworkSVM(C=0.5, tol=0.01).fit(X, hidden)
    dropped = NetworkSVM(C=0.5, tol=0.01).fit(
        [X[i] for i in whole], [Y[i] for i in whole]
    )
    assert latent.score(*test) > dropped.score(*test)
    assert (np.diff(latent.result_.outer["objective"]) <= 1e-9).all()
    assert latent.predict(X)[0].tolist()[0] in (0, 1)
    assert not hasattr(latent, "init") or latent.init is None


def test_parts_and_fills():
    graph = Graph(np.arange(8.0).reshape(4, 2), np.array([[0, 1], [1, 2], [2, 3]]),
                  np.ones((3, 1)), None, ["p", "q", "p"])  # fmt: skip
    part = part_of(graph, np.array([True, False, True, True]))
    assert part.edges.tolist() == [[1, 2]]
    assert part.edge_types == ["p"]
    assert part.nodes[:, 0].tolist() == [0.0, 4.0, 6.0]
    X = [([[1.0], [2.0]], [], None, ["s", "t"])]
    with pytest.raises(ValueError, match="type 't' are None"):
        filled(X, [["a", None]])


def test_bad_input():
    X, Y = trees(np.random.default_rng(1), 3)
    hidden = [[None, *row[1:]] for row in Y]
    with pytest.raises(ValueError, match="kernel"):
        NetworkSVM(kernel="quadratic").fit(X, hidden)
    with pytest.raises(ValueError, match="6 nodes, but 5 labels"):
        NetworkSVM().fit(X, [hidden[0][:5], *hidden[1:]])
    with pytest.raises(ValueError, match="cannot leave out"):
        NetworkSVM(loss="zero-one").fit(X, hidden)
