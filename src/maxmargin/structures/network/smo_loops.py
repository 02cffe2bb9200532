"""Ascent on the marginals of one forest after the other, compiled.

The steps are those of `solvers.smo`: y1 has the best augmented score, y2 the worst of
those that carry mass, and lambda is in closed form,

    lambda = min(room, (score(y1) - score(y2)) / || psi(y1) - psi(y2) ||^2),

but many steps are made on a graph before the next one is visited. Scores of its nodes
follow through the Gram matrix of its nodes alone; what the steps did to the weights
(or, with a kernel, to the scores of all nodes, column by column) is written once.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import add_scores, fill_scores
from maxmargin.core.jit import inner_loop, loop

EMPTY = 1e-10  # of the mass: what rounding leaves


@inner_loop
def _search(first, n, edges, edge_class, layout, pairwise, forests, score, node_mu,
            edge_mu, empty, sign, up, choice, labels):  # fmt: skip
    """Labels of highest sign * score; sign = -1 keeps to parts that carry mass."""
    masked = sign < 0.0
    base = forests.label_ptr[first]
    for v in range(n):
        for a in range(forests.label_ptr[first + v], forests.label_ptr[first + v + 1]):
            up[a - base] = sign * score[a - base]
            if masked and node_mu[a] <= empty:
                up[a - base] = -np.inf
    for q in range(n - 1, -1, -1):
        v = forests.order[first + q] - first
        e = forests.parent[first + v]
        if e < 0:
            continue
        p = edges[e, 0] + edges[e, 1] - v
        at_v = forests.label_ptr[first + v] - base
        at_p = forests.label_ptr[first + p] - base
        k = forests.label_ptr[first + v + 1] - base - at_v
        kp = forests.label_ptr[first + p + 1] - base - at_p
        table = layout.map_ptr[edge_class[e]]
        mu = forests.edge_ptr[e]
        row, column = (kp, 1) if edges[e, 0] == v else (1, k)
        for b in range(kp):
            at, most = 0, -np.inf
            for a in range(k):
                entry = a * row + b * column
                s = up[at_v + a] + sign * pairwise[table + entry]
                if s > most and (not masked or edge_mu[mu + entry] > empty):
                    most, at = s, a
            up[at_p + b] += most
            choice[v, b] = at
    for q in range(n):
        v = forests.order[first + q] - first
        e = forests.parent[first + v]
        if e < 0:
            at_v = forests.label_ptr[first + v] - base
            labels[v] = np.argmax(up[at_v : forests.label_ptr[first + v + 1] - base])
        else:
            labels[v] = choice[v, labels[edges[e, 0] + edges[e, 1] - v]]


@inner_loop
def _value(first, n, start, stop, edges, edge_class, layout, pairwise, label_ptr, score,
           labels):  # fmt: skip
    base = label_ptr[first]
    total = 0.0
    for v in range(n):
        total += score[label_ptr[first + v] - base + labels[v]]
    for e in range(start, stop):
        u, v = edges[e, 0], edges[e, 1]
        k = label_ptr[first + v + 1] - label_ptr[first + v]
        total += pairwise[layout.map_ptr[edge_class[e]] + labels[u] * k + labels[v]]
    return total


@inner_loop
def _room(first, n, start, stop, edges, forests, node_mu, edge_mu, high, low):
    """Mass that y2 can give to y1."""
    room = np.inf
    for v in range(n):
        if high[v] != low[v]:
            room = min(room, node_mu[forests.label_ptr[first + v] + low[v]])
    for e in range(start, stop):
        u, v = edges[e, 0], edges[e, 1]
        if high[u] != low[u] or high[v] != low[v]:
            k = forests.label_ptr[first + v + 1] - forests.label_ptr[first + v]
            room = min(room, edge_mu[forests.edge_ptr[e] + low[u] * k + low[v]])
    return room


@inner_loop
def _count_edges(first, start, stop, edges, edge_class, layout, label_ptr, high, low,
                 value, count):  # fmt: skip
    """Add value to the parameters of y1's edges, take it from those of y2."""
    for e in range(start, stop):
        u, v = edges[e, 0], edges[e, 1]
        if high[u] != low[u] or high[v] != low[v]:
            k = label_ptr[first + v + 1] - label_ptr[first + v]
            at = layout.map_ptr[edge_class[e]]
            p = layout.pair_map[at + high[u] * k + high[v]]
            if p >= 0:
                count[at + p] += value
            p = layout.pair_map[at + low[u] * k + low[v]]
            if p >= 0:
                count[at + p] -= value


