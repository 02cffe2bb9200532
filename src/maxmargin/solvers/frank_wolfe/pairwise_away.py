"""Frank-Wolfe over the planes held, with their weights known: pairwise and away steps.

A visit of example i takes the highest plane held (or the zero plane), `up`, and makes
ONE step with exact line search, in the direction

    toward     C e_up - alpha                       (Frank-Wolfe)
    pairwise   e_up - e_down                        (weight moves between two planes)
    away       alpha - C e_down, where steeper      (else toward)

with `down` the lowest plane that has weight. Planes are those of `PlaneBlocks`, so
their number and their memory are bounded.

[1] Lacoste-Julien, Jaggi: On the global linear convergence of Frank-Wolfe optimization
    variants, 2015. [2] Osokin et al.: Minding the gaps for block Frank-Wolfe
    optimization of structured SVMs, ICML 2016.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from maxmargin.core.cuts import Cuts
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.problem import Problem
from maxmargin.solvers.planes.blocks import PlaneBlocks

RULES = ("toward", "pairwise", "away")


class Atoms:
    """Planes per example, one Frank-Wolfe step per visit.

    Parameters
    ----------
    problem : Problem
        With a dual set that is bounded, without a ridge.
    most, memory
        Planes per example and bytes at most.
    rule : {"toward", "pairwise", "away"}
        The direction of a step.
    """

    DUAL: ClassVar[tuple[str, ...]] = ("blocks", "_passes", "_mean", "_mean_b")

    def __init__(self, problem: Problem, most: int, memory: float, rule: str) -> None:
        dim, dual_set = problem.dim, problem.dual_set
        self.blocks = PlaneBlocks.of_problem(problem, dual_set, most, memory)
        self.upper = dual_set.upper
        self.rule = RULES.index(rule)
        self._passes = 0
        self._mean, self._mean_b = np.zeros(dim), 0.0

    @property
    def planes(self) -> int:
        """Planes held."""
        return self.blocks.planes

    @property
    def nbytes(self) -> int:
        """Memory held by the planes."""
        return self.blocks.nbytes

    def batch(self, memory: float) -> int:
        """How many planes a pass may have in hand at a time."""
        return self.blocks.batch(memory)

    def take_in(self, cuts: Cuts, w: Floats, gaps: Floats) -> tuple[float, float]:
        """Keep the new cuts and visit their examples: (rise, work)."""
        visit = self.blocks.take_in(*cuts[:4], w, closed=np.inf)
        rise, work = self.cached(cuts.ids, w, gaps)
        return rise, work + visit.work

    def cached(self, order: Ints, w: Floats, gaps: Floats) -> tuple[float, float]:
        """Visit the examples in `order`, without the oracle: (rise, work)."""
        store = self.blocks.store
        most = int(store.count.max(initial=0))
        rise, work = _visits(
            store, self.upper, order, w, gaps, self.rule, np.zeros(most + 1),
            np.zeros(int(store.width.max(initial=0)) + 1),
        )  # fmt: skip
        return rise, float(work)

    def dual(self, w: Floats) -> float:
        """Value of the dual."""
        return self.blocks.dual(w)

    def average(self, w: Floats) -> None:
        """Take w, at the end of a pass, into the weighted average."""
        k = self._passes
        self._passes += 1
        b = self.blocks.dual(w) + 0.5 * float(w @ w)
        self._mean *= k / (k + 2.0)
        self._mean += 2.0 / (k + 2.0) * w
        self._mean_b = (k * self._mean_b + 2.0 * b) / (k + 2.0)

    def mean(self, w: Floats) -> tuple[Floats, float]:
        """The average over passes, and the value of the dual there."""
        if self._passes == 0:
            return w.copy(), self.dual(w)
        mean = self._mean.copy()
        return mean, self._mean_b - 0.5 * float(mean @ mean)

    def weights(self) -> Floats:
        """Sum of alpha * a, from scratch."""
        return self.blocks.weights()


@loop
def _visits(store, upper, order, w, gaps, rule, g, local):
    """One Frank-Wolfe step for each example in `order`; gaps are those before."""
    rise, work = 0.0, 0
    for i in order:
        m = store.count[i]
        gaps[i] = 0.0
        if m == 0:
            continue
        f, at = store.first[i], store.support_at[i]
        for p in range(store.width[i]):
            local[p] = w[store.support[at + p]]
        work += 2 * store.width[i]
        for j in range(m):
            g[j] = store.b[f + j]
            for e in range(store.start[f + j], store.stop[f + j]):
                g[j] -= store.val[e] * local[store.idx[e]]
            work += store.stop[f + j] - store.start[f + j]
        up, down, left, inner = _ends(store.alpha[f : f + m], g, upper[i])
        top = g[up] if up >= 0 else 0.0
        low = g[down] if down >= 0 else 0.0
        gaps[i] = max(upper[i] * top - inner, 0.0)
        if gaps[i] <= 0.0 and rule != 1:
            continue
        at, room = store.gram_at[i], store.room[i]
        G = store.gram[at : at + room * room].reshape(room, room)
        alpha = store.alpha[f : f + m]
        for j in range(m):
            g[j] = 0.0  # from here on the direction
        if rule == 1:
            slope = top - low
            most = left if down < 0 else alpha[down]
            if up >= 0:
                g[up] += 1.0
            if down >= 0:
                g[down] -= 1.0
        elif rule == 2 and inner - upper[i] * low > gaps[i]:
            slope = inner - upper[i] * low
            have = left if down < 0 else alpha[down]
            most = have / (upper[i] - have) if have < upper[i] else np.inf
            for j in range(m):
                g[j] += alpha[j]
            if down >= 0:
                g[down] -= upper[i]
        else:
            slope, most = gaps[i], 1.0
            for j in range(m):
                g[j] -= alpha[j]
            if up >= 0:
                g[up] += upper[i]
        if slope <= 0.0 or up == down:
            continue
        curve = 0.0
        for j in range(m):
            if g[j] != 0.0:
                for k in range(m):
                    curve += g[j] * G[j, k] * g[k]
        size = most if slope >= most * curve else slope / curve
        if size == np.inf:
            continue
        rise += size * (slope - 0.5 * size * curve)
        _apply(store, i, alpha, g, size, local, w)
    return rise, work


@inner_loop
def _ends(alpha, g, upper):
    """Highest plane, lowest with weight (-1: the zero plane), weight left, inner."""
    up, down, left, inner = -1, -2, upper, 0.0
    for j in range(len(alpha)):
        left -= alpha[j]
        inner += alpha[j] * g[j]
        if g[j] > (g[up] if up >= 0 else 0.0):
            up = j
        if alpha[j] > 0.0 and (down < 0 or g[j] < g[down]):
            down = j
    left = max(left, 0.0)
    if left <= 1e-15 * upper:
        left = 0.0
    if down == -2 or (left > 0.0 and g[down] > 0.0):
        down = -1
    return up, down, left, inner


@inner_loop
def _apply(store, i, alpha, direction, size, local, w):
    """Alpha and w go `size` along the direction; `local` is scratch."""
    f, at, width = store.first[i], store.support_at[i], store.width[i]
    for p in range(width):
        local[p] = 0.0
    for j in range(len(alpha)):
        change = size * direction[j]
        if change == 0.0:
            continue
        new = alpha[j] + change
        if new < 1e-15 * abs(change):
            change, new = -alpha[j], 0.0
        alpha[j] = new
        store.idle[f + j] = 0
        for e in range(store.start[f + j], store.stop[f + j]):
            local[store.idx[e]] += change * store.val[e]
    for p in range(width):
        if local[p] != 0.0:
            w[store.support[at + p]] += local[p]
