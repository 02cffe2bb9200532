"""Orders of documents: the best under scores, and the best under scores and a loss.

An order h of n documents scores the mean over pairs of the score difference,

    sum_p D_p scores[h_p],       D_p = 2 (n + 1 - 2 p) / (n (n - 1)),   p = 1 .. n,

so sorting by score is best. A loss is a sum over relevant documents of what it costs to
have j others before the i-th of them, cost[i, j]; documents of one kind stay sorted by
score, and the best interleaving of the two lists is a path through a table.

[1] Yue, Finley, Radlinski, Joachims 2007 (average precision). [2] Joachims 2005 (ROC
area).
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.jit import loop


def place_weights(n: int) -> Floats:
    """D of the places 1 .. n; a single document has nothing to be compared with.

    Examples
    --------
    >>> place_weights(3).round(3).tolist()
    [0.667, 0.0, -0.667]
    """
    place = np.arange(1, n + 1)
    return 2.0 * (n + 1 - 2 * place) / max(n * (n - 1), 1)


@loop
def best_interleaving(good, bad, weights, cost):
    """Value, and whether each place is a relevant one's; both lists sorted by score."""
    P, N = len(good), len(bad)
    best = np.full((P + 1, N + 1), -np.inf)
    best[0, 0] = 0.0
    for i in range(P + 1):
        for j in range(N + 1):
            if i > 0:
                s = best[i - 1, j] + weights[i + j - 1] * good[i - 1] + cost[i - 1, j]
                best[i, j] = max(best[i, j], s)
            if j > 0:
                s = best[i, j - 1] + weights[i + j - 1] * bad[j - 1]
                best[i, j] = max(best[i, j], s)
    seen = np.zeros(P + N, np.bool_)
    i, j = P, N
    while i + j > 0:
        own = -np.inf
        if i > 0:
            own = best[i - 1, j] + weights[i + j - 1] * good[i - 1] + cost[i - 1, j]
        if i > 0 and own == best[i, j]:
            i -= 1
            seen[i + j] = True
        else:
            j -= 1
    return best[P, N], seen