@inner_loop
def _edge_square(first, start, stop, edges, edge_class, layout, label_ptr, high, low,
                 count):  # fmt: skip
    """Squared length of the edge part of psi(y1) - psi(y2)."""
    _count_edges(first, start, stop, edges, edge_class, layout, label_ptr, high, low,
                 1.0, count)  # fmt: skip
    total = 0.0
    for e in range(start, stop):
        u, v = edges[e, 0], edges[e, 1]
        k = label_ptr[first + v + 1] - label_ptr[first + v]
        at = layout.map_ptr[edge_class[e]]
        for side in range(2):
            a, b = (high[u], high[v]) if side == 0 else (low[u], low[v])
            p = layout.pair_map[at + a * k + b]
            if p >= 0:
                total += count[at + p] * count[at + p]
                count[at + p] = 0.0  # each parameter once
    return total


@inner_loop
def _node_square(first, n, node_type, gram, high, low):
    """Squared length of the node part of psi(y1) - psi(y2)."""
    total = 0.0
    for v in range(n):
        if high[v] == low[v]:
            continue
        for u in range(n):
            if high[u] == low[u] or node_type[first + u] != node_type[first + v]:
                continue
            sign = 0.0
            if high[v] == high[u]:
                sign += 1.0
            if low[v] == low[u]:
                sign += 1.0
            if high[v] == low[u]:
                sign -= 1.0
            if low[v] == high[u]:
                sign -= 1.0
            total += sign * gram[v, u]
    return total


@inner_loop
def _apply(first, n, start, stop, edges, edge_class, node_type, layout, forests, step,
           node_mu, edge_mu, w, pairwise, work):  # fmt: skip
    """Move mass `step`; scores of the graph and edge weights follow."""
    base = forests.label_ptr[first]
    for v in range(n):
        a, b = work.high[v], work.low[v]
        if a == b:
            continue
        at = forests.label_ptr[first + v]
        node_mu[at + a] += step
        node_mu[at + b] = max(node_mu[at + b] - step, 0.0)
        work.change[at - base + a] += step
        work.change[at - base + b] -= step
        for u in range(n):
            if node_type[first + u] == node_type[first + v]:
                own = forests.label_ptr[first + u] - base
                work.score[own + a] -= step * work.gram[v, u]
                work.score[own + b] += step * work.gram[v, u]
    for e in range(start, stop):
        u, v = edges[e, 0], edges[e, 1]
        if work.high[u] == work.low[u] and work.high[v] == work.low[v]:
            continue
        k = forests.label_ptr[first + v + 1] - forests.label_ptr[first + v]
        c = edge_class[e]
        mu, table = forests.edge_ptr[e], layout.map_ptr[c]
        for side in range(2):
            if side == 0:
                entry, change = work.high[u] * k + work.high[v], step
            else:
                entry, change = work.low[u] * k + work.low[v], -step
            edge_mu[mu + entry] = max(edge_mu[mu + entry] + change, 0.0)
            p = layout.pair_map[table + entry]
            if p < 0:
                continue
            w[layout.pair_at[c] + p] -= change
            if p == entry and layout.pair_at[c + 1] - layout.pair_at[c] == (
                layout.map_ptr[c + 1] - layout.map_ptr[c]
            ):
                pairwise[table + entry] -= change
            else:
                for q in range(layout.map_ptr[c + 1] - table):
                    if layout.pair_map[table + q] == p:
                        pairwise[table + q] -= change


@inner_loop
def _ascend(i, steps, share, node_ptr, edge_ptr, edges, node_type, edge_class, layout,
            forests, node_mu, edge_mu, w, pairwise, work):  # fmt: skip
    """Steps on graph i, whose augmented scores are in work.score; (slack, gain)."""
    first, n = node_ptr[i], node_ptr[i + 1] - node_ptr[i]
    start, stop = edge_ptr[i], edge_ptr[i + 1]
    empty = EMPTY * forests.mass[i]
    true = forests.true[first : first + n]
    slack, gain, top = 0.0, 0.0, 0.0
    for s in range(steps):
        _search(first, n, edges, edge_class, layout, pairwise, forests, work.score,
                node_mu, edge_mu, empty, 1.0, work.up, work.choice, work.high)  # fmt: skip
        _search(first, n, edges, edge_class, layout, pairwise, forests, work.score,
                node_mu, edge_mu, empty, -1.0, work.up, work.choice, work.low)  # fmt: skip
        high = _value(first, n, start, stop, edges, edge_class, layout, pairwise,
                      forests.label_ptr, work.score, work.high)  # fmt: skip
        low = _value(first, n, start, stop, edges, edge_class, layout, pairwise,
                     forests.label_ptr, work.score, work.low)  # fmt: skip
        if s == 0:
            truth_score = _value(first, n, start, stop, edges, edge_class, layout, pairwise,
                         forests.label_ptr, work.score, true)  # fmt: skip
            slack, top = max(high - truth_score, 0.0), high - low
        slope = high - low
        if slope <= 1e-12 * (1.0 + abs(high)) or slope < share * top:
            break
        room = _room(first, n, start, stop, edges, forests, node_mu, edge_mu, work.high,
                     work.low)  # fmt: skip
        square = _node_square(first, n, node_type, work.gram, work.high, work.low)
        square += _edge_square(first, start, stop, edges, edge_class, layout,
                               forests.label_ptr, work.high, work.low, work.tally)  # fmt: skip
        if room <= 0.0 or room == np.inf:
            break
        step = room if slope >= room * square else slope / square
        for v in range(n):
            at = forests.label_ptr[first + v]
            worth = forests.cost[at + work.high[v]] - forests.cost[at + work.low[v]]
            gain += step * worth
        _apply(first, n, start, stop, edges, edge_class, node_type, layout, forests,
               step, node_mu, edge_mu, w, pairwise, work)  # fmt: skip
    return slack, gain


