"""Loops of the network: fill tables, read features, differences to the truth.

A node v of type t has scores <vector, weights of (t, label)>; an edge of class c has
the table  sum_f w[pair_at[c] + map[a, b] * width + f] * feature f  over label pairs.
Node v has vector row[v]. The arguments are the first ten fields of `inputs.Graphs`.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import fill_scores
from maxmargin.core.jit import inner_loop, loop


@loop
def sizes(ids, node_ptr, edge_ptr, node_type, layout):
    """Pointers to the nodes, edges and labels of the examples asked about."""
    nodes = np.zeros(len(ids) + 1, np.int64)
    links = np.zeros(len(ids) + 1, np.int64)
    for q in range(len(ids)):
        i = ids[q]
        nodes[q + 1] = nodes[q] + node_ptr[i + 1] - node_ptr[i]
        links[q + 1] = links[q] + edge_ptr[i + 1] - edge_ptr[i]
    label_ptr = np.zeros(nodes[-1] + 1, np.int64)
    for q in range(len(ids)):
        for j in range(nodes[q + 1] - nodes[q]):
            t = node_type[node_ptr[ids[q]] + j]
            k = layout.label_ptr[t + 1] - layout.label_ptr[t]
            label_ptr[nodes[q] + j + 1] = k
    for v in range(len(label_ptr) - 1):
        label_ptr[v + 1] += label_ptr[v]
    return nodes, links, label_ptr


@loop
def fill_unary(
    ids, node_ptr, node_type, row, ptr, idx, val, layout, w, nodes, label_ptr
):
    """Scores of the labels of all nodes."""
    unary = np.empty(label_ptr[-1])
    for q in range(len(ids)):
        for j in range(nodes[q + 1] - nodes[q]):
            r = node_ptr[ids[q]] + j
            t = node_type[r]
            v = nodes[q] + j
            k = label_ptr[v + 1] - label_ptr[v]
            fill_scores(
                ptr, idx, val, layout.width[t], row[r], w[layout.node_at[t] :], k,
                unary[label_ptr[v] :],
            )  # fmt: skip
    return unary


@inner_loop
def _fill_table(layout, c, edge_val, at, w, out):
    """One table; edges without features have the constant alone."""
    width = layout.edge_width
    for entry in range(layout.map_ptr[c + 1] - layout.map_ptr[c]):
        p = layout.pair_map[layout.map_ptr[c] + entry]
        s = 0.0
        if p >= 0:
            first = layout.pair_at[c] + p * width
            if layout.shared:
                s = w[first]
            else:
                for f in range(width):
                    s += w[first + f] * edge_val[at + f]
        out[entry] = s


@loop
def fill_pairwise(ids, edge_ptr, edges, edge_class, edge_val, layout, w, nodes, links):
    """Ends and tables of all edges; one table per class where they are shared."""
    m = links[-1]
    ends = np.empty((m, 2), np.int32)
    start = np.zeros(m, np.int64)
    size = 0
    if layout.shared:
        size = layout.map_ptr[-1]
    else:
        for q in range(len(ids)):
            for e in range(edge_ptr[ids[q]], edge_ptr[ids[q] + 1]):
                c = edge_class[e]
                size += layout.map_ptr[c + 1] - layout.map_ptr[c]
    pairwise = np.empty(size)
    if layout.shared:
        for c in range(len(layout.map_ptr) - 1):
            _fill_table(layout, c, edge_val, 0, w, pairwise[layout.map_ptr[c] :])
    at = 0
    for q in range(len(ids)):
        first = edge_ptr[ids[q]]
        for j in range(links[q + 1] - links[q]):
            e = first + j
            out = links[q] + j
            c = edge_class[e]
            ends[out, 0] = edges[e, 0] + nodes[q]
            ends[out, 1] = edges[e, 1] + nodes[q]
            if layout.shared:
                start[out] = layout.map_ptr[c]
            else:
                start[out] = at
                _fill_table(
                    layout, c, edge_val, e * layout.edge_width, w, pairwise[at:]
                )
                at += layout.map_ptr[c + 1] - layout.map_ptr[c]
    return ends, start, pairwise


@loop
def fill_shared(layout, w):
    """Tables of all edge classes, for edges without features."""
    out = np.empty(layout.map_ptr[-1])
    nothing = np.empty(0)
    for c in range(len(layout.map_ptr) - 1):
        _fill_table(layout, c, nothing, 0, w, out[layout.map_ptr[c] :])
    return out


@inner_loop
def _group_room(g, dim, node_at, nodes, link_at, links, where, row, ptr, layout,
                label_ptr, pair_ptr):  # fmt: skip
    """Entries that the row of group g may need at most."""
    size = 0
    for q in range(node_at[g], node_at[g + 1]):
        v = nodes[q]
        r = row[where[v]]
        size += (label_ptr[v + 1] - label_ptr[v]) * (ptr[r + 1] - ptr[r])
    for q in range(link_at[g], link_at[g + 1]):
        size += (pair_ptr[links[q] + 1] - pair_ptr[links[q]]) * layout.edge_width
    return min(dim, size)


@loop
def moved_rows(
    dim, node_at, nodes, link_at, links, where, where_edge, node_type, edge_class, row,
    ptr, idx, val, edge_val, layout, label_ptr, node_mu, pair_ptr, edge_mu,
):  # fmt: skip
    """Minus the change of psi by each group of nodes and edges that moves."""
    groups, room = len(link_at) - 1, 0
    for g in range(groups):
        room += _group_room(g, dim, node_at, nodes, link_at, links, where, row, ptr,
                            layout, label_ptr, pair_ptr)  # fmt: skip
    out_ptr = np.zeros(groups + 1, np.int64)
    out_idx, out_val = np.empty(room, np.int32), np.empty(room)
    acc, seen = np.zeros(dim), np.zeros(dim, np.bool_)
    touched = np.empty(dim, np.int64)
    at = 0
    for g in range(groups):
        m = 0
        for q in range(node_at[g], node_at[g + 1]):
            v = nodes[q]
            for a in range(label_ptr[v + 1] - label_ptr[v]):
                share = -node_mu[label_ptr[v] + a]
                if share != 0.0:
                    m = _put_node(where[v], a, share, node_type, row, ptr, idx, val,
                                  layout, acc, seen, touched, m)  # fmt: skip
        for q in range(link_at[g], link_at[g + 1]):
            e = where_edge[links[q]]
            t = layout.second_type[edge_class[e]]
            k = layout.label_ptr[t + 1] - layout.label_ptr[t]
            first = pair_ptr[links[q]]
            for j in range(pair_ptr[links[q] + 1] - first):
                share = -edge_mu[first + j]
                if share != 0.0:
                    m = _put_edge(e, j // k, j % k, share, edge_class, edge_val, layout,
                                  acc, seen, touched, m)  # fmt: skip
        at = _flush(acc, seen, touched, m, out_idx, out_val, at)
        out_ptr[g + 1] = at
    return out_ptr, out_idx[:at].copy(), out_val[:at].copy()


@loop
def add_loss(
    ids, node_ptr, node_type, layout, nodes, label_ptr, ptr, truth, cost, weight, unary
):
    """Add weight * cost of each label against the truth (one row per example)."""
    for q in range(len(ids)):
        i = ids[q]
        for j in range(nodes[q + 1] - nodes[q]):
            t = node_type[node_ptr[i] + j]
            true = truth[ptr[i] + j]
            v = nodes[q] + j
            for a in range(label_ptr[v + 1] - label_ptr[v]):
                code = layout.label[layout.label_ptr[t] + a]
                unary[label_ptr[v] + a] += weight[q] * cost[true, code]


@loop
def to_codes(ids, node_ptr, node_type, layout, nodes, local):
    """Codes of local labels."""
    out = np.empty(len(local), np.int32)
    for q in range(len(ids)):
        for j in range(nodes[q + 1] - nodes[q]):
            t = node_type[node_ptr[ids[q]] + j]
            v = nodes[q] + j
            out[v] = layout.label[layout.label_ptr[t] + local[v]]
    return out


@loop
def to_local(ids, node_ptr, node_type, layout, ptr, codes):
    """Local labels of codes; row q of the codes belongs to example ids[q]."""
    wide = len(layout.local) // len(layout.width)
    out = np.empty(len(codes), np.int32)
    for q in range(len(ids)):
        for j in range(ptr[q + 1] - ptr[q]):
            t = node_type[node_ptr[ids[q]] + j]
            out[ptr[q] + j] = layout.local[t * wide + codes[ptr[q] + j]]
    return out


@inner_loop
def _put(index, value, acc, seen, touched, m):
    """Add to a scratch vector, remembering which coordinates it touches."""
    if not seen[index]:
        seen[index] = True
        touched[m] = index
        m += 1
    acc[index] += value
    return m


@inner_loop
def _put_node(
    v, a, factor, node_type, row, ptr, idx, val, layout, acc, seen, touched, m
):
    """Add factor * (vector of node v at local label a)."""
    t, r = node_type[v], row[v]
    at = layout.node_at[t]
    k = layout.label_ptr[t + 1] - layout.label_ptr[t]
    for p in range(ptr[r], ptr[r + 1]):
        if len(idx) > 0:
            index = at + np.int64(idx[p]) * k + a
        else:
            index = at + a * layout.width[t] + p - ptr[r]
        m = _put(index, factor * val[p], acc, seen, touched, m)
    return m


@inner_loop
def _put_edge(e, a, b, factor, edge_class, edge_val, layout, acc, seen, touched, m):
    """Add factor * (features of edge e at the local labels a, b)."""
    c = edge_class[e]
    t = layout.second_type[c]
    k = layout.label_ptr[t + 1] - layout.label_ptr[t]
    p = layout.pair_map[layout.map_ptr[c] + a * k + b]
    if p < 0:
        return m
    first = layout.pair_at[c] + p * layout.edge_width
    if layout.shared:
        return _put(first, factor, acc, seen, touched, m)
    for f in range(layout.edge_width):
        v = edge_val[e * layout.edge_width + f]
        if v != 0.0:
            m = _put(first + f, factor * v, acc, seen, touched, m)
    return m


@inner_loop
def _flush(acc, seen, touched, m, idx, val, at):
    """Move the scratch vector to the rows; zeros are left out."""
    for j in range(m):
        index = touched[j]
        if acc[index] != 0.0:
            idx[at] = index
            val[at] = acc[index]
            at += 1
        acc[index] = 0.0
        seen[index] = False
    return at


@inner_loop
def _room(i, dim, node_ptr, edge_ptr, row, ptr, edge_width, copies):
    """Entries that the row of example i may need at most."""
    size = (edge_ptr[i + 1] - edge_ptr[i]) * edge_width
    for v in range(node_ptr[i], node_ptr[i + 1]):
        size += ptr[row[v] + 1] - ptr[row[v]]
    return min(dim, copies * size)


@loop
def features(
    ids, node_ptr, edge_ptr, edges, node_type, edge_class, row, ptr, idx, val,
    edge_val, layout, dim, row_ptr, local,
):  # fmt: skip
    """Joint features of the local labels of each example."""
    room = 0
    for q in range(len(ids)):
        room += _room(ids[q], dim, node_ptr, edge_ptr, row, ptr, layout.edge_width, 1)
    out_ptr = np.zeros(len(ids) + 1, np.int64)
    out_idx, out_val = np.empty(room, np.int32), np.empty(room)
    acc, seen = np.zeros(dim), np.zeros(dim, np.bool_)
    touched = np.empty(dim, np.int64)
    at = 0
    for q in range(len(ids)):
        i = ids[q]
        m = 0
        for r in range(node_ptr[i], node_ptr[i + 1]):
            a = local[row_ptr[q] + r - node_ptr[i]]
            m = _put_node(
                r, a, 1.0, node_type, row, ptr, idx, val, layout, acc, seen, touched, m,
            )  # fmt: skip
        for e in range(edge_ptr[i], edge_ptr[i + 1]):
            a = local[row_ptr[q] + edges[e, 0]]
            b = local[row_ptr[q] + edges[e, 1]]
            m = _put_edge(
                e, a, b, 1.0, edge_class, edge_val, layout, acc, seen, touched, m
            )
        at = _flush(acc, seen, touched, m, out_idx, out_val, at)
        out_ptr[q + 1] = at
    return out_ptr, out_idx[:at].copy(), out_val[:at].copy()


@loop
def difference(
    ids, node_ptr, edge_ptr, edges, node_type, edge_class, row, ptr, idx, val,
    edge_val, layout, dim, row_ptr, true, local,
):  # fmt: skip
    """Features of the truth minus those of the labels, from the parts that differ."""
    room = 0
    for q in range(len(ids)):
        room += _room(ids[q], dim, node_ptr, edge_ptr, row, ptr, layout.edge_width, 2)
    out_ptr = np.zeros(len(ids) + 1, np.int64)
    out_idx, out_val = np.empty(room, np.int32), np.empty(room)
    acc, seen = np.zeros(dim), np.zeros(dim, np.bool_)
    touched = np.empty(dim, np.int64)
    at = 0
    for q in range(len(ids)):
        i = ids[q]
        m = 0
        base = row_ptr[q] - node_ptr[i]
        for r in range(node_ptr[i], node_ptr[i + 1]):
            t, a = true[base + r], local[base + r]
            if t != a:
                m = _put_node(
                    r, t, 1.0, node_type, row, ptr, idx, val, layout, acc, seen, touched,
                    m,
                )  # fmt: skip
                m = _put_node(
                    r, a, -1.0, node_type, row, ptr, idx, val, layout, acc, seen, touched,
                    m,
                )  # fmt: skip
        for e in range(edge_ptr[i], edge_ptr[i + 1]):
            u, v = row_ptr[q] + edges[e, 0], row_ptr[q] + edges[e, 1]
            if true[u] != local[u] or true[v] != local[v]:
                m = _put_edge(
                    e, true[u], true[v], 1.0, edge_class, edge_val, layout, acc, seen,
                    touched, m,
                )  # fmt: skip
                m = _put_edge(
                    e, local[u], local[v], -1.0, edge_class, edge_val, layout, acc,
                    seen, touched, m,
                )  # fmt: skip
        at = _flush(acc, seen, touched, m, out_idx, out_val, at)
        out_ptr[q + 1] = at
    return out_ptr, out_idx[:at].copy(), out_val[:at].copy()


@loop
def walk(ptr, idx, val, w, gain, room):
    """Move w along each row in turn, as far as the dual rises; how far it went.

    Row q is minus the change d of psi: the dual changes by  step * (gain + <w, d>) -
    1/2 step^2 ||d||^2, so the best step is in closed form, cut at the room.
    """
    out = np.zeros(len(ptr) - 1)
    for q in range(len(ptr) - 1):
        slope, square = gain[q], 0.0
        for p in range(ptr[q], ptr[q + 1]):
            slope -= val[p] * w[idx[p]]
            square += val[p] * val[p]
        if slope <= 0.0:
            continue
        out[q] = room[q] if slope >= room[q] * square else slope / square
        for p in range(ptr[q], ptr[q + 1]):
            w[idx[p]] += out[q] * val[p]
    return out


@loop
def expected_difference(
    ids, node_ptr, edge_ptr, edges, node_type, edge_class, row, ptr, idx, val,
    edge_val, layout, dim, row_ptr, true, label_ptr, node_mu, links, pair_ptr, edge_mu,
):  # fmt: skip
    """Features of the truth minus their expectation under marginals."""
    room, most = 0, 1
    for t in range(len(layout.width)):
        most = max(most, layout.label_ptr[t + 1] - layout.label_ptr[t])
    for q in range(len(ids)):
        room += _room(
            ids[q], dim, node_ptr, edge_ptr, row, ptr, layout.edge_width, most * most
        )
    out_ptr = np.zeros(len(ids) + 1, np.int64)
    out_idx, out_val = np.empty(room, np.int32), np.empty(room)
    acc, seen = np.zeros(dim), np.zeros(dim, np.bool_)
    touched = np.empty(dim, np.int64)
    at = 0
    for q in range(len(ids)):
        i = ids[q]
        m = 0
        for r in range(node_ptr[i], node_ptr[i + 1]):
            v = row_ptr[q] + r - node_ptr[i]
            for a in range(label_ptr[v + 1] - label_ptr[v]):
                share = (1.0 if true[v] == a else 0.0) - node_mu[label_ptr[v] + a]
                if share != 0.0:
                    m = _put_node(
                        r, a, share, node_type, row, ptr, idx, val, layout, acc,
                        seen, touched, m,
                    )  # fmt: skip
        for e in range(edge_ptr[i], edge_ptr[i + 1]):
            u, v = row_ptr[q] + edges[e, 0], row_ptr[q] + edges[e, 1]
            out = pair_ptr[links[q] + e - edge_ptr[i]]
            kv = label_ptr[v + 1] - label_ptr[v]
            for a in range(label_ptr[u + 1] - label_ptr[u]):
                for b in range(kv):
                    share = -edge_mu[out + a * kv + b]
                    if true[u] == a and true[v] == b:
                        share += 1.0
                    if share != 0.0:
                        m = _put_edge(
                            e, a, b, share, edge_class, edge_val, layout, acc, seen,
                            touched, m,
                        )  # fmt: skip
        at = _flush(acc, seen, touched, m, out_idx, out_val, at)
        out_ptr[q + 1] = at
    return out_ptr, out_idx[:at].copy(), out_val[:at].copy()
