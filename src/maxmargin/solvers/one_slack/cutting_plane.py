"""One slack for the whole sample: cutting planes below the risk.

    min_w  1/2 ||w||^2 + R(w),     R(w) >= b_k - <a_k, w>   for every cut k

A step finds the most violated output of every example, adds the sum of their planes as
one cut, and solves the dual QP over the cuts, warm-started. Cuts without weight for many
rounds are dropped. Sums are computed where the data are. R is the weighted sum of slacks,
or of squared slacks; a cut is a tangent of R, so both penalties work.

[1] Yu 2011, Algorithms 3.1 (primal) and 3.2 (the same by the dual QP, as here), Theorem
    3.1; Joachims, Finley, Yu 2009. [2] Teo et al. 2010 for smooth risks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, check_size
from maxmargin.core.data.memory import MEMORY, refuse_larger
from maxmargin.core.data.validation import (
    check_range,
    check_shape,
    mismatch,
    require,
)
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.one_slack.qp import maximise

HELD = 0.75  # of the memory, for cuts at most; the rest is for finding them
VECTORS = (
    16  # as long as w, beside the cuts: w itself, the best one, parts of a new cut
)


@dataclass
class CutState(State):
    """Cuts below the risk, their Gram matrix and weights."""

    a: list[tuple[np.ndarray, Floats]] = field(default_factory=list)  # idx, val
    b: Floats = field(default_factory=lambda: np.zeros(0))
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    alpha: Floats = field(default_factory=lambda: np.zeros(0))
    idle: Floats = field(default_factory=lambda: np.zeros(0))
    C: Floats = field(default_factory=lambda: np.zeros(0))
    made: int = 0  # cuts ever added

    def check_restored(self) -> None:
        """Refuse cuts, read from a file, that do not fit together."""
        m = len(self.a)
        for name, array in (("b", self.b), ("alpha", self.alpha), ("idle", self.idle)):
            check_shape(array, (m,), f"cuts, {name}")
        check_shape(self.gram, (m, m), "products of the cuts")
        for cut in self.a:
            wrong = mismatch(cut, tuple[Labels | Ints, Floats])
            require(not wrong, f"a cut is {wrong}")
            check_shape(cut[1], cut[0].shape, "a cut")
            check_range(cut[0], 0, len(self.w), "coordinate of a cut")
            check_size(cut[1], "a cut")

    @property
    def nbytes(self) -> int:
        """Memory held by the cuts."""
        cuts = sum(idx.nbytes + val.nbytes for idx, val in self.a)
        return cuts + self.gram.nbytes + 3 * self.b.nbytes

    def heights(self) -> Floats:
        """Values of the cuts, b - <a, w>, at the w of alpha."""
        return self.b - self.gram @ self.alpha

    def add(self, a: Floats, b: float, memory: float) -> None:
        """One more cut, with alpha = 0; others make room if need be.

        `memory` is for all cuts.
        """
        _make_room(self, a, memory)
        dots = np.array([val @ a[idx] for idx, val in self.a])
        m = len(dots)
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m] = self.gram
        gram[m, :m] = gram[:m, m] = dots
        gram[m, m] = float(a @ a)
        self.gram = gram
        if 2 * np.count_nonzero(a) > len(a):
            idx = np.arange(len(a), dtype=np.int32)
        else:
            idx = np.flatnonzero(a).astype(np.int32)
        self.a.append((idx, a[idx]))
        self.b = np.append(self.b, b)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)
        self.made += 1

    def move_to(self, alpha: Floats, patience: int) -> None:
        """Other dual variables: w and the dual follow, idle cuts are dropped."""
        self.alpha = alpha
        self.idle = np.where(alpha > 0, 0, self.idle + 1)
        keep = np.flatnonzero(self.idle < patience)
        if len(keep) < len(self.b):
            _retain(self, keep)
        self.refresh()

    def refresh(self) -> None:
        """Compute w and the dual from alpha."""
        w = np.zeros(len(self.w))
        for alpha, (idx, val) in zip(self.alpha, self.a, strict=True):
            if alpha > 0:
                w[idx] += alpha * val
        self.w, self.planes = w, len(self.b)
        self.dual = float(self.b @ self.alpha) - 0.5 * float(w @ w)


@dataclass(frozen=True)
class OneSlack(Solver[CutState]):
    """Cutting planes on the whole risk.

    Parameters
    ----------
    patience : int
        Rounds without weight after which a cut is dropped.
    memory : float
        Largest size of all cuts in bytes. Beyond it the cuts that were idle longest are
        dropped, then the two with the least weight are replaced by their average, which
        changes neither w nor the dual.
    epsilon : float or None
        Stop by the rule of Algorithms 3.1 and 3.2: the new cut exceeds xi, the highest
        cut held, by at most epsilon, in means of slacks (weighted by C). The objective is
        then within epsilon times the sum of C of the best one. `tol` holds as well.
    """

    patience: int = 50
    memory: float = MEMORY
    epsilon: float | None = None

    def refusal(self, problem: Problem) -> str | None:
        """Hard margins have no slack that an epsilon could be added to."""
        if self.epsilon is None:
            return None
        if problem.formulation.penalty == "hard":
            return "epsilon is a slack, and penalty='hard' allows none: leave it out"
        if not self.epsilon >= 0.0:
            return f"epsilon={self.epsilon!r}: a number, zero or more, is needed"
        return None

    def start(self, problem: Problem, warm: State | None = None) -> CutState:
        """No cuts, or those of an earlier run, scaled where all C changed alike."""
        entry = (
            8.0 * VECTORS + 3 * 12.0
        )  # bytes of a weight: of vectors, and of three cuts
        what = f"training with a cut of {problem.dim} weights"
        refuse_larger(entry * problem.dim, self.memory, what, "allow more")
        state = CutState(np.zeros(problem.dim), C=problem.C)
        if isinstance(warm, CutState) and len(warm.C) == problem.n:
            ratio = problem.C / np.maximum(warm.C, 1e-100)
            if len(warm.b) and np.ptp(ratio) <= 1e-12 * ratio.max():
                factor = float(ratio[0])
                state.a = [(idx, factor * val) for idx, val in warm.a]
                state.b, state.gram = factor * warm.b, factor**2 * warm.gram
                state.alpha, state.idle = warm.alpha.copy(), warm.idle.copy()
                state.refresh()
        return state

    def step(self, problem: Problem, state: CutState) -> None:
        """One oracle pass, one cut, one QP."""
        hard = problem.formulation.penalty == "hard"
        cut = problem.sum_cut(state.w)
        state.oracle_calls += problem.n
        state.keep(problem, state.w, problem.primal_at(state.w, cut))
        if state.gap() <= self.tol:
            return
        height = cut.b - float(cut.a @ state.w)
        held = float(state.heights().max(initial=-np.inf)) if len(state.b) else 0.0
        if self.epsilon is not None and height <= max(held, 0.0) + self.epsilon * float(
            problem.C.sum()
        ):
            state.status = Status.WITHIN_EPSILON
            return
        before = state.dual
        left = self.memory - 8.0 * VECTORS * problem.dim
        state.add(cut.a, cut.b, min(HELD * self.memory, left))
        state.notes["cuts_added"] = state.made
        upper = np.inf if hard else 1.0
        hopeless = 0.5e8 / max(float(state.gram.diagonal().max()), 1e-300)
        enough = hopeless if hard else np.inf
        alpha = maximise(state.gram, state.b, state.alpha, upper, enough=enough)
        state.move_to(alpha, self.patience)
        state.fresh = False
        if hard and state.dual > hopeless:
            state.status = Status.NOT_SEPARABLE
        small = state.dual - before <= 1e-14 * abs(state.dual)
        state.stalls = state.stalls + 1 if small and height <= held * (1 + 1e-9) else 0
        if state.stalls >= 5:
            state.status = Status.NO_PROGRESS


def _make_room(state: CutState, a: Floats, memory: float) -> None:
    """Drop cuts where needed, so that one more fits into the memory.

    Unused cuts go first, the longest idle before the others; then the two lightest
    become their average.
    """
    while state.nbytes + 12 * len(a) + 24 * len(state.b) + 32 > memory:
        if len(state.b) < 2:
            raise MemoryError(
                f"three cuts of {len(a)} weights do not fit into the "
                f"{memory / 1e6:.1f} MB that are left for cuts: allow more memory"
            )
        light = np.argsort(state.alpha, kind="stable")
        if state.alpha[light[0]] > 0.0:
            _merge(state, int(light[0]), int(light[1]))
        else:
            idle = np.where(state.alpha > 0.0, -1, state.idle)
            _retain(state, np.delete(np.arange(len(idle)), np.argmax(idle)))


def _retain(state: CutState, keep: Ints) -> None:
    """Drop all other cuts."""
    state.a = [state.a[k] for k in keep]
    state.b, state.alpha = state.b[keep], state.alpha[keep]
    state.idle = state.idle[keep]
    state.gram = np.ascontiguousarray(state.gram[np.ix_(keep, keep)])


def _merge(state: CutState, j: int, k: int) -> None:
    """Cut j becomes its average with k, by weight, and has the weight of both."""
    both = float(state.alpha[j] + state.alpha[k])
    share = float(state.alpha[j]) / both
    size = 1 + max(int(idx[-1]) for idx, _ in (state.a[j], state.a[k]))
    a = np.zeros(size)
    for part, (idx, val) in ((share, state.a[j]), (1.0 - share, state.a[k])):
        a[idx] += part * val
    idx = np.flatnonzero(a)
    state.a[j] = idx.astype(np.int32), a[idx]
    mix = np.eye(len(state.b))
    mix[j, j], mix[j, k] = share, 1.0 - share
    state.b, state.gram = mix @ state.b, mix @ state.gram @ mix.T
    state.alpha[j], state.idle[j] = both, 0
    _retain(state, np.delete(np.arange(len(state.b)), k))
