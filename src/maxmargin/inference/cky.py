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

from maxmargin.jit import loop

ROOT, BARE, CHAIN, RULE, WORD = 0, 1, 2, 3, 4  # kinds of decisions


@loop
def span(i, j):
    """Number of the span of the words i .. j - 1."""
    return j * (j - 1) // 2 + i


@loop
def inside(rules, scores, words, gold, bonus, beam):
    """Charts base and top; `beam` drops what a span's best beats by more."""
    n, symbols = len(words.ptr) - 1, len(rules.label)
    base, top = _lowest(n, symbols), _lowest(n, symbols)
    active = np.empty((n * (n + 1) // 2, symbols), np.int32)
    size = np.zeros(n * (n + 1) // 2, np.int64)
    rule = scores.rule.copy()
    own, match = np.empty(len(rules.chain_top)), np.empty(len(rules.chain_top), np.int64)
    hit = np.zeros(rules.labels, np.int64)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            c = span(i, j)
            if width == 1:
                for p in range(words.ptr[i], words.ptr[j]):
                    base[c, words.tag[p]] = words.score[p]
            else:
                _anchor(
                    scores.rule, rules.rule_class, scores.start[i], scores.end[j],
                    scores.length[width], rule,
                )  # fmt: skip
                for k in range(i + 1, j):
                    a, b = span(i, k), span(k, j)
                    _combine(
                        rules.left_ptr, rules.right, rules.parent, rules.rule_class,
                        rule, scores.split[k], top[a], active[a, : size[a]], top[b],
                        base[c],
                    )  # fmt: skip
            _hits(gold.ptr, gold.label, c, hit)
            _chains(
                rules, scores.unary, scores.start[i], scores.end[j],
                scores.length[width], hit, own, match,
            )  # fmt: skip
            _close(rules, bonus, hit, own, match, base[c], top[c])
            size[c] = _keep(rules.left_ptr, beam, top[c], active[c])
    return base, top


@loop
def _lowest(n, symbols):
    out = np.empty((n * (n + 1) // 2, symbols))
    for c in range(len(out)):
        for a in range(symbols):
            out[c, a] = -np.inf
    return out


@loop
def _anchor(score, kind, start, end, length, rule):
    """Scores of all rules over one span; nothing to do where none is anchored."""
    if len(start) > 0:
        for r in range(len(rule)):
            s = kind[r]
            rule[r] = score[r] + start[s] + end[s] + length[s]


@loop
def _combine(
    left_ptr, right, parent, kind, rule, split, top_left, active, top_right, base
):
    """Raise `base` to the best of all rules over two neighbouring spans."""
    for q in range(len(active)):
        b = active[q]
        s = top_left[b]
        for r in range(left_ptr[b], left_ptr[b + 1]):
            value = top_right[right[r]]
            if value > -np.inf:
                value += s + rule[r]
                if len(split) > 0:
                    value += split[kind[r]]
                if value > base[parent[r]]:
                    base[parent[r]] = value


@loop
def _hits(ptr, label, c, hit):
    """How often each bracket label is in the set for span c."""
    for a in range(len(hit)):
        hit[a] = 0
    for p in range(ptr[c], ptr[c + 1]):
        hit[label[p]] += 1


@loop
def _chains(rules, unary, start, end, length, hit, own, match):
    """Score of each chain over a span; its brackets in the set beyond its bottom's."""
    for chain in range(len(own)):
        own[chain], match[chain] = 0.0, 0
        first, last = rules.chain_ptr[chain], rules.chain_ptr[chain + 1]
        for p in range(first, last):
            u = rules.chain_unary[p]
            own[chain] += unary[u]
            if len(start) > 0:
                s = rules.unary_class[u]
                own[chain] += start[s] + end[s] + length[s]
            label = rules.chain_label[p]
            if hit[label] > 0:
                used = 1 if rules.label[rules.chain_bottom[chain]] == label else 0
                for q in range(first, p):
                    used += 1 if rules.chain_label[q] == label else 0
                match[chain] += 1 if used < hit[label] else 0


@loop
def _close(rules, bonus, hit, own, match, base, top):
    """Add the bonus of brackets; the best of each symbol with at most one chain above."""
    for a in range(len(base)):
        label = rules.label[a]
        if label >= 0:
            base[a] += bonus.bracket + (bonus.match if hit[label] > 0 else 0.0)
        top[a] = base[a]
    for chain in range(len(own)):
        value = base[rules.chain_bottom[chain]]
        if value > -np.inf:
            length = rules.chain_ptr[chain + 1] - rules.chain_ptr[chain]
            value += own[chain] + bonus.bracket * length + bonus.match * match[chain]
            if value > top[rules.chain_top[chain]]:
                top[rules.chain_top[chain]] = value


@loop
def _keep(left_ptr, beam, top, active):
    """List the symbols that exist and can be a left child; drop those beyond the beam."""
    best = -np.inf
    if beam < np.inf:
        for a in range(len(top)):
            best = max(best, top[a])
    size = 0
    for a in range(len(top)):
        if top[a] > -np.inf:
            if top[a] < best - beam:
                top[a] = -np.inf
            elif left_ptr[a] < left_ptr[a + 1]:
                active[size] = a
                size += 1
    return size


@loop
def forest(rules, scores, words, gold, bonus, base, top, floor):
    """All decisions of all trees that score more than `floor`; see `chart.Forest`."""
    n, symbols = len(words.ptr) - 1, len(rules.label)
    out_top, out_base = _lowest(n, symbols), _lowest(n, symbols)
    id_top, id_base = np.zeros(top.shape, np.int64), np.zeros(top.shape, np.int64)
    own, match = np.empty(len(rules.chain_top)), np.empty(len(rules.chain_top), np.int64)
    hit = np.zeros(rules.labels, np.int64)
    count = np.array([1, 0])  # nodes, edges
    edge, value = np.empty((1024, 8), np.int32), np.empty(1024)
    last = span(0, n)
    for a in range(symbols):
        if scores.root[a] + top[last, a] > floor:
            out_top[last, a] = scores.root[a]
            one = _number(count, id_top, last, a)
            edge, value = _roomy(edge, value, count)
            _note(edge, value, count, 0, one, -1, ROOT, a, n, 0, 0, scores.root[a])
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            c = span(i, j)
            _hits(gold.ptr, gold.label, c, hit)
            _chains(
                rules, scores.unary, scores.start[i], scores.end[j],
                scores.length[width], hit, own, match,
            )  # fmt: skip
            for a in range(symbols):
                if id_top[c, a] > 0:
                    edge, value = _chain_edges(
                        rules, bonus, j, a, own, match, base[c], out_top[c],
                        out_base[c], id_top[c], id_base, c, floor, count, edge, value,
                    )  # fmt: skip
            for a in range(symbols):
                if id_base[c, a] == 0:
                    continue
                if width > 1:
                    edge, value = _rule_edges(
                        rules, scores, bonus, hit, i, j, a, top, out_base[c, a],
                        out_top, id_base[c, a], id_top, floor, count, edge, value,
                    )  # fmt: skip
                else:
                    p = words.ptr[i]
                    while words.tag[p] != a:
                        p += 1
                    edge, value = _roomy(edge, value, count)
                    _note(
                        edge, value, count, id_base[c, a], -1, -1, WORD, p, j, 0, 0,
                        words.score[p],
                    )  # fmt: skip
    node, outer = np.zeros((count[0], 2), np.int32), np.zeros(count[0])
    node[0, 1] = n
    _describe(n, id_top, out_top, node, outer)
    _describe(n, id_base, out_base, node, outer)
    return node, outer, edge[: count[1]], value[: count[1]]


@loop
def _chain_edges(
    rules, bonus, j, a, own, match, base, out_top, out_base, id_top, id_base, c, floor,
    count, edge, value,
):  # fmt: skip
    """Edges from a part with its chain to the parts without."""
    if out_top[a] + base[a] > floor:
        out_base[a] = max(out_base[a], out_top[a])
        one = _number(count, id_base, c, a)
        edge, value = _roomy(edge, value, count)
        _note(edge, value, count, id_top[a], one, -1, BARE, a, j, 0, 0, 0.0)
    for chain in range(rules.top_ptr[a], rules.top_ptr[a + 1]):
        b = np.int64(rules.chain_bottom[chain])
        length = rules.chain_ptr[chain + 1] - rules.chain_ptr[chain]
        outer = out_top[a] + own[chain]
        outer += bonus.bracket * length + bonus.match * match[chain]
        if outer + base[b] > floor:
            out_base[b] = max(out_base[b], outer)
            one = _number(count, id_base, c, b)
            edge, value = _roomy(edge, value, count)
            _note(
                edge, value, count, id_top[a], one, -1, CHAIN, chain, j, match[chain],
                length - match[chain], own[chain],
            )  # fmt: skip
    return edge, value


@loop
def _rule_edges(
    rules, scores, bonus, hit, i, j, a, top, outer, out_top, head, id_top, floor, count,
    edge, value,
):  # fmt: skip
    """Edges from a part to the two parts that a rule makes of it."""
    m = e = 0
    if rules.label[a] >= 0:
        m = 1 if hit[rules.label[a]] > 0 else 0
        e = 1 - m
        outer += bonus.bracket + bonus.match * m
    for p in range(rules.parent_ptr[a], rules.parent_ptr[a + 1]):
        r = np.int64(rules.by_parent[p])
        b, d = np.int64(rules.left[r]), np.int64(rules.right[r])
        for k in range(i + 1, j):
            x, y = span(i, k), span(k, j)
            left, right = top[x, b], top[y, d]
            if left + right > -np.inf:
                own = scores.rule[r]
                if scores.start.shape[1] > 0:
                    s = rules.rule_class[r]
                    own += scores.start[i, s] + scores.end[j, s]
                    own += scores.length[j - i, s] + scores.split[k, s]
                if outer + own + left + right > floor:
                    out_top[x, b] = max(out_top[x, b], outer + own + right)
                    out_top[y, d] = max(out_top[y, d], outer + own + left)
                    one = _number(count, id_top, x, b)
                    two = _number(count, id_top, y, d)
                    edge, value = _roomy(edge, value, count)
                    _note(edge, value, count, head, one, two, RULE, r, k, m, e, own)
    return edge, value


@loop
def _number(count, number, c, a):
    """Number of a part, a new one if it has none."""
    if number[c, a] == 0:
        number[c, a] = count[0]
        count[0] += 1
    return number[c, a]


@loop
def _roomy(edge, value, count):
    """Twice the room if there is none left."""
    t = count[1]
    if t < len(edge):
        return edge, value
    more, longer = np.empty((2 * t, 8), np.int32), np.empty(2 * t)
    for q in range(t):
        longer[q] = value[q]
        for column in range(8):
            more[q, column] = edge[q, column]
    return more, longer


@loop
def _note(edge, value, count, head, first, second, kind, rule, split, m, e, own):
    """Write down an edge."""
    t = count[1]
    edge[t, 0], edge[t, 1], edge[t, 2], edge[t, 3] = head, first, second, kind
    edge[t, 4], edge[t, 5], edge[t, 6], edge[t, 7] = rule, split, m, e
    value[t] = own
    count[1] += 1


@loop
def _describe(n, number, out, node, outer):
    """Span and outside score of each numbered part."""
    for j in range(1, n + 1):
        for i in range(j):
            c = span(i, j)
            for a in range(number.shape[1]):
                t = number[c, a]
                if t > 0:
                    node[t, 0], node[t, 1] = i, j
                    outer[t] = out[c, a]


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