@inner_loop
def _local_gram(first, n, row, ptr, idx, val, gram):
    """Products of the vectors of a graph; sparse ones are merged."""
    for v in range(n):
        for u in range(v + 1):
            one, other = row[first + v], row[first + u]
            p, pe = ptr[one], ptr[one + 1]
            q, qe = ptr[other], ptr[other + 1]
            s = 0.0
            if len(idx) == 0:
                for f in range(min(pe - p, qe - q)):
                    s += val[p + f] * val[q + f]
            else:
                while p < pe and q < qe:
                    if idx[p] == idx[q]:
                        s += val[p] * val[q]
                        p += 1
                        q += 1
                    elif idx[p] < idx[q]:
                        p += 1
                    else:
                        q += 1
            gram[v, u] = s
            gram[u, v] = s


@loop
def ascend_linear(
    ids, steps, share, node_ptr, edge_ptr, edges, node_type, edge_class, row, ptr, idx,
    val, layout, forests, node_mu, edge_mu, w, pairwise, work, slack,
):  # fmt: skip
    """Visit the graphs `ids`; w follows. Returns what the loss term gained."""
    total = 0.0
    for i in ids:
        first, n = node_ptr[i], node_ptr[i + 1] - node_ptr[i]
        base = forests.label_ptr[first]
        for v in range(n):
            t = node_type[first + v]
            at = forests.label_ptr[first + v]
            k = forests.label_ptr[first + v + 1] - at
            fill_scores(ptr, idx, val, layout.width[t], row[first + v],
                        w[layout.node_at[t] :], k, work.score[at - base :])  # fmt: skip
            for a in range(k):
                work.score[at - base + a] += forests.cost[at + a]
                work.change[at - base + a] = 0.0
        _local_gram(first, n, row, ptr, idx, val, work.gram)
        slack[i], gain = _ascend(
            i, steps, share, node_ptr, edge_ptr, edges, node_type, edge_class, layout,
            forests, node_mu, edge_mu, w, pairwise, work,
        )  # fmt: skip
        total += gain
        for v in range(n):
            t = node_type[first + v]
            at = forests.label_ptr[first + v] - base
            k = forests.label_ptr[first + v + 1] - base - at
            moved = False
            for a in range(at, at + k):
                work.change[a] = -work.change[a]
                moved = moved or work.change[a] != 0.0
            if moved:
                add_scores(ptr, idx, val, layout.width[t], row[first + v],
                           work.change[at:], k, w[layout.node_at[t] :])  # fmt: skip
    return total


@loop
def ascend_kernel(
    ids, steps, share, node_ptr, edge_ptr, edges, node_type, edge_class, layout,
    forests, node_mu, edge_mu, w, pairwise, work, slack, gram, beta, scores,
):  # fmt: skip
    """Visit the graphs `ids`; the scores of all nodes follow, column by column."""
    total = 0.0
    for i in ids:
        first, n = node_ptr[i], node_ptr[i + 1] - node_ptr[i]
        base = forests.label_ptr[first]
        for v in range(n):
            row = layout.label_ptr[node_type[first + v]]
            at = forests.label_ptr[first + v]
            for a in range(forests.label_ptr[first + v + 1] - at):
                work.score[at - base + a] = scores[row + a, first + v]
                work.score[at - base + a] += forests.cost[at + a]
                work.change[at - base + a] = 0.0
            for u in range(n):
                work.gram[v, u] = gram[first + v, first + u]
        slack[i], gain = _ascend(
            i, steps, share, node_ptr, edge_ptr, edges, node_type, edge_class, layout,
            forests, node_mu, edge_mu, w, pairwise, work,
        )  # fmt: skip
        total += gain
        for v in range(n):
            row = layout.label_ptr[node_type[first + v]]
            at = forests.label_ptr[first + v] - base
            column = gram[first + v]
            for a in range(forests.label_ptr[first + v + 1] - base - at):
                change = work.change[at + a]
                if change != 0.0:
                    beta[row + a, first + v] -= change
                    own = scores[row + a]
                    for r in range(len(own)):
                        own[r] -= change * column[r]
    return total
