"""The working sets: the planes of each example, and the dual on them.

    dual(alpha) = sum alpha b - 1/2 ||w||^2 - 1/2 sum_i ridge_i (sum_y alpha_iy)^2,
    w = sum alpha a

`PlaneBlocks` owns the arrays that `loops` works on. It makes room, drops planes that
carry no weight, merges planes of an example that has too many, and keeps everything
below a bound on memory. The average of two planes is again a plane, so merging changes
neither w nor the dual.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Rows
from maxmargin.core.data.mapped import Pages
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.data.vector_changes import Change
from maxmargin.core.formulations import DualSet
from maxmargin.core.problem import Problem
from maxmargin.core.structure import OuterCoordinates
from maxmargin.solvers.planes import loops
from maxmargin.solvers.planes import store as stores
from maxmargin.solvers.planes.least_memory import PLENTY, refuse_too_little
from maxmargin.solvers.planes.loops import Dual, Scratch
from maxmargin.solvers.planes.store import Space, Store, paged_zeros, space_of

PER_EXAMPLE = (
    "count", "room", "first", "gram_at", "width", "width_room", "support_at",
)  # fmt: skip
GROUPS = (
    ("alpha", "b", "start", "stop", "idle"),
    ("gram",),
    ("support",),
    ("idx", "val"),
)
PARTS = 32  # in which all planes are merged
PER_SLOT, PER_GRAM, PER_SUPPORT, PER_ENTRY = 40, 8, 4, 12  # bytes
HELD, MOVING = 0.4, 0.6  # of the memory: for planes, and for old and new arrays
ROOM = 1.1  # times what planes need: else some are merged
BATCH, IN_HAND = 8192, 0.05  # planes in hand at most, and their share of the memory
LOG = 8  # the log of a round has room for one in so many of the weights

NO_SCALE = np.zeros(0)


class Visit(NamedTuple):
    """What `take_in` reports about a batch of planes."""

    gap: float  # sum of the gaps of the examples, before
    rise: float  # of the dual
    work: float  # multiply-adds
    found: Ints  # (len(ids),) 1: new, -1: nothing new, 0: w had moved on


class PlaneBlocks:
    """A growing set of planes per example.

    Parameters
    ----------
    n, dim : int
        Examples, and coordinates of w.
    dual_set : DualSet
        What the dual may do.
    most : int
        Planes per example at most.
    memory : float
        Bytes for all planes at most, also while they move to larger arrays.
    parts : OuterCoordinates, optional
        What the coordinates of planes stand for, if not for the weights themselves.
    room : dict, optional
        Work space, shared with sets of planes that take turns (see `start_round`).
    """

    DUAL: ClassVar[tuple[str, ...]] = ("_store",)

    def __init__(
        self,
        n: int,
        dim: int,
        dual_set: DualSet,
        most: int = 64,
        memory: float = MEMORY,
        parts: OuterCoordinates | None = None,
        room: dict[str, Any] | None = None,
    ) -> None:
        self.n, self.dim, self.most, self.memory = n, dim, most, memory
        # The rest is for inference, for one array in its old and its new size, and for
        # what the allocator keeps (benchmarks/memory.py).
        self._bound = HELD * memory
        self.dual_set = dual_set
        self._dual = _new_dual(dual_set)
        first = n * np.array([4, 8, 64, 64])
        share = min(1.0, 0.5 * self._bound / max(_bytes(first), 1.0))
        self._store = _new_store(n, *(share * first).astype(int).tolist())
        self._space, self._pages = space_of(parts), Pages(parts, n)
        self._spread = dim if parts is not None else 0
        self._use_room({} if room is None else room)

    @classmethod
    def of_problem(
        cls,
        problem: Problem,
        dual_set: DualSet,
        most: int,
        memory: float,
        parts: OuterCoordinates | None = None,
    ) -> PlaneBlocks:
        """No planes yet; MemoryError if not even one of each example would fit."""
        fixed = 8 * len(PER_EXAMPLE) + 2 * PER_SLOT + 4 * PER_GRAM
        entry = 1.25 * PER_SUPPORT + PER_ENTRY
        if memory < problem.n * PLENTY:
            refuse_too_little(problem, memory, fixed, entry, HELD, parts is not None)
        return cls(problem.n, problem.dim, dual_set, most, memory, parts)

    @property
    def planes(self) -> int:
        """Planes held."""
        return int(self._store.count.sum())

    @property
    def nbytes(self) -> int:
        """Memory held by the planes."""
        return sum(a.nbytes for a in self._store)

    @property
    def store(self) -> Store:
        """The arrays, for loops of other schedules; valid until planes are added."""
        return self._store

    @property
    def space(self) -> Space:
        """What coordinates of planes stand for, for loops of other schedules."""
        return self._space

    def batch(self, memory: float) -> int:
        """How many planes, as long as those held, a pass may have in hand at a time."""
        entries = int(self._store.top[3]) / max(self.planes, 1)
        most = IN_HAND * memory / max(PER_ENTRY * entries, 1.0)
        return int(min(BATCH, max(most, 1.0)))

    def counts(self) -> Ints:
        """Planes held per example."""
        return self._store.count.copy()

    def alphas(self) -> list[Floats]:
        """Dual variables per example."""
        s = self._store
        return [
            s.alpha[f : f + m].copy() for f, m in zip(s.first, s.count, strict=True)
        ]

    def take_in(
        self,
        ids: Ints,
        a: Rows,
        b: Floats,
        slack: Floats,
        w: Floats,
        news: float = 1e-9,
        closed: float = 0.0,
    ) -> Visit:
        """Add the planes of distinct examples `ids` that are new at w; improve the dual.

        w follows the dual variables.
        """
        sizes, found = np.diff(a.ptr), np.zeros(len(ids), np.int64)
        gap, rise, work = 0.0, 0.0, 0.0
        for s, e in self._pages.spans(len(ids)):
            self._reserve(ids[s:e], sizes[s:e])
            g, r, k, _ = loops.take_in(
                self._store, self._scratch, self._space, self._dual, ids[s:e],
                a.ptr[s : e + 1], a.idx, a.val, b[s:e], slack[s:e], w, news, closed,
                found[s:e],
            )  # fmt: skip
            gap, rise, work = gap + g, rise + r, work + k
        return Visit(gap, rise, work, found)

    def gaps_at(self, ids: Ints, slack: Floats, w: Floats) -> float:
        """Sum of the gaps of some examples at w, where the oracle found these slacks."""
        total = 0.0
        for s, e in self._pages.spans(len(ids)):
            total += loops.gaps_at(
                self._store, self._scratch, self._space, self._dual, ids[s:e],
                slack[s:e], w,
            )  # fmt: skip
        return total

    def sweep(
        self, order: Ints, w: Floats, closed: float, gaps: Floats
    ) -> tuple[float, float]:
        """Improve the blocks in `order` on the planes held: (rise, work)."""
        rise, work = 0.0, 0
        for s, e in self._pages.spans(len(order)):
            rise, work = loops.sweep(
                self._store, self._scratch, self._space, self._dual, order[s:e], w,
                closed, gaps, rise, work,
            )  # fmt: skip
        return rise, float(work)

    def violated(self, w: Floats, C: Floats, a: Floats) -> tuple[float, Floats]:
        """Add C times the violated planes to `a`: (sum of C b, slack of each example).

        The slack is the sum of the positive heights. With an empty C only these are
        computed.
        """
        slack, b = np.zeros(self.n), 0.0
        for s, e in self._pages.spans(self.n):
            b += loops.violated(
                self._store, self._scratch, self._space, s, e, w, C, a, slack
            )
        return b, slack

    def radius(self) -> float:
        """Largest squared length of a plane held."""
        return float(stores.radius(self._store))

    def heights(self, i: int, w: Floats) -> Floats:
        """Heights b - <a, w> of the planes of example i."""
        loops.gather(self._store, self._scratch, self._space, i, w)
        return self._scratch.g[: self._store.count[i]].copy()

    def dual(self, w: Floats) -> float:
        """Value of the dual at the present alpha."""
        value = float(stores.dual_value(self._store, self._dual.ridge))
        return value - 0.5 * float(w @ w)

    def weights(self) -> Floats:
        """Sum of alpha * a, from scratch."""
        w = np.zeros(self.dim)
        for s, e in self._pages.spans(self.n):
            stores.add_weights(self._store, self._space, s, e, w)
        return w

    def coordinates(self) -> Floats:
        """Sum of alpha * a in the coordinates of the planes themselves."""
        out = np.zeros(self._space.coordinates(self.dim))
        stores.add_weights(self._store, space_of(None), 0, self.n, out)
        return out

    def stretch(self, w: Floats) -> None:
        """On a cone, move alpha (and w) along its own ray to where the dual is highest.

        With s = sum alpha b the best factor is s / (||w||^2 + ridge terms). Coordinate
        steps alone let alpha grow slowly; where no weights separate the data, alpha then
        grows without end, and this shows soon.
        """
        square = float(w @ w)
        linear = self.dual(w) + 0.5 * square
        ridge = float(stores.ridge_value(self._store, self._dual.ridge))
        linear += 0.5 * ridge
        if square + ridge > 0.0 and linear > 0.0:
            factor = linear / (square + ridge)
            self._store.alpha[:] *= factor
            w *= factor

    def start_round(
        self, stretch: float, scale: Change, room: dict[str, Any], other: bool = False
    ) -> None:
        """Steps with this stretch from now on (see `Dual`); `end_round` tells dw.

        `scale` has the weights with a stretch of their own; `other` says that it is not
        what it was when planes were last added. `room` keeps the work space: sets of
        planes that take turns can share it.
        """
        if "mark" not in room:
            room["scale"] = np.ones(self.dim)
            room["mark"] = np.zeros(self.dim, np.int8)
            room["entries"] = np.empty(self.dim, np.int32)
            room["log"] = np.empty(max(self.dim // LOG, 1024), np.int32)
        room["scale"][scale.idx], self._scale = scale.val, scale
        self._use_room(room)
        if other:
            loops.refill_gram(self._store, self._scratch, self._space)
        logged = np.zeros(1, np.int64)
        self._dual = self._dual._replace(
            stretch=stretch, log=room["log"], logged=logged
        )

    def end_round(self, w: Floats, base: Floats, room: dict[str, Any]) -> Change:
        """What the round changed, divided by the stretch; w is `base` again."""
        mark, out, (log, logged) = room["mark"], room["entries"], self._dual[-2:]
        if logged[0] > len(log):
            idx = np.flatnonzero(w != base).astype(np.int32)
        else:
            parts = np.unique(log[: logged[0]])
            size = loops.changed_entries(self._space, parts, w, base, mark, out)
            idx = np.sort(out[:size])
        room["scratch"] = self._scratch
        stretch, scale = self._dual.stretch, room["scale"]
        change = Change(idx, loops.take_back(idx, w, base, mark, stretch, scale))
        scale[self._scale.idx] = 1.0
        self._dual = _new_dual(self.dual_set)
        return change

    def own_change(self, w: Floats, base: Floats) -> Change:
        """Sum of alpha * a, as a change; w, equal to `base`, is work space."""
        for s, e in self._pages.spans(self.n):
            stores.add_weights(self._store, self._space, s, e, w)
        idx = np.flatnonzero(w != base).astype(np.int32)
        val = w[idx] - base[idx]
        w[idx] = base[idx]
        return Change(idx, val)

    def rescale(self, dual_set: DualSet, factor: Floats) -> None:
        """Another C: planes stay, alpha of example i is multiplied by factor[i]."""
        self.dual_set = dual_set
        self._dual = _new_dual(dual_set)
        s = self._store
        for i in range(self.n):
            s.alpha[s.first[i] : s.first[i] + s.count[i]] *= factor[i]

    def carry_over(self, dual_set: DualSet) -> None:
        """Another C: alpha grows with it, but no further than the dual rises.

        Where slacks are small alpha hardly depends on C. Multiplied by the ratio of both C
        it could end far beyond the optimum, even where the dual is negative.
        """
        growth = self.dual_set.growth(dual_set)
        self.rescale(dual_set, growth)
        if not (growth > 1.0).any():
            return
        w = self.weights()
        ridge = float(stores.ridge_value(self._store, self._dual.ridge))
        quadratic = float(w @ w) + ridge
        linear = self.dual(w) + 0.5 * quadratic
        if 0.0 < linear < quadratic:
            self._store.alpha[:] *= linear / quadratic

    def shift(self, ids: Ints, change: Rows, scaled: bool) -> None:
        """Other true outputs: add `change` to every plane of each example in `ids`.

        With scaled planes (slack rescaling), b times `change`. Heights b, alpha and the
        dual set stay; call `weights` for the new w.
        """
        s = self._store
        for q, i in enumerate(ids):
            m, f = int(s.count[i]), int(s.first[i])
            if m == 0:
                continue
            rows, b, alpha = stores.planes_of(s, i)
            idx, val = change.idx[slice(*change.ptr[q : q + 2])], change.val
            val = val[slice(*change.ptr[q : q + 2])]
            alpha, idle = alpha.copy(), s.idle[f : f + m].copy()
            s.count[i], s.width[i] = 0, 0
            for j in range(m):
                own = slice(*rows[0][j : j + 2])
                plane_idx = np.concatenate((rows[1][own], idx))
                plane_val = np.concatenate(
                    (rows[2][own], val * b[j] if scaled else val)
                )
                self._reserve(np.array([i]), np.array([len(plane_idx)]))
                s = self._store
                loops.insert(
                    s, self._scratch, self._space, i, 0, len(plane_idx), plane_idx,
                    plane_val, b[j],
                )  # fmt: skip
                last = s.first[i] + s.count[i] - 1
                s.alpha[last], s.idle[last] = alpha[j], idle[j]

    def extend(self, dual_set: DualSet) -> None:
        """Append examples that have no planes yet."""
        new, old = len(dual_set.upper), self.dual_set
        pad = np.zeros(new, np.int64)
        self._store = self._store._replace(
            **{name: np.append(getattr(self._store, name), pad) for name in PER_EXAMPLE}
        )
        self.n += new
        self.dual_set = DualSet(
            np.append(old.upper, dual_set.upper), np.append(old.ridge, dual_set.ridge),
            old.box,
        )  # fmt: skip
        self._dual = _new_dual(self.dual_set)

    def fits(self, ids: Ints, sizes: Ints) -> bool:
        """Whether planes of these sizes fit without forgetting or merging any."""
        s, entries = self._store, int(sizes.sum())
        have = np.array([len(s.alpha), len(s.gram), len(s.support), len(s.idx)])
        if (s.top + np.append(_need(s, ids, sizes), entries) <= have).all():
            return True
        need = np.append(_need(s, ids, sizes, tight=True), entries)
        return _bytes(stores.live(s) + need) <= self._bound

    def forget_idle(self, patience: int) -> None:
        """Drop planes without weight for `patience` visits."""
        stores.forget_idle(self._store, patience)

    def _reserve(self, ids: Ints, sizes: Ints) -> None:
        widest = stores.reserve(self._store, ids, sizes, self.most)
        if widest < 0:
            self._make_space(ids, sizes)
            widest = stores.reserve(self._store, ids, sizes, self.most)
        self._widen(widest)

    def _make_space(self, ids: Ints, sizes: Ints) -> None:
        """Evict planes of full examples; longer arrays where these do not suffice."""
        self._evict(ids, self.most)
        if (self._store.count[ids] >= self.most).any():
            self._grow(np.zeros(3, np.int64), int(self._store.width[ids].sum()))
            self._evict(ids, self.most)
        need, entries = _need(self._store, ids, sizes), int(sizes.sum())
        arrays = (getattr(self._store, names[0]) for names in GROUPS)
        have = np.array([len(array) for array in arrays])
        if (self._store.top + np.append(need, entries) > have).any():
            self._grow(need, entries, ids, sizes)

    def _evict(self, ids: Ints, most: int) -> None:
        """Leave examples with at most `most` - 1 planes, if there is room to merge."""
        store = self._store
        full = ids[store.count[ids] >= most]
        for s, e in self._pages.spans(len(full)):
            loops.evict(
                store, self._scratch, self._space, full[s:e], most, len(store.idx)
            )

    def check_restored(self) -> None:
        """Refuse planes, read from a file, that loops could not use."""
        coordinates = self._space.coordinates(self.dim)
        stores.check_store(self._store, self.n, self.most, coordinates)

    def _use_room(self, room: dict[str, Any]) -> None:
        """Work in the scratch space that lies in `room`, made larger if need be."""
        places, old = self._space.places(self.dim), room.get("scratch")
        if old is None:
            old = _new_scratch(places, self._spread, 1024, self.most + 2)
        elif len(old.where) < places:
            old = old._replace(where=np.full(places, -1, np.int32))
        old = old._replace(scale=room.get("scale", NO_SCALE))
        room["scratch"] = self._scratch = old
        self.resize_scratch()

    def resize_scratch(self) -> None:
        """Make scratch space for planes that were restored (`solvers.resume`)."""
        self._widen(int(self._store.width_room.max(initial=0)))

    def _widen(self, widest: int) -> None:
        if widest > len(self._scratch.local):
            self._scratch = self._scratch._replace(
                local=np.zeros(2 * widest), acc=np.zeros(2 * widest)
            )

    def _grow(
        self,
        need: Ints,
        entries: int,
        ids: Ints | None = None,
        sizes: Ints | None = None,
    ) -> None:
        """Arrays with room for what is asked, holes left out.

        Fresh ones of twice the size where memory allows. Where it does not, planes move
        together in the arrays that there are, and are merged where these do not suffice.
        """
        ids = np.empty(0, np.int64) if ids is None else ids
        twice = np.array([2, 4, 2, 2])
        if sizes is not None:
            need = _need(self._store, ids, sizes, tight=True)
        roomy = twice * (stores.live(self._store) + np.append(need, entries))
        if _bytes(roomy) + self.nbytes <= MOVING * self.memory:
            self._replace(roomy)
            return
        for attempt in range(8):
            if attempt == 1:
                stores.forget_idle(self._store, 0)
            elif attempt > 1:
                self._merge_all(max(2, self.most >> attempt))
            stores.pack(self._store)
            if sizes is not None:
                need = _need(self._store, ids, sizes, tight=True)
            live = self._store.top + np.append(need, entries)
            share = self._bound / _bytes(live)
            if share >= ROOM or (share >= 1.0 and attempt > 5):
                self._resize(np.minimum(twice * live, (share * live).astype(np.int64)))
                return
        raise MemoryError(
            f"the planes of {self.n} examples need {_bytes(live) / HELD / 1e6:.0f} MB, "
            f"more than the {self.memory / 1e6:.0f} MB allowed: allow more, or use "
            "solver='one-slack', which keeps sums over examples only"
        )

    def _merge_all(self, most: int) -> None:
        """Leave all examples with at most `most` - 1 planes, a part of them at a time."""
        for ids in np.array_split(np.arange(self.n), min(self.n, PARTS)):
            if (self._store.count[ids] >= most).any():
                stores.pack(self._store)
                self._evict(ids, most)

    def _resize(self, sizes: Ints) -> None:
        """Longer and shorter arrays, one after the other: shorter ones first."""
        top = self._store.top
        arrays = [(name, k) for k, names in enumerate(GROUPS) for name in names]
        arrays.sort(key=lambda one: len(getattr(self._store, one[0])) < sizes[one[1]])
        for name, k in arrays:
            old, used = getattr(self._store, name), int(top[k])
            new = paged_zeros(max(int(sizes[k]), 1), old.dtype)
            new[:used] = old[:used]
            self._store = self._store._replace(**{name: new})
            del old

    def _replace(self, sizes: Ints) -> None:
        new = _new_store(self.n, *(max(int(k), 1) for k in sizes))
        stores.compact(self._store, new)
        self._store = new


def _new_store(n: int, slots: int, gram: int, support: int, entries: int) -> Store:
    per_example: list[Any] = [np.zeros(n, np.int64) for _ in range(7)]
    per_slot: list[Any] = [paged_zeros(slots, np.int64) for _ in range(3)]
    arrays: list[Any] = [
        *per_example,
        paged_zeros(slots),
        paged_zeros(slots),
        *per_slot,
        paged_zeros(gram),
        paged_zeros(support, np.int32),
        paged_zeros(entries, np.int32),
        paged_zeros(entries),
        np.zeros(4, np.int64),
    ]
    return Store(*arrays)


def _new_dual(dual_set: DualSet) -> Dual:
    """Steps on this dual set: not stretched, and no log."""
    upper, ridge, box = dual_set
    log, logged = np.empty(0, np.int32), np.zeros(1, np.int64)
    return Dual(upper, ridge, bool(box), 1.0, log, logged)


def _new_scratch(places: int, dim: int, width: int, planes: int) -> Scratch:
    return Scratch(
        np.full(places, -1, np.int32),
        np.zeros(dim),
        np.zeros(width),
        np.zeros(width),
        np.zeros(planes),
        np.zeros(planes),
        NO_SCALE,
    )


def _need(s: Store, ids: Ints, sizes: Ints, tight: bool = False) -> Ints:
    """Slots, Gram entries and support entries that `make_room` may take."""
    full = s.count[ids] == s.room[ids]
    new = np.where(full, np.maximum(2, 2 * s.room[ids]), 0)
    wide = s.width[ids] + sizes
    if not tight:
        wide = np.where(wide > s.width_room[ids], wide, 0)
    return np.array([new.sum(), (new**2).sum(), 2 * wide.sum()])


def _bytes(sizes: Ints) -> float:
    return float(sizes @ np.array([PER_SLOT, PER_GRAM, PER_SUPPORT, PER_ENTRY]))
