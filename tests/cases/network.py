"""Tiny networks of every kind, and all their outputs."""

from itertools import product

import numpy as np

from maxmargin.losses import Hamming, ZeroOne
from maxmargin.structures.network import Graph, Network

COST = [[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [1.0, 3.0, 0.0]]
LOSSES = [Hamming(), Hamming(cost=COST, normalize=True), ZeroOne()]


def _graph(rng, nodes, edges):
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, nodes)]
    return Graph(rng.normal(size=(nodes, 2)), edges), labels.tolist()


def tiny(rng):
    """Forests of untyped nodes: everything is exact."""
    pairs = [
        _graph(rng, 3, [[0, 1], [2, 1]]),
        _graph(rng, 1, []),
        _graph(rng, 4, [[0, 1], [3, 2]]),
        _graph(rng, 4, [[1, 0], [1, 2], [1, 3]]),
    ]
    pairs[0] = (pairs[0][0], ["a", "b", "c"])  # so that all labels occur
    X, Y = zip(*pairs, strict=True)
    return Network(), list(X), list(Y)


def outputs(structure, x, i):
    """All labellings of graph i, as codes."""
    types = x.node_type[x.node_ptr[i] : x.node_ptr[i + 1]]
    layout = structure.layout
    sets = [
        layout.label[layout.label_ptr[t] : layout.label_ptr[t + 1]].tolist()
        for t in types
    ]
    return [list(row) for row in product(*sets)]
