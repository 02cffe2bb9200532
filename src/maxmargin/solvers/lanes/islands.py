"""The constraints held for label sequences, and room for more of them.

`Islands` owns the arrays that `loops` works on. It cuts long examples into blocks, gives
blocks more slots, moves the ends of blocks that a constraint spans, and keeps all of it
below a bound on memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Vectors, pointers
from maxmargin.core.data.memory import refuse_larger
from maxmargin.core.data.validation import check_types, require
from maxmargin.solvers.lanes import loops, recut
from maxmargin.solvers.lanes.loops import Blocks, Lane, SequenceTask, TokenInputs

LONG, PIECE = 160, 64  # tokens above which an example is cut, and tokens of a piece
WIDEST = 3  # pieces that a block has at most at first
WAIT = 6  # times that the end of a block could not move before it may be wider
SLOTS = 4  # of a block at the start
PARTS, FEW = 4, 1000  # blocks are set up in so many parts if they are not too few
HELD = 0.75  # of the memory, for constraints; the rest is for what steps work with
SLOT = 32  # bytes of a slot beside labels and Gram matrix
STORED = (
    "held", "room", "alpha", "b", "idle", "low", "high", "group", "labels", "gram",
)  # fmt: skip


Map = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]  # an engine's
Part = tuple[int, int]


class Islands:
    """Constraints of all examples.

    Parameters
    ----------
    task : SequenceTask
        Sequences, true labels and loss.
    vectors : Vectors
        The features of their tokens.
    memory : float
        Bytes for constraints at most.
    weight : array
        Factor on each feature in inner products; empty: none. Several lanes count
        features more that they share (see `crew`).
    side_by_side : callable
        The map of an engine.

    Attributes
    ----------
    blocks : Blocks
        The constraints.
    owner : array
        The example of each block.
    full : array
        Of each block: 1 if it needs more slots, 2 if it must end elsewhere.
    short : bool
        Whether memory has run out: constraints without weight are then dropped soon.
    """

    DUAL: ClassVar[tuple[str, ...]] = ("stored",)

    def __init__(
        self, task: SequenceTask, vectors: Vectors, memory: float, weight: Floats,
        side_by_side: Map = map,
    ) -> None:  # fmt: skip
        self.task, self.memory, self.vectors = task, memory, vectors
        self._weight = weight
        ptr, idx, val, _ = vectors
        self.inputs = TokenInputs(ptr, ptr[1:], idx, val)
        self.short = False
        self._widest, self._waited = WIDEST * PIECE, 0
        self._cut = self._share_at = np.zeros(0, np.int64)
        self._share = np.empty(0, np.float32)
        cut, first_block = cuts(task.ptr)
        needed = expected_bytes(task.ptr)
        if needed > memory:
            what = "products of tokens, and constraints,"
            instead = "allow more memory, or use solver='block-dual' or 'one-slack'"
            refuse_larger(needed, memory, what, instead)
        self._lay_out(cut, first_block, side_by_side)
        self.blocks = self._empty(np.full(len(cut) - 1, SLOTS, np.int64))
        self.full = np.zeros(len(cut) - 1, np.int64)

    @property
    def planes(self) -> int:
        """Constraints held."""
        return int(self.blocks.held.sum())

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(a.nbytes for a in self.blocks)

    @property
    def stored(self) -> dict[str, Any]:
        """What a checkpoint holds: all that does not follow from the data."""
        blocks = self.blocks._asdict()
        kept = {name: blocks[name] for name in STORED}
        cut = {"cut": self._cut, "first_block": self._first_block}
        rest = {"full": self.full, "short": self.short, "curve": self.task.curve}
        rest |= {"widest": self._widest, "waited": self._waited}
        return kept | cut | rest

    @stored.setter
    def stored(self, data: dict[str, Any]) -> None:
        cut, first_block = _checked_cuts(data, self.task.ptr)
        self._lay_out(cut, first_block)
        room = data["room"]
        size = np.diff(cut)
        few = room.shape == size.shape and (room > 0).all() and (room < 2**15).all()
        require(few, "the slots in the checkpoint do not fit the data")
        require(float(room @ room) < 2**40, "the checkpoint has too many slots")
        self.blocks = self._empty(room)._replace(**{k: data[k] for k in STORED})
        self._check(size)
        full = data["full"]
        require(_is_ints(full) and full.shape == room.shape, "a mark is missing")
        self.full, self.short = full, bool(data["short"])
        self._widest, self._waited = int(data["widest"]), int(data["waited"])
        if data["curve"] != self.task.curve:  # of another number of lanes
            self._fill_gram()

    def _check(self, size: Ints) -> None:
        """Raise ValueError unless loops can use the blocks."""
        blocks, fresh = self.blocks, self._empty(self.blocks.room)
        check_types(blocks)
        for name in STORED:
            same = getattr(blocks, name).shape == getattr(fresh, name).shape
            require(same, f"{name} in the checkpoint has another size")
        held, K = blocks.held, self.task.layout.labels
        require((held >= 0).all() and (held <= blocks.room).all(), "too many held")
        each = np.repeat(size, blocks.room)
        slot = np.arange(len(each)) - np.repeat(blocks.first, blocks.room)
        used = slot < np.repeat(held, blocks.room)
        low, high = blocks.low[used], blocks.high[used]
        inside = (low >= 0) & (low <= high) & (high < each[used])
        require(inside.all(), "a constraint in the checkpoint leaves its example")
        group = blocks.group[used]
        require(((group >= 0) & (group < 2**15)).all(), "a group is out of range")
        labels = blocks.labels
        require(((labels >= 0) & (labels < K)).all(), "a label is out of range")
        finite = all(
            np.isfinite(a).all() for a in (blocks.alpha, blocks.b, blocks.gram)
        )
        require(finite and (blocks.alpha >= 0).all(), "alpha is not a number >= 0")

    def continues(self, task: SequenceTask, vectors: Vectors) -> bool:
        """Whether these are constraints of the same data, C apart."""
        old = self.task
        if old.layout != task.layout or old.eta != task.eta:
            return False
        pairs = [(old._asdict()[k], task._asdict()[k]) for k in (
            "ptr", "truth", "forced", "cost", "scale", "legal")]  # fmt: skip
        pairs += zip(self.vectors[:3], vectors[:3], strict=True)
        return all(a is b or np.array_equal(a, b) for a, b in pairs)

    def rescale(self, task: SequenceTask, weight: Floats) -> None:
        """Take the C of another task of the same data; alpha grow or shrink with it.

        Lanes may be more or fewer than before, and so other features have weights.
        """
        old, new = self.task.upper, task.upper
        factor = np.where(old > 0, new / np.maximum(old, 1e-300), 0.0)
        self.blocks.alpha[:] *= np.repeat(factor[self.owner], self.blocks.room)
        same = self.task.curve == task.curve and np.array_equal(self._weight, weight)
        self.task, self._weight = task, weight
        if not same:
            cut, self._cut = self._cut, np.zeros(0, np.int64)
            self._lay_out(cut, self._first_block)
            self.blocks = self.blocks._replace(
                share_at=self._share_at, share=self._share
            )
            self._fill_gram()

    def _fill_gram(self) -> None:
        """Compute all inner products of constraints anew."""
        lane = self.lane(np.zeros(self.task.layout.others))
        loops.fill_gram(self.task, self.blocks, lane, self.owner)

    def linear(self) -> float:
        """Sum of alpha * b."""
        return float(loops.linear_part(self.blocks))

    def weights(self, dim: int) -> Floats:
        """Sum of alpha times the features of each constraint, from scratch."""
        w = np.zeros(dim)
        lane = self.lane(w)
        loops.add_weights(self.task, self.inputs, self.blocks, lane, self.owner)
        return w

    def drop_idle(self, patience: int) -> None:
        """Drop constraints that have had no weight for so many visits."""
        loops.drop_idle(self.blocks, patience, self.task.layout.order)

    def lane(self, w: Floats) -> Lane:
        """A lane that reads and writes w directly."""
        tail = w[len(w) - self.task.layout.others :]
        none, numbers, values = (
            np.empty(0, np.int64),
            np.empty(0, np.int32),
            np.empty(0),
        )
        log = none, numbers, values, none, numbers, values, np.zeros(1, np.int64)
        return Lane(w, tail, 1.0, *log, **self.scratch())

    def scratch(self) -> dict[str, Any]:
        """Work space for the longest example and the block with most slots."""
        layout, sizes = self.task.layout, np.diff(self.task.ptr)
        longest, K = int(sizes.max(initial=1)), layout.labels
        slots = int(self.blocks.room.max(initial=1)) + 1
        return {
            "nodes": np.zeros(longest * K), "augmented": np.zeros(longest * K),
            "values": np.zeros(longest * K**layout.order),
            "change": np.zeros(longest * K), "number": np.zeros(longest, np.int32),
            "columns": np.zeros(longest * K, np.int32),
            "found": np.zeros(longest, np.int32), "counts": np.zeros(layout.others),
            "g": np.zeros(slots), "old": np.zeros(slots),
            "begin": np.zeros(K), "end": np.zeros(K),
            "pair": np.zeros(sum(K ** (j + 1) for j in range(1, layout.order + 1))),
        }  # fmt: skip

    def make_room(self, stalls: int, side_by_side: Map = map) -> bool:
        """Slots for blocks that are nearly full; other ends for those marked 2.

        Where training has come to a halt, `stalls` iterations ago, they become one with
        the next. Returns whether arrays moved: lanes then need new scratch space.
        """
        blocks = self.blocks
        few = (self.full > 0) | (blocks.held + 1 >= blocks.room)
        if not self.full.any() and few.mean() < 0.02:
            return False
        room = np.where(few, 2 * blocks.room, blocks.room)
        cut, first_block = self._cut, self._first_block
        if (self.full == 2).any():
            cut, first_block = self._other_ends(stalls > 0)
            room = self._slots(cut, room)
        if self._bytes(cut, room) > self.memory or room.max() >= 2**15:
            self.short = True
            self.full[:] = 0
            return False
        owner = self.owner
        if cut is not self._cut:
            self._lay_out(cut, first_block, side_by_side)
        new, others = self._empty(room), np.zeros(self.task.layout.others)
        loops.move(self.task, blocks, new, self.lane(others), owner)
        self.blocks = new
        self.full = np.zeros(len(room), np.int64)
        return True

    def _places(self) -> tuple[Ints, Ints]:
        """The slots in use, and the first tokens of their islands."""
        held, first = self.blocks.held, self.blocks.first
        begin = np.repeat(first - pointers(held)[:-1], held)
        slots = begin + np.arange(len(begin))
        return slots, np.repeat(self._cut[:-1], held) + self.blocks.low[slots]

    def _other_ends(self, join: bool) -> tuple[Ints, Ints]:
        """Other cuts, or none, for blocks marked 2: (cut, first_block)."""
        if join:
            return recut.joined(self._cut, self._first_block, self.full == 2)
        slots, low = self._places()
        busy = self.blocks.alpha[slots] > 0.0
        slots, low = slots[busy], low[busy]
        high = low + self.blocks.high[slots] - self.blocks.low[slots]
        taken = recut.inside(low, high + self.task.layout.order, self._cut[-1])
        cut, first_block, unmet = recut.other_cuts(
            self._cut, self._first_block, self.full == 2, taken, PIECE, self._widest
        )
        self._waited += unmet > 0
        if self._waited >= WAIT:
            self._widest, self._waited = 2 * self._widest, 0
        return cut, first_block

    def _slots(self, cut: Ints, room: Ints) -> Ints:
        """Slots of blocks with these cuts; `room` is that of the present ones."""
        low = self._places()[1]
        count = np.bincount(
            np.searchsorted(cut, low, side="right") - 1, minlength=len(cut) - 1
        )
        out = np.maximum(SLOTS, count + count // 2 + 2)
        same = self._same(cut)
        out[same >= 0] = room[same[same >= 0]]
        return out

    def _lay_out(self, cut: Ints, first_block: Ints, side_by_side: Map = map) -> None:
        """Blocks of tokens cut[b] .. cut[b + 1] - 1, and the products of their tokens."""
        width = np.diff(cut)
        at, old = pointers(width * (width + 1) // 2), self._share
        old_at = self._known(cut)
        share = np.empty(at[-1], np.float32)
        features = self.vectors.width
        entries = int(np.diff(self.vectors.ptr[cut]).max(initial=1))
        bias = self.task.curve * float(self.task.layout.bias >= 0)

        def fill(part: Part) -> None:
            begin, end = part
            loops.products(
                self.inputs, self._weight, cut[begin : end + 1], at[begin:end], share,
                bias, np.full(features + 1, -1, np.int32), np.empty(entries, np.int32),
                np.empty(entries, np.int32), old_at[begin:end], old,
            )  # fmt: skip

        list(side_by_side(fill, parts_of(len(cut) - 1)))
        self._cut, self._first_block = cut, first_block
        self._share_at, self._share = at[:-1], share
        self.owner = np.repeat(np.arange(len(first_block) - 1), np.diff(first_block))

    def _known(self, cut: Ints) -> Ints:
        """Where the products of each block are already, or -1."""
        same = self._same(cut)
        return np.where(same >= 0, self._share_at[same], -1) if len(self._cut) else same

    def _same(self, cut: Ints) -> Ints:
        """The present block with the same tokens as each block of `cut`, or -1."""
        out, old = np.full(len(cut) - 1, -1, np.int64), self._cut
        if len(old) > 1:
            where = np.searchsorted(old, cut[:-1]).clip(0, len(old) - 2)
            same = (old[where] == cut[:-1]) & (old[where + 1] == cut[1:])
            out[same] = where[same]
        return out

    def _empty(self, room: Ints) -> Blocks:
        slots, labels = pointers(room), pointers(room * np.diff(self._cut))
        gram = pointers(room**2)
        k = int(slots[-1])
        arrays: list[Any] = [
            self._first_block, self._cut, self._share_at, self._share,
            np.zeros(len(room), np.int64), room, slots[:-1], labels[:-1], gram[:-1],
            np.zeros(k), np.zeros(k), *(np.zeros(k, np.int32) for _ in range(4)),
            np.zeros(int(labels[-1]), np.int16), np.zeros(int(gram[-1])),
        ]  # fmt: skip
        return Blocks(*arrays)

    def _bytes(self, cut: Ints, room: Ints) -> float:
        """Memory while islands move to arrays with these cuts and this much room."""
        width = np.diff(cut)
        moved = np.where(self._same(cut) < 0, width, 0)
        products = 2.0 * float(moved @ (moved + 1))
        labels = 2.0 * float(room @ width)
        slots = SLOT * float(room.sum()) + 8.0 * float(room @ room)
        return (self.nbytes + products + slots + labels) / HELD


def parts_of(many: int) -> list[Part]:
    """Parts of so many items, to be worked on side by side: [(first, end), ...].

    Examples
    --------
    >>> parts_of(4000)
    [(0, 1000), (1000, 2000), (2000, 3000), (3000, 4000)]
    """
    ends = np.linspace(0, many, min(PARTS, 1 + many // FEW) + 1).astype(int).tolist()
    return list(pairwise(ends))


def cuts(ptr: Ints) -> tuple[Ints, Ints]:
    """Blocks of examples: (first token of each block, first block of each example).

    Examples
    --------
    >>> cut, first = cuts(np.array([0, 10, 210]))
    >>> cut.tolist(), first.tolist()
    ([0, 10, 76, 143, 210], [0, 1, 4])
    """
    sizes = np.diff(ptr)
    pieces = np.where(sizes > LONG, sizes // PIECE, 1)
    first = pointers(pieces)
    example = np.repeat(np.arange(len(sizes)), pieces)
    place = np.arange(first[-1]) - first[example]
    begins = ptr[example] + place * sizes[example] // pieces[example]
    return np.append(begins, ptr[-1]), first


def expected_bytes(ptr: Ints) -> float:
    """Memory that training with constraints of sequences will take, about."""
    width = np.diff(cuts(ptr)[0])
    products = 2.0 * float((width * (width + 1)).sum())
    return (products + 12.0 * float(2 * width.sum() + 200 * len(width))) / HELD


def _checked_cuts(data: dict[str, Any], ptr: Ints) -> tuple[Ints, Ints]:
    """The blocks in a checkpoint, if they are blocks of these examples."""
    names = {
        *STORED,
        "cut",
        "first_block",
        "full",
        "short",
        "curve",
        "widest",
        "waited",
    }
    whole = isinstance(data, dict) and set(data) == names
    require(whole, "the constraints in the checkpoint are not whole")
    cut, first = data["cut"], data["first_block"]
    plain = all(_is_ints(a) for a in (cut, first, data["room"]))
    require(plain, "the blocks in the checkpoint are not numbers")
    ordered = first.shape == ptr.shape and (np.diff(first) > 0).all() and first[0] == 0
    require(ordered and len(cut) == first[-1] + 1, "its blocks do not fit the data")
    fits = (np.diff(cut) >= 0).all() and np.array_equal(cut[first], ptr)
    require(fits, "its blocks do not fit the data")
    return cut, first


def _is_ints(value: Any) -> bool:
    plain = isinstance(value, np.ndarray) and value.ndim == 1
    return plain and value.dtype == np.int64 and value.flags.c_contiguous
