"""Trees of a forest: the k best, and the best for each pair of bracket counts.

`k_best` expands partial trees from the root down; a partial tree is worth what is
decided plus the best of what is open, which is the score of its best completion, so
trees come out in order and only k partial trees are ever kept.

`strata` keeps, for each node, the best score s for each pair (m, e) of brackets in and
not in a given set, as far as some tree may need it. A point (m, e, s) goes if

    another one has m' <= m, e' >= e, s' >= s,

because 1 - F1 = 1 - 2 m / (m + e + g) only grows with fewer m and more e, whatever the
rest of the tree adds to both: the other point gives a better tree in every formulation;

    or s + outer[k] <= need[m + k, e + f] for all k,

where need is the score that a tree of such counts must have to be of interest, outer[k]
the best score around the node with k brackets in the set, f the most others there are
(`by_match`): only one of the two counts is stratified to find these bounds.

[1] Huang and Chiang 2005, Better k-best parsing.
[2] Tsochantaridis et al. 2005, section 4.5.2; Joachims 2005 (stratification).
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop, loop


@inner_loop
def groups(edge, nodes):
    """First edge of each node and one past its last; none for one node more."""
    first, last = np.zeros(nodes + 1, np.int64), np.zeros(nodes + 1, np.int64)
    for t in range(len(edge)):
        if t == 0 or edge[t, 0] != edge[t - 1, 0]:
            first[edge[t, 0]] = t
        last[edge[t, 0]] = t + 1
    return first, last


@loop
def k_best(edge, value, nodes, bonus, k):
    """Scores (with bonus) of the k best trees and their edges from the root down."""
    first, last = groups(edge, nodes)
    worth, inner = _inner(edge, value, nodes, bonus)
    state = np.empty((64, 3), np.int64)  # state before, edge taken, next open span
    todo = np.empty((64, 2), np.int64)  # node, next open span
    count = np.zeros(2, np.int64)
    score, front = np.empty(k), np.empty(k, np.int64)
    found, final = np.empty(k), np.empty(k, np.int64)
    size = done = node = np.int64(0)
    before, rest, v = np.int64(-1), np.int64(-1), inner[0]
    while done < k and len(edge) > 0:
        for t in range(first[node], last[node]):
            own = v - inner[node] + worth[t]
            if size < k - done:
                at = size
                size += 1
            else:
                at = _lowest(score, size)
                if own <= score[at]:
                    continue
            score[at], front[at] = own, count[0]
            state, todo = _taken(state, todo, count, before, t, edge, rest)
        if size == 0:
            break
        at = _highest(score, size)
        before, v = front[at], score[at]
        size -= 1
        front[at], score[at] = front[size], score[size]
        rest = state[before, 2]
        if rest < 0:
            found[done], final[done] = v, before
            done += 1
            node = nodes  # nothing to expand
        else:
            node, rest = todo[rest, 0], todo[rest, 1]
    ptr, path = _paths(state, final[:done])
    return found[:done], ptr, path


@inner_loop
def _lowest(score, size):
    at = 0
    for q in range(size):
        at = q if score[q] < score[at] else at
    return at


@inner_loop
def _highest(score, size):
    at = 0
    for q in range(size):
        at = q if score[q] > score[at] else at
    return at


@inner_loop
def _doubled(table):
    """The same table with room for as many rows more."""
    out = np.empty((2 * table.shape[0], table.shape[1]), np.int64)
    for q in range(table.shape[0]):
        for t in range(table.shape[1]):
            out[q, t] = table[q, t]
    return out


@inner_loop
def _inner(edge, value, nodes, bonus):
    """Best score through each edge, and below each node, with bonus."""
    worth, inner = np.empty(len(edge)), np.full(nodes + 1, -np.inf)
    for t in range(len(edge) - 1, -1, -1):
        v = value[t] + bonus.bracket * (edge[t, 6] + edge[t, 7])
        v += bonus.match * edge[t, 6]
        for side in range(1, 3):
            if edge[t, side] >= 0:
                v += inner[edge[t, side]]
        worth[t] = v
        if v > inner[edge[t, 0]]:
            inner[edge[t, 0]] = v
    return worth, inner


@inner_loop
def _taken(state, todo, count, before, t, edge, rest):
    """Write down the partial tree that takes edge t next."""
    if count[0] == len(state):
        state = _doubled(state)
    for side in range(2, 0, -1):
        if edge[t, side] >= 0:
            if count[1] == len(todo):
                todo = _doubled(todo)
            todo[count[1], 0], todo[count[1], 1] = edge[t, side], rest
            rest = count[1]
            count[1] += 1
    here = count[0]
    state[here, 0], state[here, 1], state[here, 2] = before, t, rest
    count[0] += 1
    return state, todo


@inner_loop
def _paths(state, final):
    """Edges of each finished tree, the root first."""
    ptr = np.zeros(len(final) + 1, np.int64)
    for q in range(len(final)):
        s = final[q]
        ptr[q + 1] = ptr[q]
        while s >= 0:
            ptr[q + 1] += 1
            s = state[s, 0]
    path = np.empty(ptr[-1], np.int64)
    for q in range(len(final)):
        s, at = final[q], ptr[q + 1]
        while s >= 0:
            at -= 1
            path[at] = state[s, 1]
            s = state[s, 0]
    return ptr, path


@loop
def by_match(edge, value, nodes, g):
    """Bounds by the brackets m <= g in the set, whatever the others are.

    Best scores of whole trees by m (-inf: none) and the other brackets e of such a
    tree; for each node the best score of what surrounds it by m, and its most e.
    """
    inner, outer = np.full((2, nodes + 1, g + 1), -np.inf)
    misses = np.zeros((nodes + 1, g + 1), np.int64)  # e of the best tree
    most = np.zeros((3, nodes + 1), np.int64)  # m, e below; e around
    inner[nodes, 0] = outer[0, 0] = 0.0  # the last node stands for none, -1
    for t in range(len(edge) - 1, -1, -1):
        _raise(edge, value, t, inner, misses, most)
    for t in range(len(edge)):
        _lower(edge, value, t, inner, outer, most)
    return inner[0].copy(), misses[0].copy(), outer, most[2], most[1, 0]


@inner_loop
def _raise(edge, value, t, inner, misses, most):
    """Best scores below an edge into those of its node."""
    head, one, two = edge[t, 0], edge[t, 1], edge[t, 2]
    for a in range(most[0, one] + 1):
        s = value[t] + inner[one, a]
        for b in range(most[0, two] + 1 if s > -np.inf else 0):
            m, v = edge[t, 6] + a + b, s + inner[two, b]
            if v > -np.inf and v >= inner[head, m]:
                e = edge[t, 7] + misses[one, a] + misses[two, b]
                if v > inner[head, m] or e > misses[head, m]:
                    inner[head, m], misses[head, m] = v, e
                    most[0, head] = max(most[0, head], m)
    e = edge[t, 7] + most[1, one] + most[1, two]
    most[1, head] = max(most[1, head], e)


@inner_loop
def _lower(edge, value, t, inner, outer, most):
    """Best scores around an edge's node, with one side of it, around the other."""
    head, m, e = edge[t, 0], edge[t, 6], edge[t, 7] + most[2, edge[t, 0]]
    for side in range(1, 3):
        low, other = edge[t, side], edge[t, 3 - side]
        if low < 0:
            continue
        most[2, low] = max(most[2, low], e + most[1, other])
        for k in range(outer.shape[1] - m):
            s = outer[head, k] + value[t]
            last = min(most[0, other], outer.shape[1] - 1 - m - k)
            for a in range(last + 1 if s > -np.inf else 0):
                v = s + inner[other, a]
                if v > outer[low, k + m + a]:
                    outer[low, k + m + a] = v


