"""Steps on the marginals of a network whose scores come from Gram matrices.

A move of mass changes psi by d_k phi(x_k) at row k of beta: a row stands for a label of
nodes, or for a pair of labels of edges. With scores f_r(x) = sum_k beta_rk K(x_k, x)

    <w, d> = sum_k d_k f_{r_k}(x_k),      ||d||^2 = sum_{k,l: r_k = r_l} d_k d_l K_kl,

so the best step is in closed form, and the scores of all nodes (edges) follow by the
columns of the Gram matrix.

[1] Taskar, Guestrin and Koller 2003, sections 4 and 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.jit import inner_loop, loop


class Moves(NamedTuple):
    """Changes of marginals by group: where in beta, and by how much."""

    at: Ints  # (groups + 1,)
    row: Ints
    column: Ints
    change: Floats


class GramSpace(NamedTuple):
    """What a kernel machine holds of its training nodes, or edges."""

    gram: Floats  # (size, size)
    beta: Floats  # (rows, size)
    scores: Floats  # (rows, size) = beta @ gram


def no_moves(groups: int) -> Moves:
    """Nothing moves in any group."""
    nothing = np.empty(0, np.int64)
    return Moves(np.zeros(groups + 1, np.int64), nothing, nothing, np.empty(0))


@loop
def node_moves(node_at, nodes, where, node_type, type_ptr, label_ptr, node_mu):
    """Moves of nodes: the row is the label."""
    size = 0
    for v in nodes:
        size += label_ptr[v + 1] - label_ptr[v]
    at = np.zeros(len(node_at), np.int64)
    row, column = np.empty(size, np.int64), np.empty(size, np.int64)
    change = np.empty(size)
    n = 0
    for g in range(len(node_at) - 1):
        for q in range(node_at[g], node_at[g + 1]):
            v = nodes[q]
            for a in range(label_ptr[v + 1] - label_ptr[v]):
                d = node_mu[label_ptr[v] + a]
                if d != 0.0:
                    row[n] = type_ptr[node_type[where[v]]] + a
                    column[n], change[n] = where[v], d
                    n += 1
        at[g + 1] = n
    return at, row[:n].copy(), column[:n].copy(), change[:n].copy()


@loop
def edge_moves(link_at, links, where_edge, edge_class, layout, pair_ptr, edge_mu):
    """Moves of edges: the row is the parameter of the pair of labels."""
    size = 0
    for e in links:
        size += pair_ptr[e + 1] - pair_ptr[e]
    at = np.zeros(len(link_at), np.int64)
    row, column = np.empty(size, np.int64), np.empty(size, np.int64)
    change = np.empty(size)
    n = 0
    for g in range(len(link_at) - 1):
        for q in range(link_at[g], link_at[g + 1]):
            e = links[q]
            c = edge_class[where_edge[e]]
            for j in range(pair_ptr[e + 1] - pair_ptr[e]):
                d, p = edge_mu[pair_ptr[e] + j], layout.pair_map[layout.map_ptr[c] + j]
                if d != 0.0 and p >= 0:
                    row[n] = layout.pair_at[c] // layout.edge_width + p
                    column[n], change[n] = where_edge[e], d
                    n += 1
        at[g + 1] = n
    return at, row[:n].copy(), column[:n].copy(), change[:n].copy()


@inner_loop
def _slope(moves, space, g):
    total = 0.0
    for k in range(moves.at[g], moves.at[g + 1]):
        total += moves.change[k] * space.scores[moves.row[k], moves.column[k]]
    return total


@inner_loop
def _square(moves, space, g):
    total = 0.0
    for k in range(moves.at[g], moves.at[g + 1]):
        d, column = moves.change[k], moves.column[k]
        total += d * d * space.gram[column, column]
        for j in range(moves.at[g], k):
            if moves.row[j] == moves.row[k]:
                total += 2.0 * d * moves.change[j] * space.gram[column, moves.column[j]]
    return total


@inner_loop
def _shift(moves, space, g, step):
    for k in range(moves.at[g], moves.at[g + 1]):
        d, row, column = step * moves.change[k], moves.row[k], moves.column[k]
        space.beta[row, column] -= d
        own, by = space.scores[row], space.gram[column]
        for r in range(len(own)):
            own[r] -= d * by[r]


@loop
def walk(ptr, idx, val, w, gain, room, nodes, node_space, edges, edge_space):
    """As `network_loops.walk`: rows for what has weights, moves for the rest."""
    out = np.zeros(len(ptr) - 1)
    for g in range(len(ptr) - 1):
        slope = gain[g] + _slope(nodes, node_space, g) + _slope(edges, edge_space, g)
        for p in range(ptr[g], ptr[g + 1]):
            slope -= val[p] * w[idx[p]]
        if slope <= 0.0:
            continue
        square = _square(nodes, node_space, g) + _square(edges, edge_space, g)
        for p in range(ptr[g], ptr[g + 1]):
            square += val[p] * val[p]
        step = room[g] if slope >= room[g] * square else slope / square
        out[g] = step
        for p in range(ptr[g], ptr[g + 1]):
            w[idx[p]] += step * val[p]
        _shift(nodes, node_space, g, step)
        _shift(edges, edge_space, g, step)
    return out


@loop
def node_scores(label_ptr, where, types, type_ptr, scores):
    """Scores of the labels of each node; node v is column where[v]."""
    out = np.empty(label_ptr[-1])
    for v in range(len(where)):
        row = type_ptr[types[v]]
        for a in range(label_ptr[v + 1] - label_ptr[v]):
            out[label_ptr[v] + a] = scores[row + a, where[v]]
    return out


@loop
def edge_scores(ids, edge_ptr, edges, edge_class, layout, nodes, links, where, scores):
    """Ends and tables of all edges; edge e of the batch is column where[e]."""
    ends, start = np.empty((links[-1], 2), np.int32), np.zeros(links[-1], np.int64)
    size = 0
    for q in range(len(ids)):
        for j in range(links[q + 1] - links[q]):
            e, out = edge_ptr[ids[q]] + j, links[q] + j
            ends[out, 0] = edges[e, 0] + nodes[q]
            ends[out, 1] = edges[e, 1] + nodes[q]
            start[out] = size
            size += layout.map_ptr[edge_class[e] + 1] - layout.map_ptr[edge_class[e]]
    pairwise = np.zeros(size)
    for q in range(len(ids)):
        for j in range(links[q + 1] - links[q]):
            c, out = edge_class[edge_ptr[ids[q]] + j], links[q] + j
            first = layout.pair_at[c] // layout.edge_width
            for entry in range(layout.map_ptr[c + 1] - layout.map_ptr[c]):
                p = layout.pair_map[layout.map_ptr[c] + entry]
                if p >= 0:
                    pairwise[start[out] + entry] = scores[first + p, where[out]]
    return ends, start, pairwise
