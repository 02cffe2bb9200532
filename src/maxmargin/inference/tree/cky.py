"""Best trees of a string under scored binary rules and unary chains.

A tree is one root choice, and per span one binary rule (or word) below at most one
chain of unary rules; its score is the sum of theirs:

    base[i, j, A] = max over k, A -> B C of  rule(i, k, j) + top[i, k, B] + top[k, j, C]
    top[i, j, A]  = max over chains A -> ... -> B (or none) of  chain(i, j) + base[i, j, B]

Rules are looked up by their left child; only those whose right child exists score. A
rule's score may depend on where it stands: on i, j, j - i and k (`Scores`), brackets may
score on top (`Bonus`). `forest` keeps what occurs in any tree that scores more than a
floor: from the widest spans down, a span's part is kept if its best score inside plus
its best score outside is above the floor.

[1] Tsochantaridis et al. 2005, section 4.5.2.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop, loop

# kinds of decisions; typed, since loops are compiled anew for each literal
ROOT, BARE, CHAIN, RULE, WORD = (np.int64(kind) for kind in range(5))
NONE = np.empty(0)
NIL, ZERO, BASE, TOP = np.int64(-1), np.int64(0), np.int64(0), np.int64(1)


@inner_loop
def span(i, j):
    """Number of the span of the words i .. j - 1: each comes after its parts."""
    return j * (j + 1) // 2 - 1 - i


@loop
def inside(rules, scores, words, gold, bonus, beam, kept):
    """Best scores of all parts (`chart.Chart`); `beam` drops what is worse by more.

    Parts that `kept` (`chart.Kept`) does not have are left out.
    """
    n, symbols = len(words.ptr) - 1, len(rules.label)
    where = np.full((n * (n + 1) // 2, symbols), np.int32(-1))
    ptr = np.zeros(n * (n + 1) // 2 + 1, np.int64)
    symbol, value = np.empty(256, np.int32), np.empty((256, 2))
    right = np.full((n, symbols), -np.inf)  # top of the spans that end at j
    base, top = np.full(symbols, -np.inf), np.full(symbols, -np.inf)
    seen = np.empty(symbols, np.int32)
    rule = scores.rule.copy()
    own, match = (
        np.empty(len(rules.chain_top)),
        np.empty(len(rules.chain_top), np.int64),
    )
    hit = np.zeros(rules.labels, np.int64)
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            c, size = span(i, j), np.int64(0)
            if not _any_in(kept, c):
                ptr[c + 1] = ptr[c]
                continue
            for p in range(words.ptr[i], words.ptr[j] if j == i + 1 else words.ptr[i]):
                base[words.tag[p]] = words.score[p]
                seen[size] = words.tag[p]
                size += 1
            _anchor(
                scores.rule, rules.rule_class, scores.start[i], scores.end[j],
                scores.span[c], rule,
            )  # fmt: skip
            for k in range(i + 1, j):
                size = _combine(
                    rules.left_ptr, rules.right, rules.parent, rules.rule_class, rule,
                    scores.split[k], ptr[span(i, k)], ptr[span(i, k) + 1], symbol,
                    value, right[k], base, seen, size,
                )  # fmt: skip
            _hits(gold.ptr, gold.label, c, hit)
            _chains(
                rules, scores.unary, scores.start[i], scores.end[j],
                scores.span[c], hit, own, match,
            )  # fmt: skip
            # Chains start from parts that are kept, and end in such parts.
            size = _prune(kept, c, base, top, seen, size)
            size = _close(rules, bonus, hit, own, match, base, top, seen, size)
            size = _prune(kept, c, base, top, seen, size)
            while ptr[c] + size > len(symbol):
                symbol, value = _longer(symbol, value)
            _store(c, i, beam, base, top, seen[:size], where, ptr, symbol, value, right)
        for i in range(j):
            for p in range(ptr[span(i, j)], ptr[span(i, j) + 1]):
                right[i, symbol[p]] = -np.inf
    return where, ptr, symbol[: ptr[-1]].copy(), value[: ptr[-1]].copy()


@inner_loop
def _any_in(kept, c):
    """Whether span c may have any part."""
    found = len(kept.mask) == 0
    for g in range(kept.mask.shape[1]):
        found |= kept.mask[c, g] > 0
    return found


@inner_loop
def _prune(kept, c, base, top, seen, size):
    """Forget the parts of span c that are not kept; how many are left."""
    if len(kept.mask) == 0:
        return size
    left = np.int64(0)
    for q in range(size):
        a = seen[q]
        if kept.mask[c, kept.group[a]] > 0:
            seen[left] = a
            left += 1
        else:
            base[a] = top[a] = -np.inf
    return left


@inner_loop
def _anchor(score, kind, start, end, each, rule):
    """Scores of all rules over one span; nothing to do where none is anchored."""
    if len(start) > 0:
        for r in range(len(rule)):
            s = kind[r]
            rule[r] = score[r] + start[s] + end[s] + each[s]


@inner_loop
def _combine(
    left_ptr, right, parent, kind, rule, split, first, last, symbol, value, top, base,
    seen, size,
):  # fmt: skip
    """Raise `base` to the best of all rules over two neighbouring spans."""
    for q in range(first, last):
        b, s = symbol[q], value[q, 1]
        for r in range(left_ptr[b], left_ptr[b + 1] if s > -np.inf else 0):
            v = top[right[r]]
            if v > -np.inf:
                v += s + rule[r]
                if len(split) > 0:
                    v += split[kind[r]]
                a = parent[r]
                if v > base[a]:
                    if base[a] == -np.inf:
                        seen[size] = a
                        size += 1
                    base[a] = v
    return size


@inner_loop
def _hits(ptr, label, c, hit):
    """How often each bracket label is in the set for span c."""
    for a in range(len(hit)):
        hit[a] = 0
    for p in range(ptr[c], ptr[c + 1]):
        hit[label[p]] += 1


@inner_loop
def _chains(rules, unary, start, end, each, hit, own, match):
    """Score of each chain over a span; its brackets in the set beyond its bottom's."""
    for chain in range(len(own)):
        own[chain], match[chain] = 0.0, 0
        first, last = rules.chain_ptr[chain], rules.chain_ptr[chain + 1]
        for p in range(first, last):
            u = rules.chain_unary[p]
            own[chain] += unary[u]
            if len(start) > 0:
                s = rules.unary_class[u]
                own[chain] += start[s] + end[s] + each[s]
            label = rules.chain_label[p]
            if hit[label] > 0:
                used = 1 if rules.label[rules.chain_bottom[chain]] == label else 0
                for q in range(first, p):
                    used += 1 if rules.chain_label[q] == label else 0
                match[chain] += 1 if used < hit[label] else 0


