"""Block dual over all outputs at once, where they are few and psi is a product.

With psi(x, y) = phi(x) (x) Lambda(y) every plane of example i is a multiple of
phi(x_i), so nothing is stored but alpha (n, k): a visit fills the example's scores,
solves its block exactly by pairwise steps, and adds one multiple of phi(x_i) per output
feature to w. There is no oracle to ask: a visit sees all outputs, and its gap is exact.
Closed examples rest, twice as long each time; when the gaps seen on the way suggest
that the tolerance is met, a pass at fixed weights certifies it. With canonical outputs
and the linear penalty this is the sequential dual method for Crammer-Singer problems.

[1] Keerthi et al.: A sequential dual method for large scale multi-class linear SVMs,
    KDD 2008. [2] Balamurugan et al. 2012, Algorithm 2 (summed error, the box).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints, Labels, add_scores, fill_scores
from maxmargin.formulations import DualSet
from maxmargin.jit import loop
from maxmargin.problem import Problem
from maxmargin.solvers.base import Solver, State, Status, permutation

STEPS = 50  # pairwise steps per visit
LONGEST_REST = 15


class Tables(NamedTuple):
    """The problem in factored form."""

    ptr: Ints  # vectors: see arrays.Vectors
    idx: Labels
    val: Floats
    width: int
    lambdas: Floats  # (k, z)
    plain: bool  # Lambda is the identity
    inner: Floats  # (k, k) <Lambda(y), Lambda(y')>
    square: Floats  # (n,) ||phi(x_i)||^2
    truth: Ints  # (n,)
    b: Floats  # (k, k) height of the plane, by (true output, output)
    c: Floats  # (k, k) its factor on dpsi
    upper: Floats  # (n,)
    ridge: Floats  # (n,)
    box: bool


@dataclass
class AlphaState(State):
    """Dual variables of all outputs."""

    tables: Tables = None  # type: ignore[assignment]
    alpha: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    rest: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    asleep: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    gaps: Floats = field(default_factory=lambda: np.zeros(0))
    turn: int = 0
    trust: float = 1.0
    stalls: int = 0


@dataclass(frozen=True)
class Enumerated(Solver):
    """Exact block steps over all outputs. A step is one sweep over awake examples."""

    max_iter: int = 10_000
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard", "summed")

    def start(self, problem: Problem, warm: Any = None) -> AlphaState:
        """Alpha zero, or that of an earlier run scaled to the new C."""
        outputs = problem.outputs()
        assert outputs is not None
        vectors, lambdas = outputs.product
        form, dual_set = problem.formulation, problem.dual_set
        b = np.ascontiguousarray(form.worth(outputs.delta))
        tables = Tables(
            *vectors, lambdas, bool((lambdas == np.eye(*lambdas.shape)).all()),
            lambdas @ lambdas.T, _squares(vectors.ptr, vectors.val), outputs.truth, b,
            b.copy() if form.scales else np.ones_like(b),
            dual_set.upper, dual_set.ridge, dual_set.box,
        )  # fmt: skip
        n, k = problem.n, len(lambdas)
        alpha = np.zeros((n, k))
        if isinstance(warm, AlphaState) and warm.alpha.shape == alpha.shape:
            old = DualSet(warm.tables.upper, warm.tables.ridge, warm.tables.box)
            alpha = warm.alpha * old.growth(dual_set)[:, None]
        w = np.zeros(problem.dim)
        _weights(tables, alpha, w)
        state = AlphaState(
            w, tables=tables, alpha=alpha, rest=np.zeros(n, np.int64),
            asleep=np.zeros(n, np.int64), gaps=np.full(n, np.inf),
        )  # fmt: skip
        self._refresh(state)
        return state

    def step(self, problem: Problem, state: AlphaState) -> None:  # type: ignore[override]
        """One sweep, or a certifying pass when the gaps suggest that it is time."""
        state.turn += 1
        if state.gap_estimate * state.trust <= self.tol:
            self.certify(problem, state)
            if state.gap() <= self.tol:
                return
        n = problem.n
        order = permutation(self.seed, state.turn, n)
        order = order[state.asleep[order] <= 0]
        state.asleep -= 1
        closed = 0.05 * self.tol * max(abs(state.dual), 1e-300) / n
        before = state.dual
        _sweep(
            state.tables, order, state.w, state.alpha, state.gaps, state.rest,
            state.asleep, closed,
        )  # fmt: skip
        state.oracle_calls += len(order)
        state.fresh = False
        if np.isinf(state.tables.upper[0]):
            _stretch(state)
        self._refresh(state)
        gap = float(state.gaps.sum())
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        self._judge(problem, state, before)

    def certify(self, problem: Problem, state: State) -> None:
        """Slacks of all examples at w; for the summed error the sums of slacks."""
        assert isinstance(state, AlphaState)
        slack = _slacks(state.tables, state.w)
        state.oracle_calls += problem.n
        seen = state.gap_estimate
        primal = state.witness(problem, state.w, slack)
        self._refresh(state)
        if np.isfinite(seen) and seen > 0 and np.isfinite(primal):
            gap = (primal - state.dual) / max(primal, 1e-300)
            state.trust = float(np.clip(1.1 * gap / seen, 0.02, 1.0))

    def _refresh(self, state: AlphaState) -> None:
        t, alpha = state.tables, state.alpha
        linear = float(np.einsum("ik,ik->", alpha, t.b[t.truth]))
        mass = alpha.sum(axis=1)
        ridge = float((t.ridge * mass**2).sum())
        state.dual = linear - 0.5 * float(state.w @ state.w) - 0.5 * ridge
        state.planes = int(np.count_nonzero(alpha))

    def _judge(self, problem: Problem, state: AlphaState, before: float) -> None:
        if state.dual - before <= 1e-13 * abs(state.dual):
            state.stalls += 1
            state.asleep[:] = 0
            state.gap_estimate = 0.0
        else:
            state.stalls = 0
        if state.stalls >= 5:
            state.status = Status.NO_PROGRESS
        elif problem.formulation.penalty == "hard":
            t = state.tables
            longest = 4.0 * float(t.inner.diagonal().max() * t.square.max())
            if 2.0 * state.dual * longest > 1e8:
                state.status = Status.NOT_SEPARABLE


def _stretch(state: AlphaState) -> None:
    """On a cone, the best multiple of alpha (see `PlaneBlocks.stretch`)."""
    t, alpha = state.tables, state.alpha
    linear = float(np.einsum("ik,ik->", alpha, t.b[t.truth]))
    ridge = float((t.ridge * alpha.sum(axis=1) ** 2).sum())
    curve = float(state.w @ state.w) + ridge
    if linear > 0.0 and curve > 0.0:
        alpha *= linear / curve
        state.w *= linear / curve


@loop
def _squares(ptr, val):
    out = np.zeros(len(ptr) - 1)
    for i in range(len(out)):
        for p in range(ptr[i], ptr[i + 1]):
            out[i] += val[p] * val[p]
    return out


@loop
def _heights(t, i, w, row, h):
    """h[y] = b - <a, w> of every output of example i (0 for the truth)."""
    k, z = t.lambdas.shape
    y = t.truth[i]
    if t.plain:
        fill_scores(t.ptr, t.idx, t.val, t.width, i, w, z, h)
    else:
        fill_scores(t.ptr, t.idx, t.val, t.width, i, w, z, row)
        for j in range(k):
            s = 0.0
            for e in range(z):
                s += row[e] * t.lambdas[j, e]
            h[j] = s
    own = h[y]
    for j in range(k):
        h[j] = t.b[y, j] - t.c[y, j] * (own - h[j])


@loop
def _gap(t, i, h, alpha):
    """Exact gap of example i (hard margins: a KKT measure)."""
    k, y = len(h), t.truth[i]
    top, inner, total, summed = 0.0, 0.0, 0.0, 0.0
    worst = 0.0
    for j in range(k):
        if j != y:
            top = max(top, h[j])
            inner += alpha[j] * h[j]
            total += alpha[j]
            if t.box:
                summed += max(h[j], 0.0)
            if alpha[j] > 0.0:
                worst = max(worst, -h[j])
    if t.box:
        return t.upper[i] * summed - inner
    if t.upper[i] < np.inf:
        return t.upper[i] * top - inner
    if t.ridge[i] > 0.0:
        return 0.5 * top * top / t.ridge[i] + 0.5 * t.ridge[i] * total * total - inner
    return max(top, worst) * (1.0 + total)


@loop
def _curve(t, y, u, v):
    """<a_u, a_v> / ||phi||^2 for outputs u, v of an example with truth y."""
    inner = t.inner[y, y] - t.inner[y, v] - t.inner[u, y] + t.inner[u, v]
    return t.c[y, u] * t.c[y, v] * inner


@loop
def _pair_steps(t, i, g, alpha):
    """As steps.pair_steps, with the Gram matrix formed on the way."""
    k, y, xx, ridge = len(g), t.truth[i], t.square[i], t.ridge[i]
    left, top = t.upper[i], 0.0
    for j in range(k):
        left -= alpha[j]
        top = max(top, abs(g[j]))
    left = max(left, 0.0)
    for _ in range(STEPS):
        up = y  # the truth's own plane is the zero plane
        for j in range(k):
            if j != y and g[j] > g[up]:
                up = j
        best = g[up]
        up_curve = xx * _curve(t, y, up, up) + ridge if up != y else 0.0
        down, gain, move = -1, 0.0, 0.0
        for j in range(k):
            have = left if j == y else alpha[j]
            rise = best - g[j]
            if j == up or have <= 0.0 or rise <= 1e-12 * top:
                continue
            curve = up_curve
            if j != y:
                curve += xx * _curve(t, y, j, j) + ridge
                if up != y:
                    curve -= 2.0 * (xx * _curve(t, y, up, j) + ridge)
            size = have
            if curve > 0.0 and rise < size * curve:
                size = rise / curve
            if size == np.inf:
                size = 1e6
            made = size * (rise - 0.5 * size * curve)
            if made > gain:
                down, gain, move = j, made, size
        if down < 0:
            return
        if up != y:
            alpha[up] += move
        else:
            left += move
        if down != y:
            alpha[down] -= move
        else:
            left -= move
        for j in range(k):
            if j != y:
                change = 0.0
                if up != y:
                    change -= xx * _curve(t, y, j, up) + ridge
                if down != y:
                    change += xx * _curve(t, y, j, down) + ridge
                g[j] += move * change


@loop
def _box_steps(t, i, g, alpha):
    """Single steps in the box, the largest rise first."""
    k, y, xx = len(g), t.truth[i], t.square[i]
    for _ in range(STEPS):
        best, gain, move = -1, 0.0, 0.0
        for j in range(k):
            own = xx * _curve(t, y, j, j)
            if j != y:
                to = t.upper[i] if g[j] > 0.0 else 0.0
                if own > 0.0:
                    to = min(max(alpha[j] + g[j] / own, 0.0), t.upper[i])
                size = to - alpha[j]
                made = size * (g[j] - 0.5 * size * own)
                if made > gain:
                    best, gain, move = j, made, size
        if best < 0:
            return
        alpha[best] = min(max(alpha[best] + move, 0.0), t.upper[i])
        for j in range(k):
            if j != y:
                g[j] -= move * xx * _curve(t, y, j, best)


@loop
def _add(t, i, change, coef, w):
    """W += sum_y change[y] * a_iy; `coef` is scratch."""
    k, z = t.lambdas.shape
    y = t.truth[i]
    for e in range(z):
        coef[e] = 0.0
    for j in range(k):
        amount = change[j] * t.c[y, j]
        if amount != 0.0:
            if t.plain:
                coef[y] += amount
                coef[j] -= amount
            else:
                for e in range(z):
                    coef[e] += amount * (t.lambdas[y, e] - t.lambdas[j, e])
    add_scores(t.ptr, t.idx, t.val, t.width, i, coef, z, w)


@loop
def _sweep(t, order, w, alpha, gaps, rest, asleep, closed):
    """Visit the examples in `order`."""
    k, z = t.lambdas.shape
    g, row, coef, change = np.empty(k), np.empty(z), np.empty(z), np.empty(k)
    for i in order:
        _heights(t, i, w, row, g)
        gap = _gap(t, i, g, alpha[i])
        gaps[i] = gap
        if gap <= closed:
            rest[i] = min(2 * rest[i] + 1, LONGEST_REST)
            asleep[i] = rest[i]
            continue
        rest[i] = 0
        own = alpha[i]
        total = 0.0
        for j in range(k):
            change[j] = -own[j]
            total += own[j]
        y = t.truth[i]
        for j in range(k):
            if j != y:
                g[j] -= t.ridge[i] * total
        if t.box:
            _box_steps(t, i, g, own)
        else:
            _pair_steps(t, i, g, own)
        for j in range(k):
            change[j] += own[j]
        _add(t, i, change, coef, w)


@loop
def _slacks(t, w):
    """Slack of each example at w; with the box, the sum over outputs."""
    k, z = t.lambdas.shape
    h, row, out = np.empty(k), np.empty(z), np.zeros(len(t.truth))
    for i in range(len(out)):
        _heights(t, i, w, row, h)
        for j in range(k):
            if t.box:
                out[i] += max(h[j], 0.0)
            else:
                out[i] = max(out[i], h[j])
    return out


@loop
def _weights(t, alpha, w):
    coef = np.empty(t.lambdas.shape[1])
    for i in range(len(t.truth)):
        _add(t, i, alpha[i], coef, w)
