"""The best segmentation of one sequence, as loops that other loops call.

A segmentation of L tokens is a row of codes, one for each token:

    0  outside      2 k - 1  first token of a segment of label k      2 k  a later one

for labels k = 1 .. N; a token outside is a segment of one token with label 0. A segment
leaves the sequence in one of C states: its label or, of tokens outside that come after
a segment of label m, N + m, where states tell them apart (C = 2 N + 1, else N + 1).
Scores of segments are a flat table, [t, w, k] for the w + 1 tokens from t on, and

    best[j, k] = max_w  segments[j - w - 1, w, k] + into[j - w - 1, k]
    into[j, k] = max_a  best[j, a] + pair[a, k],      into[0, k] = first[k]

so that the best segmentation takes O(L W N + L C^2). Tokens outside have w = 0 only.

[1] Sarawagi and Cohen 2004, Semi-Markov conditional random fields.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop


@inner_loop
def fill_best(segments, pair, first, L, W, C, N, into, best, width):
    """Values of all places and states, and the widths behind them."""
    for k in range(C):
        into[k] = first[k]
    for j in range(1, L + 1):
        t = j - 1
        for k in range(C):
            best[j * C + k] = into[t * C + k] + segments[t * W * C + k]
            width[j * C + k] = 0
        for w in range(1, min(W, j)):
            t = j - w - 1
            at = (t * W + w) * C
            for k in range(1, N + 1):
                v = into[t * C + k] + segments[at + k]
                if v > best[j * C + k]:
                    best[j * C + k] = v
                    width[j * C + k] = w
        for k in range(C if j < L else 0):
            top = -np.inf
            for a in range(C):
                top = max(top, best[j * C + a] + pair[a * C + k])
            into[j * C + k] = top


@inner_loop
def best_codes(segments, pair, first, last, L, W, C, N, into, best, width, out):
    """Write the codes of the best segmentation; returns its score."""
    if L == 0:
        return 0.0
    fill_best(segments, pair, first, L, W, C, N, into, best, width)
    score, k = -np.inf, 0
    for c in range(C):
        if best[L * C + c] + last[c] > score:
            score, k = best[L * C + c] + last[c], c
    j = L
    while j > 0:
        t = j - 1 - width[j * C + k]
        write_segment(t, j, k, N, out)
        top, before = -np.inf, 0
        for a in range(C if t > 0 else 0):
            if best[t * C + a] + pair[a * C + k] > top:
                top, before = best[t * C + a] + pair[a * C + k], a
        j, k = t, before
    return score


@inner_loop
def write_segment(t, end, k, N, out):
    """Codes of the tokens t .. end - 1 as a segment that ends in state k."""
    out[t] = 2 * k - 1 if 0 < k <= N else 0
    for s in range(t + 1, end):
        out[s] = 2 * k


@inner_loop
def segment_end(codes, t):
    """Token after the last one of the segment that begins at token t."""
    end = t + 1
    while codes[t] > 0 and end < len(codes) and codes[end] == codes[t] + 1:
        end += 1
    return end


@inner_loop
def path_score(segments, pair, first, last, codes, W, C, N):
    """Score of a segmentation."""
    L, t, before, seen = len(codes), 0, -1, 0
    total = 0.0
    while t < L:
        end, k = segment_end(codes, t), (codes[t] + 1) // 2
        if k > 0:
            seen = k
        elif seen > 0 and C > N + 1:
            k = N + seen
        total += segments[(t * W + end - t - 1) * C + k]
        total += pair[before * C + k] if before >= 0 else first[k]
        t, before = end, k
    return total + last[before] if L > 0 else total


@inner_loop
def fill_costs(truth, W, C, N, cost, wrong, missed, out):
    """Loss of each segment, [t, w, k]; their sum is the loss of a segmentation.

    cost[true code, code] is paid for each token; `wrong` for a segment that is not in
    the truth; `missed` for a true segment that is not found, where its last token is.
    """
    L = len(truth)
    t, end, here = 0, 0, 0  # `here`, `end`: the true segment that begins at t, if any
    for t in range(L):
        here = 0
        if truth[t] % 2 == 1:
            here, end = (truth[t] + 1) // 2, segment_end(truth, t)
        for k in range(C):
            total, inside = 0.0, 0 < k <= N
            for w in range(min(W, L - t) if inside else 1):
                s = t + w
                code = 0 if not inside else 2 * k - 1 if w == 0 else 2 * k
                total += cost[truth[s], code]
                last = truth[s] > 0 and (
                    s + 1 == L or truth[s + 1] != _goes_on(truth[s])
                )
                total += missed if last else 0.0
                found = inside and here == k and end == s + 1
                extra = 0.0 if not inside else -missed if found else wrong
                out[(t * W + w) * C + k] = total + extra


@inner_loop
def _goes_on(code):
    """The code of a further token of the same segment."""
    return code + code % 2


@inner_loop
def path_cost(costs, codes, W, C):
    """Sum of the costs of the segments of a row."""
    t, total = 0, 0.0
    while t < len(codes):
        end = segment_end(codes, t)
        total += costs[(t * W + end - t - 1) * C + (codes[t] + 1) // 2]
        t = end
    return total
