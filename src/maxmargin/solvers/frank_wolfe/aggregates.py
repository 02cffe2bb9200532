"""One aggregated plane per example, stored sparse: the memory of Frank-Wolfe.

    (a_i, b_i) = sum_y alpha_iy (a_iy, b_iy),     w = sum_i a_i

A visit moves (a_i, b_i) towards C_i times the plane the oracle found, by the step
that maximises the dual on the segment. The weighted average of all iterates,

    mean_k+1 = k / (k + 2) mean_k + 2 / (k + 2) w_k+1 = w + scale * z,

is kept at the cost of a visit: z changes where w does.

[1] Lacoste-Julien, Jaggi, Schmidt, Pletscher: Block-coordinate Frank-Wolfe
    optimization for structural SVMs, ICML 2013, Algorithm 4 and section 5.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from maxmargin.core.cuts import Cuts
from maxmargin.core.data.arrays import Floats, Ints, Labels, check_size
from maxmargin.core.data.mapped import Pages
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.data.validation import (
    check_range,
    check_shape,
    check_types,
    require,
)
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.problem import Problem
from maxmargin.core.structure import OuterCoordinates
from maxmargin.solvers.planes.coordinates import (
    adds,
    clears,
    dots,
    place,
    rings_of,
)
from maxmargin.solvers.planes.least_memory import refuse_too_little
from maxmargin.solvers.planes.store import paged_zeros, space_of

PER_ENTRY = 12  # bytes
BATCH, IN_HAND = 8192, 0.05  # planes in hand at most, and their share of the memory
HELD = 0.4  # of the memory, for sums; as much for the old ones while they grow


class Sums(NamedTuple):
    """Aggregated planes in flat arrays: entries at[i] : at[i] + size[i]."""

    at: Ints  # (n,)
    size: Ints  # (n,)
    room: Ints  # (n,)
    b: Floats  # (n,)
    idx: Labels  # (entries,)
    val: Floats  # (entries,)
    top: Ints  # (1,) entries used


class Mean(NamedTuple):
    """The weighted average as w + scale * z."""

    z: Floats  # (dim,)
    number: Floats  # (3,) k, scale, z of the linear term


class Aggregates:
    """The dual of Frank-Wolfe: one plane per example.

    Parameters
    ----------
    n, dim : int
        Examples, and coordinates of w.
    upper : array (n,)
        C of each example.
    memory : float
        Bytes at most, also while planes move to larger arrays.
    parts : OuterCoordinates, optional
        What the coordinates of planes stand for, if not for the weights themselves.
    """

    DUAL: ClassVar[tuple[str, ...]] = ("_sums", "_mean")

    def __init__(
        self,
        n: int,
        dim: int,
        upper: Floats,
        memory: float = MEMORY,
        parts: OuterCoordinates | None = None,
    ) -> None:
        self.n, self.dim, self.upper, self.memory = n, dim, upper, memory
        self._most = int(HELD * memory / PER_ENTRY)  # of the old arrays, and of the new
        self._sums = _new(n, min(64 * n, self._most))
        self._space, self._pages = space_of(parts), Pages(parts, n)
        self._where = np.full(self._space.places(dim), -1, np.int32)
        self._spread = np.zeros(dim if parts is not None else 0)
        self._mean = Mean(np.zeros(dim), np.array([0.0, 1.0, 0.0]))

    @classmethod
    def of_problem(cls, problem: Problem, upper: Floats, memory: float) -> Aggregates:
        """All sums zero; MemoryError if they would not fit later on."""
        parts = problem.outer_coordinates()
        fixed = 4 * 8  # bytes of an example in `Sums`
        refuse_too_little(problem, memory, fixed, PER_ENTRY, HELD, parts is not None)
        return cls(problem.n, problem.dim, upper, memory, parts)

    def batch(self, memory: float) -> int:
        """How many planes, as long as the sums, a pass may have in hand at a time."""
        entries = int(self._sums.size.sum()) / max(self.planes, 1)
        most = IN_HAND * memory / max(PER_ENTRY * entries, 1.0)
        return int(min(BATCH, max(most, 1.0)))

    def check_restored(self) -> None:
        """Refuse sums, read from a file, that would lead loops out of their arrays."""
        sums, entries = self._sums, len(self._sums.idx)
        check_types(sums)
        for name in ("at", "size", "room", "b"):
            check_shape(getattr(sums, name), (self.n,), f"sums, {name}")
        check_shape(sums.val, (entries,), "sums, val")
        check_shape(sums.top, (1,), "sums, top")
        check_range(sums.top, 0, entries + 1, "sums, top")
        check_range(sums.at, 0, entries + 1, "sums, at")
        check_range(sums.room, 0, entries + 1, "sums, room")
        require((sums.at + sums.room <= sums.top[0]).all(), "a sum ends too late")
        require(
            ((sums.size >= 0) & (sums.size <= sums.room)).all(), "a sum is too long"
        )
        used = np.zeros(entries + 1, np.int64)
        np.add.at(used, sums.at, 1)
        np.add.at(used, sums.at + sums.size, -1)
        held = np.cumsum(used)[:-1] > 0
        coordinates = self._space.coordinates(self.dim)
        check_range(sums.idx[held], 0, coordinates, "coordinate of a sum")
        check_size(sums.val[held], "sums")
        check_size(sums.b, "sums")
        check_shape(self._mean.z, (self.dim,), "mean")
        check_shape(self._mean.number, (3,), "mean")

    @property
    def planes(self) -> int:
        """Examples with a plane."""
        return int(np.count_nonzero(self._sums.size))

    @property
    def nbytes(self) -> int:
        """Memory held by the planes."""
        return sum(a.nbytes for a in self._sums)

    def take_in(self, cuts: Cuts, w: Floats, gaps: Floats) -> tuple[float, float]:
        """A step towards each cut, in order; w follows; gaps before: (rise, work)."""
        sizes = np.diff(cuts.a.ptr)
        rise, work = 0.0, 0.0
        for s, e in self._pages.spans(len(cuts.ids)):
            self._reserve(cuts.ids[s:e], sizes[s:e])
            made, cost = _toward(
                self._sums, self._space, self._where, self._spread, self._mean,
                cuts.ids[s:e], cuts.a.ptr[s : e + 1], cuts.a.idx, cuts.a.val,
                cuts.b[s:e], cuts.slack[s:e], self.upper, w, gaps,
            )  # fmt: skip
            rise, work = rise + made, work + cost
        return rise, work

    def dual(self, w: Floats) -> float:
        """Value of the dual."""
        return float(self._sums.b.sum()) - 0.5 * float(w @ w)

    def mean(self, w: Floats) -> tuple[Floats, float]:
        """The averaged weights and the value of the dual there."""
        _, scale, linear = self._mean.number
        mean = w + scale * self._mean.z
        b = float(self._sums.b.sum()) + scale * linear
        return mean, b - 0.5 * float(mean @ mean)

    def weights(self) -> Floats:
        """Sum of the aggregated planes, from scratch."""
        w = np.zeros(self.dim)
        for s, e in self._pages.spans(self.n):
            _add_weights(self._sums, self._space, s, e, w)
        return w

    def rescale(self, upper: Floats) -> None:
        """Another C: planes grow with it, as far as the dual rises; a new average."""
        factor = np.where(self.upper > 0, upper / np.maximum(self.upper, 1e-300), 0.0)
        _scale(self._sums, factor)
        w = self.weights()
        linear, square = self.dual(w) + 0.5 * float(w @ w), float(w @ w)
        if (factor > 1.0).any() and 0.0 < linear < square:
            _scale(self._sums, np.full(self.n, linear / square))
        self.upper = upper
        self._mean = Mean(np.zeros(self.dim), np.array([0.0, 1.0, 0.0]))

    def _reserve(self, ids: Ints, sizes: Ints) -> None:
        s = self._sums
        need = int((s.size[ids] + sizes).sum())
        if s.top[0] + 2 * need <= len(s.idx):
            _make_room(s, ids, sizes, 2)
            return
        live = int(s.size.sum()) + need
        if live > self._most:
            raise MemoryError(
                f"one plane per example needs {PER_ENTRY * live / HELD / 1e6:.0f} MB, "
                f"more than the {self.memory / 1e6:.0f} MB allowed: allow more, or "
                "use solver='one-slack', which keeps sums over examples only"
            )
        roomy = min(3 * live // 2 + need, self._most)
        if roomy > len(s.idx):
            self._sums = _new(self.n, roomy)
        _compact(s, self._sums, np.argsort(s.at, kind="stable"))
        _make_room(self._sums, ids, sizes, 2 if roomy < self._most else 1)


def _new(n: int, entries: int) -> Sums:
    return Sums(
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.zeros(n), paged_zeros(entries, np.int32), paged_zeros(entries),
        np.zeros(1, np.int64),
    )  # fmt: skip


@loop
def _make_room(s, ids, sizes, factor):
    """Room for `sizes` more entries; planes that are full move to the end.

    They get `factor` times the room they need now.
    """
    for q in range(len(ids)):
        i = ids[q]
        if s.size[i] + sizes[q] > s.room[i]:
            to, at = s.top[0], s.at[i]
            for p in range(s.size[i]):
                s.idx[to + p], s.val[to + p] = s.idx[at + p], s.val[at + p]
            s.at[i], s.room[i] = to, factor * (s.size[i] + sizes[q])
            s.top[0] = to + s.room[i]


@loop
def _compact(old, new, order):
    """Copy without holes and zeros; in place, if `order` is that of `old.at`."""
    new.top[0] = 0
    for i in order:
        to, m = new.top[0], 0
        first, last = old.at[i], old.at[i] + old.size[i]
        for p in range(first, last):
            if old.val[p] != 0.0:
                new.idx[to + m], new.val[to + m] = old.idx[p], old.val[p]
                m += 1
        new.at[i], new.size[i], new.room[i], new.b[i] = to, m, m, old.b[i]
        new.top[0] = to + m


@loop
def _toward(
    s, space, where, spread, mean, ids, ptr, idx, val, b, slack, upper, w, gaps
):
    """Line search from each aggregated plane towards upper times the new one."""
    rise, work = 0.0, 0
    step, score, rings = np.zeros(1), np.zeros(1), rings_of(space)
    for q in range(len(ids)):
        i, c = ids[q], upper[ids[q]]
        if len(score) < s.size[i] + ptr[q + 1] - ptr[q]:
            score = np.zeros(2 * (s.size[i] + ptr[q + 1] - ptr[q]))
        h, first = b[q], ptr[q]
        dots(space, idx, first, ptr[q + 1] - first, w, score)
        for e in range(first, ptr[q + 1]):
            h -= val[e] * score[e - first]
        if h <= 0.0:
            c = 0.0  # the zero plane is the highest
        at, m = s.at[i], s.size[i]
        if c > 0.0:
            m = _widen(s, space, where, i, ptr[q], ptr[q + 1], idx)
        if len(step) < m:
            step = np.zeros(2 * m)
        for p in range(m):
            step[p] = -s.val[at + p]
        if c > 0.0:
            for e in range(ptr[q], ptr[q + 1]):
                step[where[place(rings, idx[e])]] += c * val[e]
            for p in range(m):
                where[place(rings, s.idx[at + p])] = -1
        slope = c * b[q] - s.b[i]
        dots(space, s.idx, at, m, w, score)
        for p in range(m):
            slope -= step[p] * score[p]
        curve = _square(space, spread, s.idx, at, m, step, score)
        gaps[i] = max(slope + upper[i] * max(slack[q] - max(h, 0.0), 0.0), 0.0)
        work += 3 * m + 2 * (ptr[q + 1] - ptr[q])
        if slope > 0.0:
            size = 1.0 if slope >= curve else slope / curve
            rise += size * (slope - 0.5 * size * curve)
            _move(s, space, mean, i, size, c * b[q] - s.b[i], step, w)
        else:
            _move(s, space, mean, i, 0.0, 0.0, step, w)
    return rise, work


@inner_loop
def _square(space, spread, idx, at, m, step, score):
    """Squared length of a step, by way of the step in weight space."""
    out = 0.0
    if space.last == 0:
        for p in range(m):
            out += step[p] * step[p]
        return out
    adds(space, idx, at, m, step, spread)
    dots(space, idx, at, m, spread, score)
    for p in range(m):
        out += step[p] * score[p]
    clears(space, idx, at, m, step, spread)
    return out


@inner_loop
def _widen(s, space, where, i, start, stop, idx):
    """Let the plane of example i have all coordinates of the new one; marks `where`."""
    at, m, rings = s.at[i], s.size[i], rings_of(space)
    for p in range(m):
        where[place(rings, s.idx[at + p])] = p
    for e in range(start, stop):
        c = place(rings, idx[e])
        if where[c] < 0:
            where[c] = m
            s.idx[at + m], s.val[at + m] = idx[e], 0.0
            m += 1
    s.size[i] = m
    return m


@inner_loop
def _move(s, space, mean, i, size, lift, step, w):
    """Go `size` of the way; the average takes the new w in."""
    k, scale = mean.number[0], mean.number[1]
    if size > 0.0:
        at = s.at[i]
        for p in range(s.size[i]):
            step[p] *= size
            s.val[at + p] += step[p]
        adds(space, s.idx, at, s.size[i], step, w)
        if k > 0.0:
            for p in range(s.size[i]):
                step[p] = -step[p] / scale
            adds(space, s.idx, at, s.size[i], step, mean.z)
        s.b[i] += size * lift
        if k > 0.0:
            mean.number[2] -= size * lift / scale
    if k > 0.0:
        mean.number[1] = scale * k / (k + 2.0)
    mean.number[0] = k + 1.0


@loop
def _add_weights(s, space, first, last, w):
    """Add the planes of the examples from `first` to `last` - 1 to w."""
    for i in range(first, last):
        at, m = s.at[i], s.size[i]
        adds(space, s.idx, at, m, s.val[at : at + m], w)


@loop
def _scale(s, factor):
    for i in range(len(s.at)):
        s.b[i] *= factor[i]
        for p in range(s.at[i], s.at[i] + s.size[i]):
            s.val[p] *= factor[i]
