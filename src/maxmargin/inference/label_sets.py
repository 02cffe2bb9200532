"""The best set of labels in a taxonomy: with a label, all labels above it are in the set.

    max_S  sum_{z in S} score[z]     such that  z in S  implies  parents of z in S

If every label has one parent at most, sums from the leaves upwards find it. Otherwise it
is a minimum cut (Picard 1976): labels with positive scores hang on the source, the others
on the sink, and arcs that cannot be cut lead from each label to its parents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.inference.graph.tables import incidence
from maxmargin.inference.loopy.maxflow import min_cut

Parents = Sequence[Sequence[int]]  # of each label; labels come after their parents


def best_sets(scores: Floats, parents: Parents) -> np.ndarray:
    """The best set of each row of scores, as booleans (n, k).

    Of several best sets the smallest is taken.

    Parameters
    ----------
    scores : array (n, k)
        What each label adds to a set.
    parents : sequence of k sequences of int
        Numbers of the labels right above each label, all smaller than its own.

    Examples
    --------
    >>> best_sets(np.array([[-1.0, 3.0, -1.0], [-4.0, 3.0, 2.0]]), [(), (0,), (0,)])
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    if all(len(above) <= 1 for above in parents):
        return _in_forest(_with_those_below(scores, parents), parents)
    return _by_cuts(scores, parents)


def set_margins(scores: Floats, parents: Parents) -> Floats:
    """How much the best set with a label scores above the best set without, (n, k).

    No label has a larger margin than one above it, so the labels whose margins exceed
    any one number form a set that is allowed.

    Examples
    --------
    >>> set_margins(np.array([[-1.0, 3.0, -1.0]]), [(), (0,), (0,)])
    array([[ 2.,  2., -1.]])
    """
    if not any(len(above) for above in parents):
        return scores.copy()
    if all(len(above) <= 1 for above in parents):
        return _forest_margins(scores, parents)
    best = _by_cuts(scores, parents)
    most = (scores * best).sum(axis=1)
    out = np.empty_like(scores)
    for z in range(scores.shape[1]):
        forced = scores.copy()  # a push that outweighs everything else: the other value
        push = 1.0 + np.abs(scores).sum(axis=1)
        forced[:, z] += np.where(best[:, z], -2.0, 2.0) * push
        other = (scores * _by_cuts(forced, parents)).sum(axis=1)
        out[:, z] = np.where(best[:, z], most - other, other - most)
    return out


def _with_those_below(scores: Floats, parents: Parents) -> Floats:
    """Score of each label with the best choice of labels below it."""
    out = scores.copy()
    for z in range(len(parents) - 1, -1, -1):
        for above in parents[z]:
            out[:, above] += np.maximum(out[:, z], 0.0)
    return out


def _in_forest(value: Floats, parents: Parents) -> np.ndarray:
    chosen: np.ndarray = value > 0.0
    for z, above in enumerate(parents):
        for parent in above:
            chosen[:, z] &= chosen[:, parent]
    return chosen


def _forest_margins(scores: Floats, parents: Parents) -> Floats:
    """Best scores with and without each label, from the top down."""
    value = _with_those_below(scores, parents)
    on, off = value.copy(), np.zeros_like(value)
    for z, above in enumerate(parents):
        for parent in above:
            on[:, z] = on[:, parent] + np.minimum(value[:, z], 0.0)
            without = on[:, parent] - np.maximum(value[:, z], 0.0)
            off[:, z] = np.maximum(off[:, parent], without)
    return on - off


def _by_cuts(scores: Floats, parents: Parents) -> np.ndarray:
    """One minimum cut for each row."""
    pairs = [(z, parent) for z, above in enumerate(parents) for parent in above]
    edges = np.array(pairs, np.int32)
    near = incidence(edges, len(parents))
    out = np.empty(scores.shape, bool)
    capacity = np.zeros(2 * len(edges))
    for i, row in enumerate(scores):
        capacity[::2] = 1.0 + 2.0 * np.abs(row).sum()
        out[i] = ~min_cut(edges, near, np.ascontiguousarray(row), capacity)
    return out