@loop
def strata(node, edge, value, outer, around, need, shift):
    """Points (m, e, score) of the root, and the edges of a tree for each of them.

    `need` by m and e + shift: counts e of edges may be negative, as long as no sum is
    below -shift. It must not grow with e.
    """
    nodes = len(node)
    grid = np.full(need.shape, -np.inf)  # at m, e + shift
    how = np.empty((*need.shape, 3), np.int64)  # edge, two points
    first, last = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    point = np.empty((256, 5), np.int64)  # m, e, edge, two points
    score = np.empty(256)
    size = np.int64(0)
    stop = len(edge)
    while stop > 0:
        head = edge[stop - 1, 0]
        start = stop - 1
        while start > 0 and edge[start - 1, 0] == head:
            start -= 1
        high_m = high_e = np.int64(-1)
        for t in range(start, stop):
            m, e = _spread(edge, value, t, first, last, point, score, shift, grid, how)
            high_m, high_e = max(high_m, m), max(high_e, e)
        while len(point) < size + (high_m + 1) * (high_e + 1):
            point = _doubled(point)
            longer = np.empty(len(point))
            for p in range(size):
                longer[p] = score[p]
            score = longer
        first[head] = size
        bounds = outer[head], around[head], need
        size = _front(grid, how, high_m, high_e, shift, bounds, point, score, size)
        last[head] = size
        stop = start
    a, b = first[0], last[0]
    ptr, path = _trees(point, a, b, 4 * node[0, 1] + 1)
    return point[a:b, :2].copy(), score[a:b].copy(), ptr, path


