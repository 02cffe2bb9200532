"""Minimum cuts by the search trees of Boykov and Kolmogorov.

Nodes hang on the source (excess > 0) or on the sink (excess < 0); two trees grow until
they meet, flow is pushed along the path, and nodes whose link is saturated look for a
new parent or leave their tree. Capacities are floats: a push empties its narrowest arc
exactly, so every push makes progress.

[1] Boykov and Kolmogorov 2004, An experimental comparison of min-cut/max-flow
algorithms, section 3.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.graph.tables import Incidence

NONE, TERMINAL, ORPHAN = -1, -2, -3  # parents that are not arcs


def min_cut(
    edges: Labels, near: Incidence, excess: Floats, capacity: Floats
) -> np.ndarray:
    """Nodes on the sink side of a minimum cut.

    Parameters
    ----------
    edges : int32 array (m, 2)
        Pairs of nodes.
    near : Incidence
        Edges at each node.
    excess : array (nodes,)
        Capacity from the source minus capacity to the sink.
    capacity : array (2 m,)
        Of the arcs first -> second (even) and second -> first (odd), >= 0.

    Returns
    -------
    bool array (nodes,)
        True where the source cannot reach the node.
    """
    left, arcs = excess.copy(), capacity.copy()
    return _grow(edges.reshape(-1), near.ptr, near.edge, left, arcs)


@inner_loop
def _push(head, excess, arc, parent, middle, orphan, front):
    """Send flow along the path through `middle`; new orphans go to the front."""
    room = arc[middle]
    for side in range(2):
        v = head[middle ^ 1] if side == 0 else head[middle]
        while parent[v] != TERMINAL:
            a = parent[v]
            room = min(room, arc[a ^ 1] if side == 0 else arc[a])
            v = head[a]
        room = min(room, abs(excess[v]))
    arc[middle] -= room
    arc[middle ^ 1] += room
    size = len(orphan)
    for side in range(2):
        v = head[middle ^ 1] if side == 0 else head[middle]
        while parent[v] != TERMINAL:
            a = parent[v]
            down = a ^ 1 if side == 0 else a
            arc[down] -= room
            arc[down ^ 1] += room
            above = head[a]
            if arc[down] <= 0.0:
                parent[v] = ORPHAN
                front = (front - 1) % size
                orphan[front] = v
            v = above
        excess[v] += -room if side == 0 else room
        if excess[v] == 0.0:
            parent[v] = ORPHAN
            front = (front - 1) % size
            orphan[front] = v
    return front


@inner_loop
def _distance(head, parent, stamp, depth, clock, v):
    """Steps from v to its terminal, or -1 if the way is broken."""
    steps = 0
    u = v
    while True:
        if stamp[u] == clock:
            steps += depth[u]
            break
        a = parent[u]
        steps += 1
        if a == TERMINAL:
            stamp[u] = clock
            depth[u] = 1
            break
        if a in (ORPHAN, NONE):
            return -1
        u = head[a]
    d = steps
    u = v
    while stamp[u] != clock:
        stamp[u] = clock
        depth[u] = d
        d -= 1
        u = head[parent[u]]
    return steps


@inner_loop
def _adopt(
    v, head, ptr, near, arc, parent, sink, stamp, depth, clock, orphan, rear,
    queue, queued, tail,
):  # fmt: skip
    """Find a new parent for v, or free it and make its children orphans."""
    best, nearest = NONE, -1
    for p in range(ptr[v], ptr[v + 1]):
        a = 2 * near[p] if head[2 * near[p] + 1] == v else 2 * near[p] + 1
        open_ = arc[a] if sink[v] else arc[a ^ 1]
        u = head[a]
        if open_ > 0.0 and sink[u] == sink[v] and parent[u] != NONE:
            d = _distance(head, parent, stamp, depth, clock, u)
            if d >= 0 and (nearest < 0 or d < nearest):
                best, nearest = a, d
    parent[v] = best
    if best != NONE:
        stamp[v] = clock
        depth[v] = nearest + 1
        return rear, tail
    for p in range(ptr[v], ptr[v + 1]):
        a = 2 * near[p] if head[2 * near[p] + 1] == v else 2 * near[p] + 1
        u = head[a]
        if sink[u] != sink[v] or parent[u] == NONE:
            continue
        open_ = arc[a] if sink[v] else arc[a ^ 1]
        if open_ > 0.0 and not queued[u]:
            queued[u] = True
            queue[tail] = u
            tail = (tail + 1) % len(queue)
        if parent[u] >= 0 and head[parent[u]] == v:
            parent[u] = ORPHAN
            orphan[rear] = u
            rear = (rear + 1) % len(orphan)
    return rear, tail


@inner_loop
def _meet(v, head, ptr, near, arc, parent, sink, stamp, depth, queue, queued, tail):
    """Grow the tree at v; the arc where it meets the other tree, or NONE."""
    for p in range(ptr[v], ptr[v + 1]):
        a = 2 * near[p] if head[2 * near[p] + 1] == v else 2 * near[p] + 1
        open_ = arc[a ^ 1] if sink[v] else arc[a]
        if open_ <= 0.0:
            continue
        u = head[a]
        if parent[u] == NONE:
            sink[u] = sink[v]
            parent[u] = a ^ 1
            stamp[u] = stamp[v]
            depth[u] = depth[v] + 1
            if not queued[u]:
                queued[u] = True
                queue[tail] = u
                tail = (tail + 1) % len(queue)
        elif sink[u] != sink[v]:
            return (a ^ 1 if sink[v] else a), tail
        elif stamp[u] <= stamp[v] and depth[u] > depth[v] + 1:
            parent[u] = a ^ 1
            stamp[u] = stamp[v]
            depth[u] = depth[v] + 1
    return NONE, tail


@loop
def _grow(ends, ptr, near, excess, arc):
    nodes = len(ptr) - 1
    head = np.empty(len(ends), np.int64)
    for a in range(len(ends)):
        head[a] = ends[a ^ 1]
    parent = np.full(nodes, NONE)
    sink = np.zeros(nodes, np.bool_)
    stamp = np.zeros(nodes, np.int64)
    depth = np.zeros(nodes, np.int64)
    queue = np.empty(nodes + 1, np.int64)
    queued = np.zeros(nodes, np.bool_)
    orphan = np.empty(nodes + 1, np.int64)
    start, tail, front, rear, clock = 0, 0, 0, 0, 0
    for v in range(nodes):
        if excess[v] != 0.0:
            sink[v] = excess[v] < 0.0
            parent[v] = TERMINAL
            depth[v] = 1
            queued[v] = True
            queue[tail] = v
            tail += 1
    while start != tail:
        v = queue[start]
        if parent[v] == NONE:
            queued[v] = False
            start = (start + 1) % len(queue)
            continue
        middle, tail = _meet(
            v, head, ptr, near, arc, parent, sink, stamp, depth, queue, queued, tail
        )
        if middle == NONE:
            queued[v] = False
            start = (start + 1) % len(queue)
            continue
        clock += 1
        front = _push(head, excess, arc, parent, middle, orphan, front)
        while front != rear:
            u = orphan[front]
            front = (front + 1) % len(orphan)
            rear, tail = _adopt(
                u, head, ptr, near, arc, parent, sink, stamp, depth, clock, orphan,
                rear, queue, queued, tail,
            )  # fmt: skip
    out = np.ones(nodes, np.bool_)
    for v in range(nodes):
        if parent[v] != NONE and not sink[v]:
            out[v] = False
    return out
