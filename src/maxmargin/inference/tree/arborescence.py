"""Non-projective dependency trees: the best, and sums over all of them.

Token m has one head: 0 is the root, h > 0 is token h - 1. A tree scores the sum of
arcs[m, head(m), label]. Chu-Liu/Edmonds: every token takes its best head; while there is
a cycle, it is contracted to one node, an arc that enters it at m being worth what it
adds beyond the arc of the cycle that it replaces; then contractions are undone.
The sum of exp(score) over trees is a determinant (matrix-tree theorem), its gradient an
inverse. With one root only: a constant taken from the root's arcs makes trees with
fewer of them win [3]; the determinant has the root's scores in its first row [2].

[1] Edmonds 1967, Optimum branchings. [2] Koo et al. 2007, Structured prediction models
via the matrix-tree theorem. [3] Stanojevic and Cohen 2021, A root of a problem.
[4] Grassmann, Taksar, Heyman 1985, Regenerative analysis and steady state distributions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.jit import inner_loop, loop

WELL_CONDITIONED = 1e4  # condition number of a Laplacian whose inverse is trusted


@loop
def best_arborescences(first, last, arcs, sizes, single, rows, value):
    """Head h and label c of each token, as h * labels + c in rows[b, m]."""
    N, L = arcs.shape[1] + 1, arcs.shape[3]
    score, label = np.empty((N, N)), np.empty((N, N), np.int32)
    work = np.empty((N, N))
    head_of, child_of = np.empty((N, N), np.int32), np.empty((N, N), np.int32)
    head = np.zeros(N, np.int64)
    for b in range(first, last):
        n = sizes[b]
        low, high = np.inf, -np.inf
        for m in range(1, n + 1):
            for h in range(n + 1):
                top, at = -np.inf, 0
                for c in range(L if h != m else 0):
                    if arcs[b, m - 1, h, c] > top:
                        top, at = np.float64(arcs[b, m - 1, h, c]), c
                score[h, m], label[h, m] = top, at
                if top > -np.inf:
                    low, high = min(low, top), max(high, top)
        fine = (1.0 + n * (high - low)) if single and high > -np.inf else 0.0
        for h in range(n + 1):
            for m in range(1, n + 1):
                work[h, m] = score[h, m] - fine if h == 0 else score[h, m]
                head_of[h, m], child_of[h, m] = h, m
        value[b] = -np.inf
        if not _solve(n, work, head_of, child_of, head):
            continue
        total, roots = 0.0, 0
        for m in range(1, n + 1):
            h = head[m]
            rows[b, m - 1] = h * L + label[h, m]
            total += score[h, m]
            roots += h == 0
        if roots == 1 or not single:
            value[b] = total


@inner_loop
def _solve(n, score, head_of, child_of, head):
    """Contract cycles until there are none, then expand; False if no tree exists."""
    active, group = np.ones(n + 1, np.bool_), np.arange(n + 1)
    best = np.zeros(n + 1, np.int64)
    before = np.empty((n + 1, n + 1), np.int64)  # groups before each contraction
    into_head = np.zeros((n + 1, n + 1), np.int64)  # arcs of each cycle, as they were
    into_child = np.zeros((n + 1, n + 1), np.int64)
    member = np.zeros((n + 1, n + 1), np.bool_)
    merged = np.zeros(n + 1, np.int64)
    level = 0
    while True:
        for m in range(1, n + 1):
            if active[m]:
                top = -np.inf
                for h in range(n + 1):
                    if active[h] and h != m and score[h, m] > top:
                        top, best[m] = score[h, m], h
                if top == -np.inf:
                    return False
        start = _find_cycle(n, active, best)
        if start < 0:
            break
        for v in range(n + 1):
            before[level, v] = group[v]
        at = start
        while not member[level, at]:
            member[level, at] = True
            into_head[level, at] = head_of[best[at], at]
            into_child[level, at] = child_of[best[at], at]
            at = best[at]
        merged[level] = start
        _contract(
            n, start, member[level], active, best, score, head_of, child_of, group
        )
        level += 1
    enter = np.zeros(n + 1, np.int64)
    for m in range(1, n + 1):
        if active[m]:
            child = child_of[best[m], m]
            head[child], enter[m] = head_of[best[m], m], child
    for q in range(level - 1, -1, -1):
        child = enter[merged[q]]
        kept = before[
            q, child
        ]  # the member of the cycle that gets its head from outside
        for v in range(1, n + 1):
            if member[q, v] and v != kept:
                head[into_child[q, v]] = into_head[q, v]
                enter[v] = into_child[q, v]
        enter[kept] = child
    return True


@inner_loop
def _find_cycle(n, active, best):
    """A node on a cycle of best heads, or -1."""
    seen = np.zeros(n + 1, np.int64)
    for m in range(1, n + 1):
        if not active[m] or seen[m] > 0:
            continue
        v = m
        while v != 0 and seen[v] == 0:
            seen[v] = m
            v = best[v]
        if v != 0 and seen[v] == m:
            return v
    return -1


@inner_loop
def _contract(n, node, member, active, best, score, head_of, child_of, group):
    """Make the cycle one node, called `node`; its arcs remember what they were."""
    worth = np.zeros(n + 1)
    for c in range(n + 1):
        if member[c]:
            worth[c] = score[best[c], c]
    for u in range(n + 1):
        if not active[u] or member[u]:
            continue
        top, at = -np.inf, -1
        for c in range(n + 1):
            if member[c] and score[u, c] - worth[c] > top:
                top, at = score[u, c] - worth[c], c
        one, two = (head_of[u, at], child_of[u, at]) if at >= 0 else (0, 0)
        score[u, node], head_of[u, node], child_of[u, node] = top, one, two
        if u == 0:
            continue
        top, at = -np.inf, node
        for c in range(n + 1):
            if member[c] and score[c, u] > top:
                top, at = score[c, u], c
        one, two = head_of[at, u], child_of[at, u]
        score[node, u], head_of[node, u], child_of[node, u] = top, one, two
    for c in range(n + 1):
        if member[c] and c != node:
            active[c] = False
    for v in range(n + 1):
        if member[group[v]]:
            group[v] = node


def sum_arborescences(arcs: Floats, single: bool) -> tuple[float, Floats]:
    """Log of the sum of exp(score) over all trees of one sentence, and its gradient.

    Where scores lie so far apart that the determinant would lose digits, heads are
    eliminated in logarithms instead, without a subtraction.

    Parameters
    ----------
    arcs : array (n, n + 1, labels)
    single : bool
        One child of the root only.

    Examples
    --------
    >>> log_z, marginal = sum_arborescences(np.zeros((2, 3, 1)), single=True)
    >>> round(float(np.exp(log_z)), 6), marginal[:, :, 0].round(6).tolist()
    (2.0, [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0]])
    """
    n = len(arcs)
    scores = np.array(arcs, dtype=np.float64)
    scores[np.arange(n), np.arange(1, n + 1)] = -np.inf
    if n == 0:
        return 0.0, scores
    heads = np.logaddexp.reduce(scores, axis=2)  # (token, head)
    top = heads.max(axis=1)
    if not np.isfinite(top).all():
        return -np.inf, np.zeros_like(scores)
    found = _by_determinant(np.exp(heads - top[:, None]), single)
    if found is None:
        found = _by_elimination(heads - top[:, None], single)
    log_z, marginal = found
    safe = np.where(np.isfinite(heads), heads, 0.0)
    share = np.exp(scores - safe[:, :, None])  # of each label in the arc
    return log_z + float(top.sum()), marginal[:, :, None] * share


def _by_determinant(weight: Floats, single: bool) -> tuple[float, Floats] | None:
    """Log of the sum over trees and the probability of each arc, from exp(scores).

    None where rounding errors may exceed some 1e-9.
    """
    n = len(weight)
    between, root = weight[:, 1:].T, weight[:, 0]  # [head, token]
    laplacian = np.diag(between.sum(axis=0)) - between
    if single:
        laplacian[0] = root
    else:
        laplacian += np.diag(root)
    sign, log_det = np.linalg.slogdet(laplacian)
    if sign <= 0 or not np.isfinite(log_det):
        return None
    inverse = np.linalg.inv(laplacian)  # [token, row]
    condition = np.abs(laplacian).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max()
    if not condition < WELL_CONDITIONED:
        return None
    grad = np.zeros((n, n + 1))
    rest = np.ones(n)
    rest[0] = 0.0 if single else 1.0
    # d log det / d weight[m, h]: the diagonal entry of m, less the entry (h, m).
    diagonal = np.diag(inverse) * rest
    grad[:, 1:] = diagonal[:, None] - inverse * rest[None, :]
    grad[:, 0] = inverse[:, 0] if single else np.diag(inverse)
    grad[np.arange(n), np.arange(1, n + 1)] = 0.0
    return float(log_det), np.maximum(weight * grad, 0.0)


def _by_elimination(heads: Floats, single: bool) -> tuple[float, Floats]:
    """The same from scores, whatever their size.

    Token k is removed by leading its arcs past it, with p_k = sum_h w[k, h]:

        w[m, h] += w[m, k] w[k, h] / p_k,      sum over trees = prod_k p_k.

    This is Gaussian elimination on the Laplacian, written so that nothing is subtracted
    [4]. With one root only, p_k leaves the root out for all tokens but the last, whose
    only head is the root: this keeps the terms that are linear in the root's weights.
    Probabilities are the gradient, found by going through the steps backwards.
    """
    n = len(heads)
    w = heads.copy()
    left = list(range(n))
    steps: list[_Removal] = []
    log_z = 0.0
    while left:
        last = len(left) == 1
        columns = [0, *(h + 1 for h in left)]
        table = w[np.ix_(left, columns)]  # own column: -inf
        counted = table[:, 1:] if single and not last else table
        sums = np.logaddexp.reduce(counted, axis=1)
        able = np.flatnonzero(sums > -np.inf)
        if len(able) == 0:
            return -np.inf, np.zeros_like(heads)
        q = int(able[-1])
        k, p = left[q], sums[q]
        log_z += float(p)
        past = w[left, k + 1][:, None] + (table[q] - p)[None, :]
        new = np.logaddexp(table, past)
        new[np.arange(len(left)), np.arange(1, len(left) + 1)] = -np.inf
        steps.append(_Removal(q, p, left, columns, table, past, new))
        w[np.ix_(left, columns)] = new
        left = [h for h in left if h != k]
    return log_z, _backwards(steps, n, single)


class _Removal(NamedTuple):
    """One step of the elimination: scores of the tokens left, before and after it."""

    q: int  # which of them goes
    p: float  # log of the sum over its heads
    left: list[int]
    columns: list[int]  # the root, and the tokens left
    table: Floats
    past: Floats  # what is added: arcs led past the token
    new: Floats


def _backwards(steps: list[_Removal], n: int, single: bool) -> Floats:
    """Gradient of log_z with respect to the scores, from the steps of elimination."""
    grad = np.zeros((n, n + 1))
    for q, p, left, columns, table, past, new in reversed(steps):
        after = grad[np.ix_(left, columns)]
        after[q] = 0.0  # token k and its arcs are gone
        after[:, q + 1] = 0.0
        known = np.where(np.isfinite(new), new, 0.0)
        taken, kept = after * np.exp(past - known), after * np.exp(table - known)
        through = taken.sum()  # arcs that led past k
        counted = table[q] - p
        if single and len(left) > 1:
            counted[0] = -np.inf  # not among the terms of p
        counted = np.exp(counted)
        kept[q] = taken.sum(axis=0) + (1.0 - through) * counted
        kept[:, q + 1] = taken.sum(axis=1)
        kept[q, q + 1] = 0.0
        grad[np.ix_(left, columns)] = kept
    return np.clip(grad, 0.0, 1.0)