@inner_loop
def _spread(edge, value, t, first, last, point, score, shift, grid, how):
    """Put all sums of points below edge t into the grid; the highest m and e."""
    one, two = edge[t, 1], edge[t, 2]
    a, b = (first[one], last[one]) if one >= 0 else (-1, 0)
    c, d = (first[two], last[two]) if two >= 0 else (-1, 0)
    high_m, high_e = np.int64(-1), np.int64(-1)
    for p in range(a, b):
        for q in range(c, d):
            m, e, s = np.int64(edge[t, 6]), np.int64(edge[t, 7]), value[t]
            if p >= 0:
                m, e, s = m + point[p, 0], e + point[p, 1], s + score[p]
            if q >= 0:
                m, e, s = m + point[q, 0], e + point[q, 1], s + score[q]
            at = e + shift
            if s > grid[m, at]:
                grid[m, at] = s
                how[m, at, 0], how[m, at, 1], how[m, at, 2] = t, p, q
                high_m, high_e = max(high_m, m), max(high_e, at)
    return high_m, high_e


@inner_loop
def _front(grid, how, high_m, high_e, shift, bounds, point, score, size):
    """Keep the points that some tree may need, and clear the grid."""
    best = np.full(high_m + 1, -np.inf)
    for e in range(high_e, -1, -1):
        above = -np.inf
        for m in range(high_m + 1):
            above = max(above, best[m])
            s = grid[m, e]
            if s > above:
                above = s
                if _needed(m, e, s, bounds):
                    point[size, 0], point[size, 1] = m, e - shift
                    for side in range(3):
                        point[size, 2 + side] = how[m, e, side]
                    score[size] = s
                    size += 1
            best[m] = above
            grid[m, e] = -np.inf
    return size


@inner_loop
def _needed(m, e, s, bounds):
    """Whether any tree with this point may have the score it needs."""
    outer, around, need = bounds
    last = min(e + around, need.shape[1] - 1)
    found = False
    for k in range(need.shape[0] - m):
        found |= s + outer[k] > need[m + k, last]
    return found


@inner_loop
def _trees(point, a, b, most):
    """Edges of the tree of each point a .. b - 1, the root first."""
    ptr = np.zeros(b - a + 1, np.int64)
    path = np.empty(most * (b - a), np.int64)
    stack = np.empty(most + 2, np.int64)
    size = 0
    for q in range(a, b):
        stack[0] = q
        depth = 1
        while depth > 0:
            depth -= 1
            p = stack[depth]
            path[size] = point[p, 2]
            size += 1
            for side in range(4, 2, -1):
                if point[p, side] >= 0:
                    stack[depth] = point[p, side]
                    depth += 1
        ptr[q - a + 1] = size
    return ptr, path[:size]
