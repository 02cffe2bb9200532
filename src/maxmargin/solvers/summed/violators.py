"""The sets V_i of the linear summed error, and the reduced problem over them.

    primal_V(w) = 1/2 ||w||^2 + sum_i C_i sum_{y in V_i} max(0, b_iy - <a_iy, w>)

V_i grows by the most violated output and, where the structure has n best outputs, by
all of the k best that are violated and not yet in V_i: an output whose alpha is at its
bound stays the most violated one and would otherwise hide the others. Membership goes
by the output, not by its plane: two outputs with the same plane count twice.

[1] Balamurugan, Shevade, Babu: Efficient algorithms for linear summed error structural
    SVMs, 2012, OP5.
"""

from __future__ import annotations

import hashlib
from typing import ClassVar, NamedTuple

import numpy as np

from maxmargin.core.cuts import Cuts
from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.core.data.validation import mismatch, require
from maxmargin.core.jit import loop
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import State
from maxmargin.solvers.planes.blocks import PlaneBlocks

MOST = 100_000  # planes of an example: merging would break the box, so no small bound


class OutsideOutputs(NamedTuple):
    """What the oracle says of outputs outside V_i, for the examples asked about."""

    new: Cuts  # violated outputs outside V_i, rows of one example together
    rank: Ints  # 0 for the first new row of an example, then 1, ...
    found: Floats  # (ids) height of the best new one, 0 if there is none
    bound: Floats  # (ids) no output outside V_i is higher than this


