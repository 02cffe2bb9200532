"""The gamma-margin per-label loss of Taskar et al. 2003, section 6.

With S_d the best score of outputs of d wrong labels, an output of d errors can be made
the best by moving scores by at most gamma per wrong label if

    S_d + gamma d >= max over d' of  S_d' - gamma d'

and the gamma-margin loss is the largest such d, divided by the number of labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Floats, Ints


def margin_losses(
    ptr: Ints, loss: Floats, score: Floats, sizes: Ints, gammas: ArrayLike
) -> Floats:
    """Mean over examples of the gamma-margin per-label loss, for each gamma.

    Parameters
    ----------
    ptr : int array (n + 1,)
        Layers ptr[i]:ptr[i + 1] belong to example i.
    loss, score : arrays
        Number of errors of each layer, and its best score.
    sizes : int array (n,)
        Labels of each example.
    gammas : array

    Examples
    --------
    >>> ptr = np.array([0, 3])
    >>> loss, score = np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.5, -1.0])
    >>> margin_losses(ptr, loss, score, np.array([2]), [0.0, 0.5, 2.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    values = np.asarray(gammas, dtype=np.float64)
    out = np.zeros(len(values))
    for i in range(len(ptr) - 1):
        own = slice(ptr[i], ptr[i + 1])
        for q, gamma in enumerate(values):
            reach = score[own] + gamma * loss[own]
            best = (score[own] - gamma * loss[own]).max()
            out[q] += loss[own][reach >= best - 1e-12].max(initial=0.0) / sizes[i]
    return out / max(len(ptr) - 1, 1)
