"""Label sequences on plain score tables, a padded batch at a time.

    score(y) = start[y_1] + end[y_L] + sum_t emissions[t, y_t]
             + sum_t transitions[t, y_{t-1}, y_t] (+ triples[y_{t-2}, y_{t-1}, y_t])

Transitions come as (1 or rows, 1 or tokens - 1, K, K): shared over the batch, over the
tokens, or neither. The best sequence is Viterbi's: the forward pass keeps maxima only
(its inner loop over the next label vectorises) and the way back finds the labels.
Sums over all sequences use scaled probabilities, which need one exponential per token
and label; a row whose scale falls below `TINY` is done again with logarithms.
All loops work on rows first .. last - 1, so that threads can share a batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.jit import dense_loop, inner_loop, loop
from maxmargin.inference.hypergraph import Hypergraph, empty_edges

TINY = 1e-200
Table = NDArray[np.floating[Any]]


@loop
def best_chains(first, last, emissions, sizes, transitions, start, end, labels, value):
    """Labels and value of the best sequence of each row (Viterbi)."""
    T, K = emissions.shape[1], emissions.shape[2]
    at_row, at_token = transitions.shape[0] - 1, transitions.shape[1] - 1
    forward, ahead = np.empty((T, K)), np.empty((T, K))
    for b in range(first, last):
        n, row = sizes[b], min(b, at_row)
        for c in range(K):
            forward[0, c] = start[c] + emissions[b, 0, c]
        for t in range(1, n):
            _step(forward, ahead, t, transitions, row, min(t - 1, at_token))
            for c in range(K):
                forward[t, c] = ahead[t, c] + emissions[b, t, c]
        top, at = -np.inf, 0
        for c in range(K):
            if forward[n - 1, c] + end[c] > top:
                top, at = forward[n - 1, c] + end[c], c
        value[b] = top
        labels[b, n - 1] = at
        for t in range(n - 1, 0, -1):
            token = min(t - 1, at_token)
            most, a = ahead[t, at], 0  # the same sum, so one of them is equal to it
            while (
                a < K - 1 and forward[t - 1, a] + transitions[row, token, a, at] < most
            ):
                a += 1
            at = a
            labels[b, t - 1] = at


@inner_loop
def _step(F, S, t, P, i, j):
    """S[t, c] = max_a F[t - 1, a] + P[i, j, a, c]; eight rows at a time save stores.

    Whole arrays and places in them: every part of an array (`S[t]`) is counted as a
    reference, which takes longer than the sums of a few labels.
    """
    K, s = S.shape[1], t - 1
    first = (K - 1) % 8 + 1  # rows before the eights
    if first >= 4:
        x0, x1, x2, x3 = F[s, 0], F[s, 1], F[s, 2], F[s, 3]
        for c in range(K):
            one = max(x0 + P[i, j, 0, c], x1 + P[i, j, 1, c])
            two = max(x2 + P[i, j, 2, c], x3 + P[i, j, 3, c])
            S[t, c] = max(one, two)
        a = 4
    else:
        x0 = F[s, 0]
        for c in range(K):
            S[t, c] = x0 + P[i, j, 0, c]
        a = 1
    while a < first:
        x0 = F[s, a]
        for c in range(K):
            S[t, c] = max(S[t, c], x0 + P[i, j, a, c])
        a += 1
    while a < K:
        x0, x1, x2, x3 = F[s, a], F[s, a + 1], F[s, a + 2], F[s, a + 3]
        x4, x5, x6, x7 = F[s, a + 4], F[s, a + 5], F[s, a + 6], F[s, a + 7]
        for c in range(K):
            one = max(x0 + P[i, j, a, c], x1 + P[i, j, a + 1, c])
            two = max(x2 + P[i, j, a + 2, c], x3 + P[i, j, a + 3, c])
            three = max(x4 + P[i, j, a + 4, c], x5 + P[i, j, a + 5, c])
            four = max(x6 + P[i, j, a + 6, c], x7 + P[i, j, a + 7, c])
            S[t, c] = max(S[t, c], max(max(one, two), max(three, four)))
        a += 8


@loop
def best_triples(
    first, last, emissions, sizes, transitions, triples, start, end, labels, value
):
    """As `best_chains` with scores of label triples (K, K, K); a state is two labels."""
    T, K = emissions.shape[1], emissions.shape[2]
    at_row, at_token = transitions.shape[0] - 1, transitions.shape[1] - 1
    forward = np.empty((max(T, 2), K, K))
    for b in range(first, last):
        n = sizes[b]
        if n == 1:
            value[b] = -np.inf
            for c in range(K):
                if start[c] + emissions[b, 0, c] + end[c] > value[b]:
                    value[b] = start[c] + emissions[b, 0, c] + end[c]
                    labels[b, 0] = c
            continue
        for t in range(1, n):
            table = transitions[min(b, at_row), min(t - 1, at_token)]
            now = forward[t]
            for d in range(K):
                for c in range(K):
                    now[d, c] = -np.inf if t > 1 else start[d] + emissions[b, 0, d]
            if t > 1:
                for a in range(K):
                    for d in range(K):
                        base, row, to = forward[t - 1, a, d], triples[a, d], now[d]
                        for c in range(K):
                            to[c] = max(to[c], base + row[c])
            for d in range(K):
                for c in range(K):
                    now[d, c] += table[d, c] + emissions[b, t, c]
        top, d, c = -np.inf, 0, 0
        for a in range(K):
            for k in range(K):
                if forward[n - 1, a, k] + end[k] > top:
                    top, d, c = forward[n - 1, a, k] + end[k], a, k
        value[b] = top
        labels[b, n - 1], labels[b, n - 2] = c, d
        for t in range(n - 1, 1, -1):
            most, at = -np.inf, 0
            for a in range(K):
                if forward[t - 1, a, d] + triples[a, d, c] > most:
                    most, at = forward[t - 1, a, d] + triples[a, d, c], a
            d, c = at, d
            labels[b, t - 2] = d


@loop
def chain_cells(ptr, labels, tokens, K, by_row):
    """Row and place of the labels, label pairs and triples of sequences, all flat.

    Pairs of tables (rows, tokens - 1, K, K) have other places than shared ones.
    """
    n, total = len(ptr) - 1, ptr[-1]
    row, label = np.empty(total, np.int64), np.empty(total, np.int64)
    own, pair = np.empty(total, np.int64), np.empty(total, np.int64)
    last, triple = np.empty(total, np.int64), np.empty(total, np.int64)
    at, pairs, triples = 0, 0, 0
    for b in range(n):
        for t in range(ptr[b + 1] - ptr[b]):
            c = np.int64(labels[at])
            row[at], label[at] = b, (b * tokens + t) * K + c
            if t > 0:
                own[pairs], pair[pairs] = b, labels[at - 1] * K + c
                if by_row:
                    pair[pairs] += (b * (tokens - 1) + t - 1) * K * K
                pairs += 1
            if t > 1:
                last[triples] = b
                triple[triples] = (labels[at - 2] * K + labels[at - 1]) * K + c
                triples += 1
            at += 1
    return row, label, own[:pairs], pair[:pairs], last[:triples], triple[:triples]


@loop
def label_cells(ptr, labels, tokens, K, row, place):
    """Row and place of the labels of sequences in a flat table of emissions."""
    for b in range(len(ptr) - 1):
        for at in range(ptr[b], ptr[b + 1]):
            row[at] = b
            place[at] = (b * tokens + at - ptr[b]) * K + labels[at]


@loop
def add_chain_scores(
    ptr, labels, emissions, transitions, triples, order, start, end, out
):
    """Add the score of each sequence to out[row]."""
    at_row, at_token = transitions.shape[0] - 1, transitions.shape[1] - 1
    for b in range(len(ptr) - 1):
        first, last = ptr[b], ptr[b + 1]
        score = 0.0
        for at in range(first, last):
            t, c = at - first, labels[at]
            score += emissions[b, t, c]
            if t > 0:
                a = labels[at - 1]
                score += transitions[min(b, at_row), min(t - 1, at_token), a, c]
            if t > 1 and order == 2:
                score += triples[labels[at - 2], labels[at - 1], c]
        if last > first:
            score += start[labels[first]] + end[labels[last - 1]]
        out[b] += score


@loop
def add_chain_indicators(
    ptr, labels, factor, emissions, transitions, triples, order, start, end
):
    """Add factor[row] to all cells that each sequence chooses."""
    at_row, at_token = transitions.shape[0] - 1, transitions.shape[1] - 1
    for b in range(len(ptr) - 1):
        first, last, f = ptr[b], ptr[b + 1], factor[b]
        if f == 0.0 or last == first:
            continue
        for at in range(first, last):
            t, c = at - first, labels[at]
            emissions[b, t, c] += f
            if t > 0:
                a = labels[at - 1]
                transitions[min(b, at_row), min(t - 1, at_token), a, c] += f
            if t > 1 and order == 2:
                triples[labels[at - 2], labels[at - 1], c] += f
        start[labels[first]] += f
        end[labels[last - 1]] += f


class ScoreTables(NamedTuple):
    """Scores of a batch of sequences."""

    emissions: Table  # (rows, tokens, K), float32 or float64
    sizes: Ints  # (rows,)
    transitions: Table  # (1 or rows, 1 or tokens - 1, K, K)
    start: Table  # (K,)
    end: Table  # (K,)


def sum_chains(
    first: int,
    last: int,
    tables: ScoreTables,
    log_z: Floats,
    out: tuple[Table, Table, Table, Table] | None = None,
    factor: Floats | None = None,
) -> None:
    """Log Z of rows first .. last - 1; if asked, factor[b] times their marginals.

    `out` holds tables like emissions, transitions, start and end, filled with zeros, to
    which the marginals are added.
    """
    emissions, sizes, transitions, start, end = tables
    row = transitions.max(axis=(2, 3))
    safe = np.where(np.isfinite(row), row, 0.0)
    powers = np.exp(transitions - safe[:, :, None, None])
    wanted = out is not None
    if out is None or factor is None:
        none = np.zeros((1, 1, 1))
        out, factor = (none, none[None], none[0, 0], none[0, 0]), none[0, 0]
    ends = (start, end)
    bad = _sum_scaled(
        first, last, emissions, sizes, powers, safe, *ends, *out, log_z, factor, wanted
    )
    for b in np.flatnonzero(bad) + first:
        _sum_logs(b, emissions, sizes, transitions, *ends, *out, log_z, factor, wanted)


@dense_loop
def _sum_scaled(
    first, last, emissions, sizes, powers, shift, start, end, out_emissions,
    out_transitions, out_start, out_end, log_z, factor, wanted,
):  # fmt: skip
    """Forward and backward with probabilities; tells the rows where these vanish."""
    T, K = emissions.shape[1], emissions.shape[2]
    at_row, at_token = powers.shape[0] - 1, powers.shape[1] - 1
    alpha, own, beta = np.empty((T, K)), np.empty((T, K)), np.empty((T, K))
    scale, pairs = np.empty(T), np.zeros((K, K))
    bad = np.zeros(last - first, np.bool_)
    for b in range(first, last):
        n = sizes[b]
        total = 0.0
        for t in range(n):
            total += _local(emissions, start, end, b, t, n, own[t])
            if t == 0:
                for c in range(K):
                    alpha[0, c] = own[0, c]
            else:
                total += shift[min(b, at_row), min(t - 1, at_token)]
                table = powers[min(b, at_row), min(t - 1, at_token)]
                _forward(table, alpha[t - 1], own[t], alpha[t])
            norm = _normalise(alpha[t])
            if not norm > TINY:
                bad[b - first] = True
                break
            total += np.log(norm)
        log_z[b] = total
        if bad[b - first] or not wanted:
            continue
        for c in range(K):
            beta[n - 1, c] = 1.0
        for t in range(n - 1, 0, -1):
            table = powers[min(b, at_row), min(t - 1, at_token)]
            for c in range(K):
                own[t, c] *= beta[t, c]  # all that follows label c of token t
            _backward(table, own[t], beta[t - 1])
            norm = 0.0
            for a in range(K):
                norm += alpha[t - 1, a] * beta[t - 1, a]
            scale[t] = factor[b] / norm
            if not (norm > TINY and _normalise(beta[t - 1]) > TINY):
                bad[b - first] = True
                break
        if bad[b - first]:
            continue
        _write_labels(b, n, alpha, beta, factor[b], out_emissions, out_start, out_end)
        shared = len(powers) == 1 and at_token == 0
        for t in range(1, n):
            for a in range(K):
                p, row, ready = alpha[t - 1, a] * scale[t], pairs[a], own[t]
                for c in range(K):
                    row[c] += p * ready[c]
            if not shared:
                _write_pairs(b, t, pairs, powers, out_transitions)
    _write_pairs(0, 1, pairs, powers, out_transitions)
    return bad


@inner_loop
def _local(emissions, start, end, b, t, n, own):
    """Exp of the label scores of a token, less their maximum; returns that."""
    K, top = len(own), -np.inf
    for c in range(K):
        own[c] = emissions[b, t, c]
        if t == 0:
            own[c] += start[c]
        if t == n - 1:
            own[c] += end[c]
        top = max(top, own[c])
    top = top if top > -np.inf else 0.0
    for c in range(K):
        own[c] = np.exp(own[c] - top)
    return top


@inner_loop
def _forward(table, before, own, now):
    K = len(own)
    for c in range(K):
        now[c] = 0.0
    for a in range(K):
        p, row = before[a], table[a]
        for c in range(K):
            now[c] += p * row[c]
    for c in range(K):
        now[c] *= own[c]


@dense_loop
def _backward(table, after, now):
    K = len(now)
    for a in range(K):
        s, row = 0.0, table[a]
        for c in range(K):
            s += row[c] * after[c]
        now[a] = s


@inner_loop
def _normalise(values):
    """Divide by the sum, unless it vanishes; returns it."""
    norm = 0.0
    for c in range(len(values)):
        norm += values[c]
    if norm > TINY:
        for c in range(len(values)):
            values[c] /= norm
    return norm


@inner_loop
def _write_labels(b, n, alpha, beta, factor, out_emissions, out_start, out_end):
    """Add the marginals of the labels of one row."""
    K = alpha.shape[1]
    for t in range(n):
        norm = 0.0
        for c in range(K):
            norm += alpha[t, c] * beta[t, c]
        for c in range(K):
            p = factor / norm * alpha[t, c] * beta[t, c]
            out_emissions[b, t, c] += p
            if t == 0:
                out_start[c] += p
            if t == n - 1:
                out_end[c] += p


@inner_loop
def _write_pairs(b, t, pairs, powers, out):
    """Add the marginals of label pairs and begin anew."""
    table = powers[min(b, powers.shape[0] - 1), min(t - 1, powers.shape[1] - 1)]
    add = out[min(b, out.shape[0] - 1), min(t - 1, out.shape[1] - 1)]
    for a in range(len(pairs)):
        for c in range(len(pairs)):
            if pairs[a, c] != 0.0:
                add[a, c] += pairs[a, c] * table[a, c]
                pairs[a, c] = 0.0


@loop
def _sum_logs(
    b, emissions, sizes, transitions, start, end, out_emissions, out_transitions,
    out_start, out_end, log_z, factor, wanted,
):  # fmt: skip
    """One row with logarithms throughout."""
    n, K = sizes[b], emissions.shape[2]
    at_row, at_token = transitions.shape[0] - 1, transitions.shape[1] - 1
    alpha, beta, term = np.empty((n, K)), np.empty((n, K)), np.empty(K)
    for c in range(K):
        alpha[0, c] = start[c] + emissions[b, 0, c]
        beta[n - 1, c] = end[c]
    for t in range(1, n):
        table = transitions[min(b, at_row), min(t - 1, at_token)]
        for c in range(K):
            for a in range(K):
                term[a] = alpha[t - 1, a] + table[a, c]
            alpha[t, c] = _log_sum(term) + emissions[b, t, c]
    for t in range(n - 2, -1, -1):
        table = transitions[min(b, at_row), min(t, at_token)]
        for a in range(K):
            for c in range(K):
                term[c] = table[a, c] + emissions[b, t + 1, c] + beta[t + 1, c]
            beta[t, a] = _log_sum(term)
    for c in range(K):
        term[c] = alpha[n - 1, c] + end[c]
    log_z[b] = _log_sum(term)
    if log_z[b] == -np.inf or not wanted:
        return
    for t in range(n):
        for c in range(K):
            p = factor[b] * np.exp(alpha[t, c] + beta[t, c] - log_z[b])
            out_emissions[b, t, c] += p
            if t == 0:
                out_start[c] += p
            if t == n - 1:
                out_end[c] += p
            if t > 0:
                table = transitions[min(b, at_row), min(t - 1, at_token)]
                add = out_transitions[
                    min(b, out_transitions.shape[0] - 1),
                    min(t - 1, out_transitions.shape[1] - 1),
                ]
                after = emissions[b, t, c] + beta[t, c] - log_z[b]
                for a in range(K):
                    s = alpha[t - 1, a] + table[a, c] + after
                    add[a, c] += factor[b] * np.exp(s)


@inner_loop
def _log_sum(values):
    top = values.max()
    if top == -np.inf:
        return top
    s = 0.0
    for a in range(len(values)):
        s += np.exp(values[a] - top)
    return top + np.log(s)


def chain_hypergraph(
    n: int, labels: int, order: int, transition_step: int, offsets: tuple[int, ...]
) -> Hypergraph:
    """All label sequences of n tokens.

    Cells: emissions[t, c] at t * K + c; transitions[t - 1, a, c] at offsets[0] + (t - 1)
    * transition_step + a * K + c; triples, start and end at offsets[1 ..] (a triple
    table that does not exist has offset -1).
    """
    K = labels
    if order == 1 or n == 1:
        count = K + (n - 1) * (K + K * K) + K
        nodes = K + (n - 1) * 2 * K + 1
        edges = empty_edges(count)
        ptr = np.zeros(nodes + 1, np.int64)
        _fill_pairs(n, K, transition_step, np.array(offsets), ptr, *edges)
        return Hypergraph(ptr, *edges)
    count = K + K * K + K * K + (n - 2) * (K**3 + K * K) + K * K
    nodes = K + 2 * K * K + (n - 2) * 2 * K * K + 1
    edges = empty_edges(count)
    ptr = np.zeros(nodes + 1, np.int64)
    _fill_triples(n, K, transition_step, np.array(offsets), ptr, *edges)
    return Hypergraph(ptr, *edges)


@loop
def _fill_pairs(n, K, step, offsets, ptr, tails, cells):
    """Nodes of token t: before its label's score, then with it."""
    v, e = 0, 0
    for c in range(K):
        cells[e, 0], cells[e, 1] = c, offsets[2] + c
        e, v = e + 1, v + 1
        ptr[v] = e
    done = 0  # first node of the token before
    for t in range(1, n):
        middle = v
        for c in range(K):
            for a in range(K):
                tails[e, 0] = done + a
                cells[e, 0] = offsets[0] + (t - 1) * step + a * K + c
                e += 1
            v += 1
            ptr[v] = e
        for c in range(K):
            tails[e, 0], cells[e, 0] = middle + c, t * K + c
            e, v = e + 1, v + 1
            ptr[v] = e
        done = v - K
    for c in range(K):
        tails[e, 0], cells[e, 0] = done + c, offsets[3] + c
        e += 1
    ptr[v + 1] = e


@loop
def _fill_triples(n, K, step, offsets, ptr, tails, cells):
    """As `_fill_pairs`; from the second token on a node is two labels (a, c)."""
    v, e = 0, 0
    for c in range(K):
        cells[e, 0], cells[e, 1] = c, offsets[2] + c
        e, v = e + 1, v + 1
        ptr[v] = e
    done = 0
    for t in range(1, n):
        middle = v
        for a in range(K):
            for c in range(K):
                if t == 1:
                    tails[e, 0] = a
                    e += 1
                for z in range(K if t > 1 else 0):
                    tails[e, 0] = done + z * K + a
                    cells[e, 0] = offsets[1] + (z * K + a) * K + c
                    e += 1
                v += 1
                ptr[v] = e
        for a in range(K):
            for c in range(K):
                tails[e, 0] = middle + a * K + c
                cells[e, 0] = t * K + c
                cells[e, 1] = offsets[0] + (t - 1) * step + a * K + c
                e, v = e + 1, v + 1
                ptr[v] = e
        done = v - K * K
    for a in range(K):
        for c in range(K):
            tails[e, 0], cells[e, 0] = done + a * K + c, offsets[3] + c
            e += 1
    ptr[v + 1] = e
