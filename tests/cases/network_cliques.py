"""Tiny networks with cliques: tables and patterns, and all their outputs."""

import numpy as np

from cases.network import outputs as outputs
from maxmargin.losses import Hamming, ZeroOne
from maxmargin.structures.network import CliqueNetwork, Graph

LOSSES = [Hamming(), Hamming(normalize=True), ZeroOne()]
PATTERNS = {"same": "equal", "few": ("at most", 1, "b")}


def _graph(rng, nodes, edges, cliques, types):
    labels = np.array(["a", "b"])[rng.integers(0, 2, nodes)]
    features = rng.normal(size=(nodes, 2))
    graph = Graph(features, edges, cliques=cliques, clique_types=types)
    return graph, labels.tolist()


def tiny(rng):
    """Two labels; cliques of two to four nodes that overlap, and graphs without any."""
    pairs = [
        _graph(rng, 3, [[0, 1]], [[2, 0, 1]], ["all"]),
        _graph(rng, 4, [[0, 1], [2, 3]], [[0, 1, 2], [3, 2, 1, 0]], ["all", "same"]),
        _graph(rng, 2, [[1, 0]], None, None),
        _graph(rng, 4, [], [[3, 1, 0], [1, 2]], ["few", "two"]),
    ]
    pairs[0] = (pairs[0][0], ["a", "b", "a"])  # so that all labels occur
    X, Y = zip(*pairs, strict=True)
    return CliqueNetwork(patterns=PATTERNS), list(X), list(Y)
