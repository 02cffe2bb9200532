"""Labels of ONE sequence of feature lists or dicts, for services.

One sentence takes some fifty microseconds of arithmetic; objects made on the way to
the loops that serve whole batches would take as long again. So there is one loop here
that skips unknown features, adds up the weights and runs Viterbi.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.jit import loop
from maxmargin.inference.chain.viterbi import backward, forward, joined_scores
from maxmargin.structures.chain.tokens.named_tokens import NamedTokens, dict_columns

if TYPE_CHECKING:
    from maxmargin.structures.chain.layout import ChainLayout
    from maxmargin.structures.chain.structure import Chain

_ONES, _SEQUENCE, _FIRST = np.empty(0), np.zeros(2, np.int64), np.zeros(1, np.int64)


class _Layout(NamedTuple):
    """The fields of `ChainLayout` that the loop needs, in the order of its numbers."""

    labels: int
    order: int
    pairs: int
    start: int
    end: int
    bias: int


def labels_of_one(structure: Chain, sentence: Any, w: Floats) -> list[int]:
    """Numbers of the best labels of a sequence, in any form that `Chain.encode` takes."""
    quick = _labels_of_named(structure, sentence, w)
    if quick is not None:
        return quick
    x = structure.encode([sentence])
    found: list[int] = structure.argmax(x, _FIRST, w).labels.data.tolist()
    return found


def _labels_of_named(structure: Chain, sentence: Any, w: Floats) -> list[int] | None:
    """The same for feature lists and dicts; None where the general way is needed.

    That is for chains with other features, and for whatever deserves a message.
    """
    names = structure.names if structure.plainly_named else None
    if names is None or type(sentence) is not list or not sentence or not all(sentence):
        return None
    kinds, val = set(map(type, sentence)), _ONES
    n = len(sentence)
    if kinds == {list}:
        ptr = np.fromiter(accumulate(map(len, sentence), initial=0), np.int64, n + 1)
        found = map(names.get, chain.from_iterable(sentence), repeat(-1))
        try:
            idx = np.fromiter(found, np.int32, ptr[n])
        except TypeError:  # a feature without a hash, say a dict
            return None
    elif kinds == {dict}:
        columns = dict_columns(NamedTokens(sentence, _SEQUENCE), names, structure.pairs)
        if columns is None:
            return None
        ptr, idx, val = columns
    else:
        return None
    labels, known, score = _best(
        ptr,
        idx,
        val,
        w,
        _numbers(structure.layout),
        float(structure.eta),
        structure.legal,
    )
    return labels.tolist() if known and np.isfinite(score) else None


@lru_cache(maxsize=8)
def _numbers(layout: ChainLayout) -> Ints:
    """A layout as an array, which is quicker to hand to a loop."""
    return np.array([getattr(layout, name) for name in _Layout._fields], np.int64)


@loop
def _best(ptr, idx, val, w, numbers, eta, legal):
    """Best labels, the number of known features and the score; no `val`: all ones."""
    layout = _Layout(
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    )
    K, order, L = layout.labels, layout.order, len(ptr) - 1
    nodes, known = np.zeros(L * K), 0
    for t in range(L):
        row = nodes[t * K : (t + 1) * K]
        if layout.bias >= 0:
            for k in range(K):
                row[k] = w[layout.bias + k]
        for p in range(ptr[t], ptr[t + 1]):
            if idx[p] < 0:
                continue
            known += 1
            a, v = np.int64(idx[p]) * K, val[p] if len(val) > 0 else 1.0
            weights = w[a : a + K]
            for k in range(K):
                row[k] += v * weights[k]
    pair, first, last = joined_scores(w, layout, eta, legal)
    none, values = np.empty(0), np.empty(L * K**order)
    score, state = forward(nodes, none, pair, first, last, L, K, order, none, values)
    labels = np.empty(L, np.int32)
    backward(none, pair, L, K, order, values, state, labels)
    return labels, known, score
