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
    mine = transitions[first:last] if len(transitions) > 1 else transitions
    row = mine.max(axis=(2, 3))
    safe = np.where(np.isfinite(row), row, 0.0)
    powers = np.exp(mine - safe[:, :, None, None])
    turned = np.ascontiguousarray(powers.transpose(0, 1, 3, 2))
    own = np.empty((last - first, *emissions.shape[1:]))
    total = np.zeros(last - first)
    _local_scores(first, emissions, sizes, start, end, own, total)
    np.exp(own, out=own)  # NumPy takes several numbers at a time
    wanted = out is not None
    if out is None or factor is None:
        none = np.zeros((1, 1, 1))
        out, factor = (none, none[None], none[0, 0], none[0, 0]), none[0, 0]
    bad = _sum_scaled(
        first, own, total, sizes, powers, turned, safe, *out, log_z, factor, wanted
    )
    ends = (start, end)
    for b in np.flatnonzero(bad) + first:
        _sum_logs(b, emissions, sizes, transitions, *ends, *out, log_z, factor, wanted)


@loop
def _local_scores(first, emissions, sizes, start, end, own, total):
    """Label scores of rows from `first` on, less the largest of each token (`total`)."""
    T, K = own.shape[1], own.shape[2]
    for r in range(len(own)):
        b, n = first + r, sizes[first + r]
        for t in range(n):
            for c in range(K):
                own[r, t, c] = emissions[b, t, c]
            if t == 0:
                for c in range(K):
                    own[r, t, c] += start[c]
            if t == n - 1:
                for c in range(K):
                    own[r, t, c] += end[c]
            top = -np.inf
            for c in range(K):
                top = max(top, own[r, t, c])
            top = top if top > -np.inf else 0.0
            total[r] += top
            for c in range(K):
                own[r, t, c] -= top
        for t in range(n, T):
            for c in range(K):
                own[r, t, c] = 0.0


@dense_loop
def _sum_scaled(
    first, own, total, sizes, powers, turned, shift, out_emissions, out_transitions,
    out_start, out_end, log_z, factor, wanted,
):  # fmt: skip
    """Forward and backward with probabilities; tells the rows where these vanish.

    `powers` are exp(transitions) of these rows or of all, `turned` has its two labels
    exchanged. As in `_step`, loops get whole tables and places in them.
    """
    rows, T, K = own.shape
    at_row, at_token = powers.shape[0] - 1, powers.shape[1] - 1
    alpha, beta, ready = np.empty((T, K)), np.empty((T, K)), np.empty((T, K))
    scale, share, pairs = np.empty(T), np.empty(T), np.zeros((K, K))
    bad = np.zeros(rows, np.bool_)
    for r in range(rows):
        b, i = first + r, min(r, at_row)
        n = sizes[b]
        log_z[b] = total[r]
        for t in range(n):
            if t == 0:
                for c in range(K):
                    alpha[0, c] = own[r, 0, c]
            else:
                j = min(t - 1, at_token)
                log_z[b] += shift[i, j]
                _product(alpha, t - 1, powers, i, j, alpha, t)
                for c in range(K):
                    alpha[t, c] *= own[r, t, c]
            norm = _normalise(alpha, t)
            if not norm > TINY:
                bad[r] = True
                break
            log_z[b] += np.log(norm)
        if bad[r] or not wanted:
            continue
        share[n - 1] = factor[b]
        for c in range(K):
            beta[n - 1, c] = 1.0
        for t in range(n - 1, 0, -1):
            for c in range(K):
                ready[t, c] = own[r, t, c] * beta[t, c]  # all that follows label c
            _product(ready, t, turned, i, min(t - 1, at_token), beta, t - 1)
            norm = 0.0
            for a in range(K):
                norm += alpha[t - 1, a] * beta[t - 1, a]
            size = _normalise(beta, t - 1)
            scale[t], share[t - 1] = factor[b] / norm, factor[b] / norm * size
            if not (norm > TINY and size > TINY):
                bad[r] = True
                break
        if bad[r]:
            continue
        _write_labels(b, n, alpha, beta, share, out_emissions, out_start, out_end)
        if len(out_transitions) == 1 and at_token == 0:
            _add_pairs(n, alpha, scale, ready, pairs)
        else:
            _write_pairs(b, i, n, alpha, scale, ready, powers, out_transitions)
    if len(out_transitions) == 1 and at_token == 0:
        for a in range(K if wanted else 0):
            for c in range(K):
                out_transitions[0, 0, a, c] += pairs[a, c] * powers[0, 0, a, c]
    return bad


