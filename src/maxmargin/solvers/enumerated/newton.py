"""Newton steps for two outputs over few dense features.

With psi(x, y) = phi(x) Lambda(y) and two outputs the plane of example i is
a_i = s_i phi(x_i). The objective is made smooth:

    F_mu(u) = 1/2 ||u||^2 + sum_i C_i huber_mu(b_i - <a_i, u>),

in which a slack below mu counts slack^2 / (2 mu). The Hessian is I + sum a_i a_i' C_i / mu
over the examples with 0 < slack < mu, a small matrix if features are few. With more than
`SHARE` such examples per feature, a random sample of them is used instead of all. A step
is one Newton step with a line search. Each u gives feasible dual variables
alpha_i = C_i min(slack / mu, 1), so the gap of the original problem is known at every
step. mu is lowered when most of this gap no longer comes from the gradient of F_mu.

[1] Chapelle: Training a support vector machine in the primal, 2007 (Newton, huber loss).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.validation import require
from maxmargin.core.problem import Problem
from maxmargin.core.structure import FewOutputs
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.enumerated.block_dual import AlphaState

WIDE = 0.5  # mu at the start
NARROWER = 0.25  # factor on mu
ROUNDING = 0.5  # share of the slope in the gap below which mu falls
SHARE = 12  # examples of the Hessian per feature at most
TRIES = 25  # of a line search
FLAT = 0.1  # slope along the step, of that at its start, at which the search ends
WIDEST, THINNEST = 2000, 20  # features at most; examples per feature at least


@dataclass(kw_only=True)
class NewtonState(AlphaState):
    """Weights u, the products of all examples with them, and mu."""

    u: Floats
    at: Floats  # (n,) <phi(x_i), u>
    width: float = WIDE

    def check_restored(self) -> None:
        """Refuse a mu from a file that no run can have: it is divided by."""
        require(1e-30 <= self.width <= WIDE, f"the checkpoint's mu is {self.width!r}")


@dataclass(frozen=True)
class Newton(Solver[NewtonState]):
    """Newton steps on a smoothed risk; see the module docstring for a step.

    Two outputs with one output feature, dense vectors, the linear penalty:
    `newton_applies` says whether a problem is of this kind.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import KernelSVM
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = KernelSVM(
    ...     kernel_method="nystroem", n_basis=20, solver=Newton(1e-4), random_state=0
    ... ).fit(X, y)
    >>> model.result_.gap < 1e-4
    True
    """

    max_iter: int = 1000
    penalties: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[type, ...]] = (FewOutputs,)

    def refusal(self, problem: Problem) -> str | None:
        """Why Newton steps cannot train a problem."""
        if _planes_are_rows(problem):
            return None
        return "Newton trains two outputs over dense features: use solver='auto'"

    def start(self, problem: Problem, warm: State | None = None) -> NewtonState:
        """From the weights of alpha, zero or those of an earlier run."""
        plain = AlphaState.of(problem, warm)
        u = plain.w.copy()
        return NewtonState(**vars(plain), u=u, at=_matrix(plain) @ u)

    def step(self, problem: Problem, state: NewtonState) -> None:
        """One Newton step at the present mu; primal, dual and gap on the way."""
        s, b = _signs(state)
        C, A = state.tables.upper, _matrix(state)
        slack = b - s * state.at
        alpha = C * np.clip(slack / state.width, 0.0, 1.0)
        v = (s * alpha) @ A
        state.oracle_calls += problem.n
        state.turn += 1
        before = state.gap()
        state.witness(problem, state.u, np.maximum(slack, 0.0))
        _raise_dual(state, b, alpha, v)
        gap = state.gap()
        if gap <= self.tol:
            return
        slope = state.u - v
        if float(slope @ slope) <= ROUNDING * gap * state.primal:
            state.width *= NARROWER
            state.stalls = state.stalls + 1 if gap > (1.0 - 1e-9) * before else 0
        near = np.flatnonzero((slack > 0.0) & (slack < state.width))
        self._move(state, A, s, b, C, slope, near)
        if state.width < 1e-13 or state.stalls >= 20:
            state.status = Status.NO_PROGRESS

    def _move(
        self, state: NewtonState, A: Floats, s: Floats, b: Floats, C: Floats,
        slope: Floats, near: Ints,
    ) -> None:  # fmt: skip
        """Take u down the Newton direction of F_mu."""
        most, scale = SHARE * A.shape[1], 1.0 / state.width
        if len(near) > most:
            rng = np.random.default_rng([self.seed, state.turn])
            scale *= len(near) / most
            near = np.sort(rng.choice(near, most, replace=False))
        rows = A[near] * (np.abs(s[near]) * np.sqrt(scale * C[near]))[:, None]
        bend = rows.T @ rows
        bend[np.diag_indices_from(bend)] += 1.0
        p = -cho_solve(cho_factor(bend, check_finite=False, overwrite_a=True), slope)
        along = A @ p
        t = _search(state, s, b, C, p, along)
        state.u = state.u + t * p
        state.at = state.at + t * along

    def certify(self, problem: Problem, state: NewtonState) -> None:
        """Slacks of all examples at u."""
        s, b = _signs(state)
        state.oracle_calls += problem.n
        state.witness(problem, state.u, np.maximum(b - s * state.at, 0.0))


def newton_applies(problem: Problem) -> bool:
    """Whether Newton steps can train the problem, and features are few for its size."""
    few = problem.dim <= min(WIDEST, problem.n // THINNEST)
    return few and problem.formulation.penalty == "linear" and _planes_are_rows(problem)


def _planes_are_rows(problem: Problem) -> bool:
    outputs = problem.outputs()
    if outputs is None:
        return False
    vectors, lambdas = outputs.product
    return lambdas.shape == (2, 1) and len(vectors.idx) == 0


def _matrix(state: AlphaState) -> Floats:
    return state.tables.val.reshape(-1, state.tables.width)


def _signs(state: AlphaState) -> tuple[Floats, Floats]:
    """s_i and b_i: the plane of example i is s_i phi(x_i) at height b_i."""
    t = state.tables
    other, values = 1 - t.truth, t.lambdas[:, 0]
    return t.c[t.truth, other] * (values[t.truth] - values[other]), t.b[t.truth, other]


def _raise_dual(state: NewtonState, b: Floats, alpha: Floats, v: Floats) -> None:
    """Go from the dual variables held to the best on the way to new ones."""
    t = state.tables
    rows, other = np.arange(len(b)), 1 - t.truth
    held = state.alpha[rows, other]
    change = v - state.w
    rise = float(b @ (alpha - held)) - float(state.w @ change)
    curve = float(change @ change)
    if rise <= 0.0:
        return
    share = min(rise / curve, 1.0) if curve > 0.0 else 1.0
    state.alpha[rows, other] = held + share * (alpha - held)
    state.w = state.w + share * change
    state.dual += share * (rise - 0.5 * share * curve)
    state.planes = int(np.count_nonzero(state.alpha))


def _search(
    state: NewtonState, s: Floats, b: Floats, C: Floats, p: Floats, along: Floats
) -> float:
    """The step at which F_mu along p is about flat: its slope there only rises."""
    sa, h, mu = s * along, b - s * state.at, state.width
    up, pp = float(state.u @ p), float(p @ p)
    most = C * sa

    def slope(t: float) -> float:
        part = np.clip((h - t * sa) / mu, 0.0, 1.0)
        return up + t * pp - float(most @ part)

    first = slope(0.0)
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(TRIES):
        now = slope(t)
        if abs(now) <= FLAT * abs(first):
            break
        if now > 0.0:
            high = t
        else:
            low = t
        t = 2.0 * t if np.isinf(high) else 0.5 * (low + high)
    return t
