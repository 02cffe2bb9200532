"""Small graphs with a cycle, and labels that depend on the features of their nodes."""

from maxmargin.structures.network import Graph

RING = [[0, 1], [1, 2], [2, 0]]


def ring_data(rng, n=12, k=2, nodes=3, edges=RING):
    X = [Graph(rng.normal(size=(nodes, 3)), edges) for _ in range(n)]
    turn = rng.normal(size=(3, k))
    Y = [(x.nodes @ turn).argmax(axis=1).tolist() for x in X]
    Y[0] = [q % k for q in range(nodes)]
    return X, Y