@inner_loop
def _close(rules, bonus, hit, own, match, base, top, seen, size):
    """Add the bonus of brackets; the best of each symbol with at most one chain above."""
    for q in range(size):
        a = seen[q]
        if rules.label[a] >= 0:
            base[a] += bonus.bracket
            base[a] += bonus.match if hit[rules.label[a]] > 0 else 0.0
        top[a] = base[a]
    for chain in range(len(own)):
        v = base[rules.chain_bottom[chain]]
        if v > -np.inf:
            length = rules.chain_ptr[chain + 1] - rules.chain_ptr[chain]
            v += own[chain] + bonus.bracket * length + bonus.match * match[chain]
            a = rules.chain_top[chain]
            if top[a] == -np.inf:
                seen[size] = a
                size += 1
            top[a] = max(top[a], v)
    return size


@inner_loop
def _longer(symbol, value):
    """Twice the room."""
    more, worth = np.empty(2 * len(symbol), np.int32), np.empty((2 * len(symbol), 2))
    for q in range(len(symbol)):
        more[q], worth[q, 0], worth[q, 1] = symbol[q], value[q, 0], value[q, 1]
    return more, worth


@inner_loop
def _store(c, i, beam, base, top, seen, where, ptr, symbol, value, right):
    """Write down the parts of span c, clear base and top; drop those beyond the beam."""
    best, at = -np.inf, ptr[c]
    for q in range(len(seen)):
        best = max(best, top[seen[q]])
    for q in range(len(seen)):
        a = seen[q]
        if top[a] < best - beam:
            top[a] = -np.inf  # but base stays, for chains that start there
        where[c, a], symbol[at] = at, a
        value[at, 0], value[at, 1] = base[a], top[a]
        right[i, a] = top[a]
        at += 1
        base[a] = top[a] = -np.inf
    ptr[c + 1] = at


