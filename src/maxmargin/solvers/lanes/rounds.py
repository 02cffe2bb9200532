"""Loops that prepare lanes, and that pass their changes on at the end of a round.

`rows` are the places in w of weights that lanes share, `size` weights each.
"""

from __future__ import annotations

from maxmargin.core.jit import inner_loop, loop
from maxmargin.solvers.lanes.scores import add_rows


@loop
def count_examples(ptr, first, idx, count, seen):
    """count[f] = examples that have feature f; `seen` is -1 everywhere."""
    for i in range(len(first) - 1):
        for e in range(ptr[first[i]], ptr[first[i + 1]]):
            if seen[idx[e]] != i:
                seen[idx[e]] = i
                count[idx[e]] += 1


@loop
def sort_features(ptr, idx, val, shared, mid, new_idx, new_val):
    """Put the shared features of each token first; mid[r] is where those of r end."""
    for r in range(len(ptr) - 1):
        at = ptr[r]
        for s in range(2):
            for e in range(ptr[r], ptr[r + 1]):
                if (shared[idx[e]] == 1) == (s == 0):
                    new_idx[at], new_val[at] = idx[e], val[e]
                    at += 1
            if s == 0:
                mid[r] = at


@loop
def shared_change(w, rows, size, before, change, times):
    """Put the change of shared weights, 1 / times of what is seen, into `change`."""
    share = 1.0 / times
    for h in range(len(rows)):
        at = rows[h]
        for k in range(size):
            e = h * size + k
            change[e] = (w[at + k] - before[e]) * share


@loop
def add_shared(w, rows, size, before, changes):
    """Set shared weights to those of before the round and all changes since."""
    for h in range(len(rows)):
        at = rows[h]
        for k in range(size):
            e = h * size + k
            v = before[e]
            for j in range(len(changes)):
                v += changes[j, e]
            before[e] = w[at + k] = v


@loop
def add_log(w, begin, features, values, at, columns, changes, K):
    """Add the changes that another lane has logged to weights that are not shared."""
    _add_log(w, begin, features, values, at, columns, changes, K)


@inner_loop
def _add_log(w, begin, features, values, at, columns, changes, K):
    for e in range(len(begin) - 1):
        i, j = at[e], at[e + 1]
        add_rows(
            features, values, begin[e], begin[e + 1], columns[i:j], changes[i:j], 1.0,
            w, K,
        )  # fmt: skip