@inner_loop
def _product(X, s, P, i, j, out, t):
    """out[t, c] = sum_a X[s, a] * P[i, j, a, c]; four rows at a time save stores."""
    K = P.shape[2]
    first = (K - 1) % 4 + 1  # rows before the fours
    x0 = X[s, 0]
    for c in range(K):
        out[t, c] = x0 * P[i, j, 0, c]
    for a in range(1, first):
        x0 = X[s, a]
        for c in range(K):
            out[t, c] += x0 * P[i, j, a, c]
    for a in range(first, K, 4):
        x0, x1, x2, x3 = X[s, a], X[s, a + 1], X[s, a + 2], X[s, a + 3]
        for c in range(K):
            one = x0 * P[i, j, a, c] + x1 * P[i, j, a + 1, c]
            two = x2 * P[i, j, a + 2, c] + x3 * P[i, j, a + 3, c]
            out[t, c] += one + two


@inner_loop
def _add_pairs(n, alpha, scale, ready, pairs):
    """pairs[a, c] += sum_t scale[t] * alpha[t - 1, a] * ready[t, c]; four t at a time."""
    K = alpha.shape[1]
    t = 1
    while t + 3 < n:
        for a in range(K):
            x0, x1 = alpha[t - 1, a] * scale[t], alpha[t, a] * scale[t + 1]
            x2, x3 = alpha[t + 1, a] * scale[t + 2], alpha[t + 2, a] * scale[t + 3]
            for c in range(K):
                one = x0 * ready[t, c] + x1 * ready[t + 1, c]
                two = x2 * ready[t + 2, c] + x3 * ready[t + 3, c]
                pairs[a, c] += one + two
        t += 4
    while t < n:
        for a in range(K):
            x0 = alpha[t - 1, a] * scale[t]
            for c in range(K):
                pairs[a, c] += x0 * ready[t, c]
        t += 1


@inner_loop
def _write_pairs(b, i, n, alpha, scale, ready, powers, out):
    """Marginals of the label pairs of a row whose tokens have tables of their own."""
    K, at_token, k = alpha.shape[1], powers.shape[1] - 1, min(b, len(out) - 1)
    for t in range(1, n):
        j = min(t - 1, at_token)
        for a in range(K):
            x = alpha[t - 1, a] * scale[t]
            for c in range(K):
                out[k, j, a, c] += x * ready[t, c] * powers[i, j, a, c]


@inner_loop
def _normalise(values, t):
    """Divide row t by its sum, unless that vanishes; returns it."""
    K = values.shape[1]
    one, two, c = 0.0, 0.0, K % 4
    for a in range(c):
        one += values[t, a]
    while c < K:  # sums that do not wait for each other
        one += values[t, c] + values[t, c + 1]
        two += values[t, c + 2] + values[t, c + 3]
        c += 4
    norm = one + two
    if norm > TINY:
        for c in range(K):
            values[t, c] /= norm
    return norm


@inner_loop
def _write_labels(b, n, alpha, beta, share, out_emissions, out_start, out_end):
    """Add the marginals of the labels of one row."""
    K = alpha.shape[1]
    for t in range(n):
        for c in range(K):
            out_emissions[b, t, c] += share[t] * alpha[t, c] * beta[t, c]
    for c in range(K):
        out_start[c] += share[0] * alpha[0, c] * beta[0, c]
        out_end[c] += share[n - 1] * alpha[n - 1, c] * beta[n - 1, c]


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