@loop
def forest(rules, scores, words, gold, bonus, where, ptr, symbol, value, floor):
    """All decisions of all trees that score more than `floor` (`chart.Forest`)."""
    n = len(words.ptr) - 1
    out = np.full((len(symbol), 2), -np.inf)  # base, top
    number = np.zeros((len(symbol), 2), np.int64)
    own, match = (
        np.empty(len(rules.chain_top)),
        np.empty(len(rules.chain_top), np.int64),
    )
    hit = np.zeros(rules.labels, np.int64)
    peak, steep = _peaks(rules, scores.rule, ptr, value)
    count = np.array([1, 0])  # nodes, edges
    edge, worth = np.empty((256, 8), np.int32), np.empty(256)
    for q in range(ptr[span(ZERO, n)], ptr[-1]):
        a = symbol[q]
        if scores.root[a] + value[q, 1] > floor:
            out[q, 1] = scores.root[a]
            one = _number(count, number, q, TOP)
            edge, worth = _roomy(edge, worth, count)
            _note(
                edge,
                worth,
                count,
                ZERO,
                one,
                NIL,
                ROOT,
                np.int64(a),
                n,
                ZERO,
                ZERO,
                out[q, 1],
            )
    for j in range(n, 0, -1):
        for i in range(j):
            c = span(i, j)
            if not _any_kept(number, ptr[c], ptr[c + 1]):
                continue
            _hits(gold.ptr, gold.label, c, hit)
            _chains(
                rules, scores.unary, scores.start[i], scores.end[j],
                scores.span[c], hit, own, match,
            )  # fmt: skip
            lift = _lift(scores.start[i], scores.end[j], scores.span[c])
            for q in range(ptr[c], ptr[c + 1]):
                if number[q, 1] > 0:
                    edge, worth = _chain_edges(
                        rules, bonus, j, q, np.int64(symbol[q]), own, match, where[c],
                        value, out, number, floor, count, edge, worth,
                    )  # fmt: skip
            for q in range(ptr[c], ptr[c + 1]):
                if number[q, 0] == 0:
                    continue
                edge, worth = _rule_edges(
                    rules, scores, bonus, hit, i, j, q, np.int64(symbol[q]), where,
                    value, out, number, floor, count, edge, worth, peak,
                    lift + steep[symbol[q]],
                )  # fmt: skip
                for p in range(words.ptr[i], words.ptr[j] if j == i + 1 else 0):
                    if words.tag[p] == symbol[q]:
                        edge, worth = _roomy(edge, worth, count)
                        _note(
                            edge, worth, count, number[q, 0], NIL, NIL, WORD, p, j, ZERO, ZERO,
                            words.score[p],
                        )  # fmt: skip
    node, outer = _described(n, count[0], ptr, number, out)
    return node, outer, edge[: count[1]], worth[: count[1]]


@inner_loop
def _any_kept(number, first, last):
    """Whether any part of a span, with its chain, is a node."""
    kept = False
    for q in range(first, last):
        kept |= number[q, 1] > 0
    return kept


@inner_loop
def _chain_edges(
    rules, bonus, j, q, a, own, match, where, value, out, number, floor, count, edge,
    worth,
):  # fmt: skip
    """Edges from a part with its chain to the parts without."""
    head = number[q, 1]
    if out[q, 1] + value[q, 0] > floor:
        out[q, 0] = max(out[q, 0], out[q, 1])
        one = _number(count, number, q, BASE)
        edge, worth = _roomy(edge, worth, count)
        _note(edge, worth, count, head, one, NIL, BARE, a, j, ZERO, ZERO, 0.0)
    for chain in range(rules.top_ptr[a], rules.top_ptr[a + 1]):
        p = np.int64(where[rules.chain_bottom[chain]])
        if p < 0:
            continue
        length = rules.chain_ptr[chain + 1] - rules.chain_ptr[chain]
        outer = out[q, 1] + own[chain]
        outer += bonus.bracket * length + bonus.match * match[chain]
        if outer + value[p, 0] > floor:
            out[p, 0] = max(out[p, 0], outer)
            one = _number(count, number, p, BASE)
            edge, worth = _roomy(edge, worth, count)
            _note(
                edge, worth, count, head, one, NIL, CHAIN, chain, j, match[chain],
                length - match[chain], own[chain],
            )  # fmt: skip
    return edge, worth


@inner_loop
def _rule_edges(
    rules, scores, bonus, hit, i, j, q, a, where, value, out, number, floor, count,
    edge, worth, peak, most,
):  # fmt: skip
    """Edges from a part to the two parts that a rule makes of it."""
    m = e = ZERO
    outer, head = out[q, 0], number[q, 0]
    if rules.label[a] >= 0:
        m = np.int64(hit[rules.label[a]] > 0)
        e = 1 - m
        outer += bonus.bracket + bonus.match * m
    for k in range(i + 1, j):
        lift = most + _lift(scores.split[k], NONE, NONE)
        if outer + lift + peak[span(i, k)] + peak[span(k, j)] < floor:
            continue
        one, two = where[span(i, k)], where[span(k, j)]
        for p in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
            r = np.int64(rules.by_parent[p])
            x, y = np.int64(one[rules.left[r]]), np.int64(two[rules.right[r]])
            if x < 0 or y < 0:
                continue
            own = scores.rule[r]
            if scores.start.shape[1] > 0:
                s = rules.rule_class[r]
                own += scores.start[i, s] + scores.end[j, s]
                own += scores.span[span(i, j), s] + scores.split[k, s]
            if outer + own + value[x, 1] + value[y, 1] > floor:
                out[x, 1] = max(out[x, 1], outer + own + value[y, 1])
                out[y, 1] = max(out[y, 1], outer + own + value[x, 1])
                first = _number(count, number, x, TOP)
                second = _number(count, number, y, TOP)
                edge, worth = _roomy(edge, worth, count)
                _note(edge, worth, count, head, first, second, RULE, r, k, m, e, own)
    return edge, worth


