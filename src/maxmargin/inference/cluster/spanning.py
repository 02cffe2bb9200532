"""Maximum spanning forests of a complete graph.

    argmax_h  sum_{(i, j) in h} score_ij,     h a forest

Kruskal's forest leaves out edges with negative scores: it is the maximum spanning tree
without them. On a complete graph the tree is found faster by Prim's algorithm, which
needs no sort: O(m^2) for m vertices, the size of the input.

Pairs i < j are numbered j (j - 1) / 2 + i. A forest is a parent per vertex, each tree
hung on its smallest vertex, which is its own parent: one code for one forest.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels
from maxmargin.core.jit import inner_loop, loop


def spanning_forest(m: int, score: Floats) -> Labels:
    """The best forest on m vertices; pairs with score <= 0 are not linked.

    Examples
    --------
    >>> spanning_forest(3, np.array([2.0, -1.0, 1.0])).tolist()  # 01, 02, 12
    [0, 0, 1]
    """
    return _forest(m, score, np.zeros(m, np.int32), 0.0)


def spanning_trees(cluster: Labels, score: Floats) -> Labels:
    """The best forest with exactly the given clusters as its trees.

    Examples
    --------
    >>> score = np.array([-2.0, 5.0, -1.0])
    >>> spanning_trees(np.array([0, 0, 0], np.int32), score).tolist()
    [0, 2, 0]
    """
    return _forest(len(cluster), score, cluster, -np.inf)


def components(parent: Labels) -> Labels:
    """Cluster of each vertex, numbered by first appearance.

    Examples
    --------
    >>> components(np.array([0, 3, 0, 3], np.int32)).tolist()
    [0, 1, 0, 1]
    """
    return _components(parent)


@loop
def _forest(m, score, cluster, least):
    """Prim's algorithm within clusters; edges of at most `least` are left out."""
    link = np.full(m, -1, np.int64)
    key = np.full(m, -np.inf)
    done = np.zeros(m, np.bool_)
    best = 0
    for _ in range(m):
        if key[best] <= least:
            link[best] = -1
        done[best] = True
        following = -1  # the best of the others, found while their keys are raised
        for v in range(m):
            if done[v]:
                continue
            if cluster[v] == cluster[best]:
                a, b = min(v, best), max(v, best)
                s = score[b * (b - 1) // 2 + a]
                if s > key[v] or link[v] < 0:
                    key[v], link[v] = s, best
            if following < 0 or key[v] > key[following]:
                following = v
        best = following
    return _hang(m, link)


@inner_loop
def _hang(m, link):
    """Trees given by undirected links, each hung on its smallest vertex."""
    degree = np.zeros(m + 1, np.int64)
    for v in range(m):
        if link[v] >= 0:
            degree[v] += 1
            degree[link[v]] += 1
    start = np.zeros(m + 1, np.int64)
    for v in range(m):
        start[v + 1] = start[v] + degree[v]
    fill, near = start[:m].copy(), np.empty(start[m], np.int64)
    for v in range(m):
        if link[v] >= 0:
            near[fill[v]], near[fill[link[v]]] = link[v], v
            fill[v] += 1
            fill[link[v]] += 1
    parent = np.full(m, -1, np.int32)
    stack = np.empty(m, np.int64)
    for root in range(m):
        if parent[root] >= 0:
            continue
        parent[root], stack[0], size = root, root, 1
        while size > 0:
            size -= 1
            v = stack[size]
            for p in range(start[v], start[v + 1]):
                u = near[p]
                if parent[u] < 0:
                    parent[u] = v
                    stack[size] = u
                    size += 1
    return parent


@loop
def _components(parent):
    m = len(parent)
    root, name = np.full(m, -1, np.int64), np.full(m, -1, np.int32)
    path, out = np.empty(m, np.int64), np.empty(m, np.int32)
    count = 0
    for v in range(m):
        u, size = v, 0
        while root[u] < 0 and parent[u] != u:
            path[size] = u
            size += 1
            u = parent[u]
        top = root[u] if root[u] >= 0 else u
        root[u] = top
        for p in range(size):
            root[path[p]] = top
        if name[top] < 0:
            name[top] = count
            count += 1
        out[v] = name[top]
    return out
