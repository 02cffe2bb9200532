"""Tiny networks with cycles, node and edge types, edge features, sparse nodes."""

import numpy as np
import scipy.sparse as sp

from cases.network import outputs
from maxmargin.losses import Hamming, ZeroOne
from maxmargin.structures.network import Graph, Network

LOSSES = [Hamming(), Hamming(class_weight=[1.0, 2.0, 0.5, 1.0]), ZeroOne()]
LABELS = {"page": [0, 1, 2], "link": [2, 7]}
same = np.array_equal

__all__ = ["LOSSES", "outputs", "same", "tiny"]


def _graph(rng, types, edges):
    n, m = len(types), len(edges)
    nodes = sp.random_array((n, 4), density=0.5, rng=rng, format="csr")
    links = rng.integers(0, 2, m) if m else None
    extra = rng.normal(size=(m, 2)) if m else None
    labels = [int(rng.choice(LABELS[t])) for t in types]
    return Graph(nodes, edges, extra, types, links), labels


def tiny(rng):
    """Low treewidth: exact by a junction tree."""
    page, link = "page", "link"
    pairs = [
        _graph(rng, [page, page, link], [[0, 1], [0, 2], [1, 2]]),
        _graph(rng, [link], []),
        _graph(rng, [page, page, page, link], [[0, 1], [1, 2], [2, 0], [2, 3]]),
    ]
    pairs[0] = (pairs[0][0], [0, 1, 7])  # so that all labels occur
    pairs[2] = (pairs[2][0], [2, 1, 0, 2])
    X, Y = zip(*pairs, strict=True)
    return Network(inference="junction"), list(X), list(Y)