class Violators:
    """V_i as planes, with the outputs they belong to.

    Parameters
    ----------
    problem : Problem
        With penalty "summed".
    k : int
        Outputs to ask for per example.
    memory : float
        Bytes for planes, beyond which the sets stop growing.
    """

    DUAL: ClassVar[tuple[str, ...]] = ("blocks", "known", "full")

    def __init__(self, problem: Problem, k: int, memory: float) -> None:
        parts = problem.outer_coordinates() if problem.exact else None
        self.blocks = PlaneBlocks(
            problem.n, problem.dim, problem.dual_set, MOST, memory, parts
        )
        self.k = problem.most(k)
        self.full = False  # whether the memory is used up
        truth = problem.truth
        self.known = [{mark(truth.row(i))} for i in range(problem.n)]

    def check_restored(self) -> None:
        """Refuse outputs, read from a file, that are not marks of outputs."""
        wrong = mismatch(self.known, list[set[bytes]])
        require(
            not wrong and len(self.known) == self.blocks.n, "known outputs are wrong"
        )

    def look(self, problem: Problem, w: Floats, ids: Ints) -> OutsideOutputs:
        """Ask for the k worst outputs of `ids` at w; nothing is added."""
        cuts = problem.several(w, ids, self.k)
        height = cuts.slack if problem.exact else cuts.b - cuts.a.dot(w)
        ptr, data = cuts.labels.ptr.tolist(), cuts.labels.data
        where = {int(i): q for q, i in enumerate(ids)}
        found, bound = np.zeros(len(ids)), np.zeros(len(ids))
        asked = np.zeros(len(ids), np.int64)
        rows: list[int] = []
        rank: list[int] = []
        count: dict[int, int] = {}
        for r, (i, h) in enumerate(zip(cuts.ids.tolist(), height.tolist())):
            q = where[i]
            asked[q] += 1
            if found[q] == 0.0:
                bound[q] = max(h, 0.0)
            if h <= 0.0 or mark(data[ptr[r] : ptr[r + 1]]) in self.known[i]:
                continue
            found[q] = max(found[q], h)
            rows.append(r)
            rank.append(count.get(i, 0))
            count[i] = rank[-1] + 1
        bound = np.where((found == 0.0) & (asked < self.k), 0.0, bound)
        take = np.array(rows, np.int64)
        new = Cuts(
            cuts.ids[take], cuts.a.take(take), cuts.b[take], cuts.slack[take],
            cuts.labels.take(take),
        )  # fmt: skip
        return OutsideOutputs(new, np.array(rank, np.int64), found, bound)

    def look_outside(
        self, problem: Problem, state: State
    ) -> tuple[OutsideOutputs, float]:
        """What is violated outside V_i at w, and its share of the objective.

        The state's notes, and with them the result, say so.
        """
        outside = self.look(problem, state.w, np.arange(problem.n))
        state.oracle_calls += problem.n
        primal = problem.primal(state.w, self.slacks(state.w))
        share = float(problem.C @ outside.found) / max(primal, 1e-300)
        state.notes |= {
            "certifies": (
                f"the problem over the sets V_i ({self.blocks.planes} outputs), not "
                "over all outputs"
            ),
            "outside_found": float(outside.found.max(initial=0.0)),
            "outside_bound": float(outside.bound.max(initial=0.0)),
            "outside_examples": int(np.count_nonzero(outside.found)),
            "outside_share": share,
            "outputs_asked": self.k,
        }
        return outside, share

    def certify(self, problem: Problem, state: State) -> None:
        """Witness w on the sets as they are; note what is violated outside."""
        self.look_outside(problem, state)
        # V_i may have grown: earlier primal values are of other sums.
        state.primal = np.inf
        state.witness(problem, state.w, self.slacks(state.w))

    def add(self, outside: OutsideOutputs, w: Floats) -> int:
        """Take the new outputs into V_i, alpha = 0; how many."""
        new, rank = outside.new, outside.rank
        added = 0
        for r in range(int(rank.max(initial=-1)) + 1):
            take = np.flatnonzero(rank == r)
            a = new.a.take(take)
            self.full = self.full or not self.blocks.fits(new.ids[take], np.diff(a.ptr))
            if self.full:
                break
            self.blocks.take_in(
                new.ids[take], a, new.b[take], new.slack[take], w,
                news=-np.inf, closed=np.inf,
            )  # fmt: skip
            for q in take.tolist():
                self.known[int(new.ids[q])].add(mark(new.labels.row(q)))
            added += len(take)
        return added

    def gap(self, w: Floats) -> float:
        """Gap of the reduced problem at the present alpha; w must belong to it."""
        gaps = np.zeros(self.blocks.n)
        self.blocks.sweep(np.arange(self.blocks.n), w, np.inf, gaps)
        return float(gaps.sum())

    def slacks(self, w: Floats) -> Floats:
        """Sum over V_i of the positive heights, per example."""
        return self.blocks.violated(w, np.zeros(0), np.zeros(0))[1]

    def cut(self, w: Floats, C: Floats) -> tuple[Floats, float, Floats]:
        """Sum of C times all violated planes: (a, b), and the slacks."""
        a = np.zeros(self.blocks.dim)
        b, slack = self.blocks.violated(w, C, a)
        return a, b, slack

    def alphas(self) -> tuple[Ints, Floats]:
        """Flat copy of the dual variables, with row pointers."""
        return _alphas(self.blocks.store)

    def changes(self, before: tuple[Ints, Floats]) -> Floats:
        """Squared change of the dual variables of each example since `before`."""
        return _changes(self.blocks.store, *before)


@loop
def _alphas(store):
    n = len(store.count)
    ptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        ptr[i + 1] = ptr[i] + store.count[i]
    out = np.empty(ptr[n])
    for i in range(n):
        for j in range(store.count[i]):
            out[ptr[i] + j] = store.alpha[store.first[i] + j]
    return ptr, out


@loop
def _changes(store, ptr, old):
    n = len(store.count)
    out = np.zeros(n)
    for i in range(n):
        for j in range(store.count[i]):
            change = store.alpha[store.first[i] + j]
            if ptr[i] + j < ptr[i + 1]:
                change -= old[ptr[i] + j]
            out[i] += change * change
    return out


def mark(row: Labels) -> bytes:
    """A short key of an output; checkpoints store nothing else of it."""
    return hashlib.blake2b(row.tobytes(), digest_size=16).digest()