@inner_loop
def _peaks(rules, rule, ptr, value):
    """Best score of any part of each span, and of any rule of each parent."""
    peak = np.full(len(ptr) - 1, -np.inf)
    for c in range(len(peak)):
        for q in range(ptr[c], ptr[c + 1]):
            peak[c] = max(peak[c], value[q, 1])
    steep = np.full(len(rules.label), -np.inf)
    for r in range(len(rule)):
        steep[rules.parent[r]] = max(steep[rules.parent[r]], rule[r])
    return peak, steep


@inner_loop
def _lift(start, end, each):
    """No class of rules gets more than this from where it stands, and a little."""
    best = 0.0
    for s in range(len(start)):
        v = start[s]
        if len(end) > 0:
            v += end[s] + each[s]
        best = v if s == 0 else max(best, v)
    return best + 1e-9 * (1.0 + abs(best))


@inner_loop
def _number(count, number, q, layer):
    """Number of a part as a node, a new one if it has none."""
    if number[q, layer] == 0:
        number[q, layer] = count[0]
        count[0] += 1
    return number[q, layer]


@inner_loop
def _roomy(edge, worth, count):
    """Twice the room if there is none left."""
    t = count[1]
    if t < len(edge):
        return edge, worth
    more, longer = np.empty((2 * t, 8), np.int32), np.empty(2 * t)
    for q in range(t):
        longer[q] = worth[q]
        for column in range(8):
            more[q, column] = edge[q, column]
    return more, longer


@inner_loop
def _note(edge, worth, count, head, first, second, kind, rule, split, m, e, own):
    """Write down an edge."""
    t = count[1]
    edge[t, 0], edge[t, 1], edge[t, 2], edge[t, 3] = head, first, second, kind
    edge[t, 4], edge[t, 5], edge[t, 6], edge[t, 7] = rule, split, m, e
    worth[t] = own
    count[1] += 1


@inner_loop
def _described(n, nodes, ptr, number, out):
    """Span and outside score of each node."""
    node, outer = np.zeros((nodes, 2), np.int32), np.zeros(nodes)
    node[0, 1] = n
    for j in range(1, n + 1):
        for i in range(j):
            for q in range(ptr[span(i, j)], ptr[span(i, j) + 1]):
                for layer in range(2):
                    t = number[q, layer]
                    if t > 0:
                        node[t, 0], node[t, 1] = i, j
                        outer[t] = out[q, layer]
    return node, outer


@loop
def written(rules, words, node, edge, path):
    """Encoded tree of the edges `path`, given from the root down."""
    size, longest = 0, 1
    for c in range(len(rules.chain_ptr) - 1):
        longest = max(longest, rules.chain_ptr[c + 1] - rules.chain_ptr[c])
    out = np.empty((len(path) * longest, 5), np.int32)
    for q in range(len(path)):
        head, kind = edge[path[q], 0], edge[path[q], 3]
        rule, split = edge[path[q], 4], edge[path[q], 5]
        first, last = size, size + 1
        if kind == ROOT:
            out[size, 3], out[size, 4] = rules.root_rule[rule], -1
        elif kind == RULE:
            out[size, 3], out[size, 4] = rule, rules.label[rules.parent[rule]]
        elif kind == WORD and words.rule[rule] >= 0:
            out[size, 3], out[size, 4] = words.rule[rule], -1
        elif kind == CHAIN:
            for p in range(rules.chain_ptr[rule], rules.chain_ptr[rule + 1]):
                out[size, 3] = len(rules.parent) + rules.chain_unary[p]
                out[size, 4] = rules.chain_label[p]
                size += 1
            last = size
        else:
            last = size
        for t in range(first, last):
            out[t, 0], out[t, 1], out[t, 2] = node[head, 0], split, node[head, 1]
        size = last
    return out[:size].copy().reshape(-1)
