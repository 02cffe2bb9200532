"""The arrays that hold planes, and loops that make room in them and sum them.

A plane has coordinates; `Space` says what each of them stands for.

Blocks of planes, one per example, live in flat arrays. A block that is full moves to
the end with twice the room; `compact` copies all blocks into fresh arrays, in order, and
`pack` moves them together where they are, which takes no further memory.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Vectors,
    check_size,
    pointers,
)
from maxmargin.core.data.validation import (
    check_range,
    check_shape,
    check_types,
    require,
)
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.structure import OuterCoordinates, PairVectors, VectorKinds
from maxmargin.solvers.planes.coordinates import part_add

PAGED = 2**18  # bytes


def paged_zeros(size: int, dtype: Any = np.float64) -> np.ndarray:
    """Zeros; long arrays in pages of their own, which go back when they are outgrown.

    The heap keeps holes where outgrown arrays were: several times what is in use.
    """
    nbytes = size * np.dtype(dtype).itemsize
    if nbytes < PAGED:
        return np.zeros(size, dtype)
    private = {"flags": mmap.MAP_PRIVATE} if hasattr(mmap, "MAP_PRIVATE") else {}
    return np.frombuffer(mmap.mmap(-1, nbytes, **private), dtype)


class Space(NamedTuple):
    """What a coordinate of a plane stands for, see `core.structure.OuterCoordinates`.

    Below `limit` it is vector c // k with label c % k, below `last` a pair of labels of
    an edge, from there on a weight.
    """

    ptr: Ints
    idx: Labels
    val: Floats
    width: int
    k: int
    limit: int
    last: int
    base: int  # the weight that coordinate `last` stands for
    ring: int  # a power of two, not below the vectors of any example times k
    pair_ring: int  # likewise of edges
    row: Labels  # the five fields of `VectorKinds`; empty where there is one kind
    kind: Labels
    at: Ints
    labels: Ints
    widths: Ints
    pair_kind: Labels  # four fields of `PairVectors`; empty where there are no edges
    pair_val: Floats
    pair_width: int
    pairs: int
    pair_at: Ints

    def coordinates(self, dim: int) -> int:
        """How many coordinates there are for `dim` weights."""
        return self.last + dim - self.base

    def places(self, dim: int) -> int:
        """How many places `place` may name."""
        return self.ring + self.pair_ring + dim - self.base


def space_of(parts: OuterCoordinates | None) -> Space:
    """What coordinates stand for; None: they are the weights themselves."""
    if parts is None:
        none = Vectors(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), 0)
        parts = OuterCoordinates(none, 1, np.zeros(1, np.int64))
    vectors, k, ptr, kinds, edges, base = parts
    limit = (vectors.n if kinds is None else len(kinds.row)) * k
    few, none_at = np.empty(0, np.int32), np.empty(0, np.int64)
    kinds = kinds or VectorKinds(few, few, none_at, none_at, none_at)
    last, pair_ring = limit, 0
    if edges is None:
        edges = PairVectors(few, np.empty(0), 0, 1, none_at, none_at)
    else:
        last += len(edges.kind) * edges.pairs
        pair_ring = _ring(edges.ptr, edges.pairs)
    return Space(
        vectors.ptr, vectors.idx, vectors.val, vectors.width, k, limit, last,
        vectors.width * k if base is None else base, _ring(ptr, k) if limit else 0,
        pair_ring, kinds.row, kinds.kind, kinds.at, kinds.labels, kinds.width,
        edges.kind, edges.val, edges.width, edges.pairs, edges.at,
    )  # fmt: skip


def _ring(ptr: Ints, k: int) -> int:
    """The least power of two that the k coordinates of each vector fit into."""
    return 1 << (int(np.diff(ptr).max(initial=1)) * k - 1).bit_length()


class Store(NamedTuple):
    """Planes of all examples in flat arrays; `top` says how much of each is used."""

    count: Ints  # type: ignore[assignment]  # (n,) planes held
    room: Ints  # (n,) slots owned
    first: Ints  # (n,) first slot
    gram_at: Ints  # (n,) start of the (room, room) Gram matrix
    width: Ints  # (n,) size of the support
    width_room: Ints  # (n,) entries owned in `support`
    support_at: Ints  # (n,) start of the support
    alpha: Floats  # (slots,)
    b: Floats  # (slots,)
    start: Ints  # (slots,) entries of the plane: start:stop
    stop: Ints  # (slots,)
    idle: Ints  # (slots,) visits since alpha was positive
    gram: Floats
    support: Labels  # coordinates of w
    idx: Labels  # entries: positions in the support
    val: Floats
    top: Ints  # (4,) used: slots, gram, support, entries


def check_store(store: Store, n: int, most: int, coordinates: int) -> None:
    """Refuse arrays, read from a file, that would lead loops out of them.

    n blocks of at most `most` planes, with coordinates below `coordinates`.
    """
    check_types(store)
    for name in Store._fields[:7]:
        check_shape(getattr(store, name), (n,), f"planes, {name}")
    slots, entries = len(store.alpha), len(store.idx)
    for name in ("alpha", "b", "start", "stop", "idle"):
        check_shape(getattr(store, name), (slots,), f"planes, {name}")
    check_shape(store.val, (entries,), "planes, val")
    check_shape(store.top, (4,), "planes, top")
    lengths = np.array([slots, len(store.gram), len(store.support), entries])
    used = (store.top >= 0) & (store.top <= lengths)
    require(used.all(), "planes: more is used than there is")
    check_range(store.room, 0, slots + 1, "planes, room")
    check_range(store.width_room, 0, len(store.support) + 1, "planes, room of supports")
    for k, (start, size) in enumerate((
        (store.first, store.room), (store.gram_at, store.room**2),
        (store.support_at, store.width_room),
    )):  # fmt: skip
        end = int(store.top[k])
        check_range(start, 0, end + 1, "planes, start of a block")
        require((start + size <= end).all(), "planes: a block ends beyond its array")
        _check_disjoint(start, size, "planes: two blocks overlap")
    held = (store.count >= 0) & (store.count <= np.minimum(store.room, most))
    require(held.all(), "planes: a block has too many")
    require(((store.width >= 0) & (store.width <= store.width_room)).all(), "supports")
    _check_planes(store, n, coordinates)


def _check_planes(store: Store, n: int, coordinates: int) -> None:
    """Entries of the planes that blocks hold, and supports of the blocks."""
    block = np.repeat(np.arange(n), store.count)
    slot = np.arange(len(block)) - np.repeat(pointers(store.count)[:-1], store.count)
    slot += store.first[block]
    start, stop = store.start[slot], store.stop[slot]
    require(((start >= 0) & (start <= stop)).all(), "a plane ends before it begins")
    require((stop <= store.top[3]).all(), "a plane ends beyond its array")
    _check_disjoint(start, stop - start, "two planes overlap")
    entry, ptr = _spans_of(start, stop)
    owner = np.repeat(block, np.diff(ptr))
    place = store.idx[entry]
    inside = (place >= 0) & (place < store.width[owner])
    require(inside.all(), "an entry of a plane lies outside of its support")
    support = store.support[
        _spans_of(store.support_at, store.support_at + store.width)[0]
    ]
    check_range(support, 0, coordinates, "coordinate of a plane")
    check_size(store.alpha[slot], "alpha")
    require((store.alpha[slot] >= 0.0).all(), "a dual variable is negative")
    check_size(store.b[slot], "planes")
    check_size(store.val[entry], "planes")


def _check_disjoint(start: Ints, size: Ints, message: str) -> None:
    """Refuse spans that share an entry: what a loop does to one would alter the other."""
    start, size = start[size > 0], size[size > 0]
    order = np.argsort(start, kind="stable")
    start, size = start[order], size[order]
    require((start[:-1] + size[:-1] <= start[1:]).all(), message)


def _spans_of(start: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """All places from each start to its stop, and where each span begins among them."""
    ptr = pointers(stop - start)
    return np.arange(ptr[-1]) + np.repeat(start - ptr[:-1], stop - start), ptr


@inner_loop
def make_room(store, ids, sizes):
    """Give each example in `ids` a free slot and support for `sizes` more entries.

    Blocks that are full move to the end of their arrays with twice the room. The
    arrays must be long enough (`PlaneBlocks.reserve`).
    """
    for q in range(len(ids)):
        i = ids[q]
        if store.count[i] == store.room[i]:
            old, new = store.room[i], max(2, 2 * store.room[i])
            to, f = store.top[0], store.first[i]
            for j in range(store.count[i]):
                store.alpha[to + j], store.b[to + j] = (
                    store.alpha[f + j],
                    store.b[f + j],
                )
                store.start[to + j] = store.start[f + j]
                store.stop[to + j] = store.stop[f + j]
                store.idle[to + j] = store.idle[f + j]
            gram, at = store.top[1], store.gram_at[i]
            for j in range(store.count[i]):
                for k in range(store.count[i]):
                    store.gram[gram + j * new + k] = store.gram[at + j * old + k]
            store.first[i], store.room[i], store.gram_at[i] = to, new, gram
            store.top[0], store.top[1] = to + new, gram + new * new
        if store.width[i] + sizes[q] > store.width_room[i]:
            new = 2 * (store.width[i] + sizes[q])
            to, at = store.top[2], store.support_at[i]
            for p in range(store.width[i]):
                store.support[to + p] = store.support[at + p]
            store.support_at[i], store.width_room[i] = to, new
            store.top[2] = to + new


@loop
def reserve(store, ids, sizes, most):
    """Make room where the arrays suffice; the widest support then owned, else -1.

    -1 also where an example already holds `most` planes.
    """
    slots, gram, support, entries = store.top
    for q in range(len(ids)):
        i = ids[q]
        if store.count[i] >= most:
            return -1
        entries += sizes[q]
        if store.count[i] == store.room[i]:
            new = max(2, 2 * store.room[i])
            slots += new
            gram += new * new
        if store.width[i] + sizes[q] > store.width_room[i]:
            support += 2 * (store.width[i] + sizes[q])
    if (
        slots > len(store.alpha)
        or gram > len(store.gram)
        or support > len(store.support)
        or entries > len(store.idx)
    ):
        return -1
    make_room(store, ids, sizes)
    widest = 0
    for i in ids:
        widest = max(widest, store.width_room[i])
    return widest


@inner_loop
def remove(store, i, j):
    """Forget plane j of block i: the last plane takes its place."""
    last = store.count[i] - 1
    f, room, at = store.first[i], store.room[i], store.gram_at[i]
    if j != last:
        s, t = f + j, f + last
        store.alpha[s], store.b[s] = store.alpha[t], store.b[t]
        store.start[s], store.stop[s] = store.start[t], store.stop[t]
        store.idle[s] = store.idle[t]
        for k in range(last):
            if k != j:
                value = store.gram[at + last * room + k]
                store.gram[at + j * room + k] = value
                store.gram[at + k * room + j] = value
        store.gram[at + j * room + j] = store.gram[at + last * room + last]
    store.count[i] = last


@loop
def forget_idle(store, patience):
    """Drop planes that have carried no weight for `patience` visits.

    The support of a block that lost planes shrinks to what the others touch.
    """
    used = np.zeros(1, np.int32)
    for i in range(len(store.count)):
        j, before = store.count[i] - 1, store.count[i]
        while j >= 0:
            s = store.first[i] + j
            if store.alpha[s] == 0.0 and store.idle[s] >= patience:
                remove(store, i, j)
            j -= 1
        if store.count[i] < before:
            if len(used) < store.width[i]:
                used = np.zeros(2 * store.width[i], np.int32)
            _trim(store, i, used)


@inner_loop
def _trim(store, i, used):
    """Leave coordinates out of the support of block i that no plane touches."""
    f, at, size = store.first[i], store.support_at[i], 0
    for s in range(f, f + store.count[i]):
        for e in range(store.start[s], store.stop[s]):
            used[store.idx[e]] = 1
    for p in range(store.width[i]):
        if used[p]:
            store.support[at + size] = store.support[at + p]
            used[p] = size
            size += 1
    for s in range(f, f + store.count[i]):
        for e in range(store.start[s], store.stop[s]):
            store.idx[e] = used[store.idx[e]]
    for p in range(store.width[i]):
        used[p] = 0
    store.width[i] = size


@loop
def ridge_value(store, ridge):
    """sum_i ridge_i (sum alpha_i)^2."""
    out = 0.0
    for i in range(len(store.count)):
        total = 0.0
        for s in range(store.first[i], store.first[i] + store.count[i]):
            total += store.alpha[s]
        if total > 0.0:
            out += ridge[i] * total * total
    return out


@loop
def dual_value(store, ridge):
    """Sum alpha * b - 1/2 sum_i ridge_i (sum alpha_i)^2."""
    out = 0.0
    for i in range(len(store.count)):
        for s in range(store.first[i], store.first[i] + store.count[i]):
            out += store.alpha[s] * store.b[s]
    return out - 0.5 * ridge_value(store, ridge)


@loop
def radius(store):
    """Largest squared length of a plane."""
    out = 0.0
    for i in range(len(store.count)):
        for j in range(store.count[i]):
            out = max(out, store.gram[store.gram_at[i] + j * (store.room[i] + 1)])
    return out


@loop
def add_weights(store, space, first, last, w):
    """Add alpha * a of the examples from `first` to `last` - 1 to w."""
    for i in range(first, last):
        at = store.support_at[i]
        for s in range(store.first[i], store.first[i] + store.count[i]):
            if store.alpha[s] != 0.0:
                for e in range(store.start[s], store.stop[s]):
                    c = store.support[at + store.idx[e]]
                    part_add(space, c, store.alpha[s] * store.val[e], w)


def live(store: Store) -> Ints:
    """Slots, Gram, support and plane entries that `compact` would take."""
    before = np.append(0, np.cumsum(store.stop - store.start))
    entries = before[store.first + store.count] - before[store.first]
    support = store.width + store.width // 4
    sums = store.room.sum(), (store.room**2).sum(), support.sum(), entries.sum()
    return np.array(sums)


@loop
def planes_of(store, i):
    """Planes of block i in coordinates of w: ((ptr, idx, val), b, alpha)."""
    m, f, at = store.count[i], store.first[i], store.support_at[i]
    ptr = np.zeros(m + 1, np.int64)
    for j in range(m):
        ptr[j + 1] = ptr[j] + store.stop[f + j] - store.start[f + j]
    idx, val = np.empty(ptr[m], np.int32), np.empty(ptr[m])
    for j in range(m):
        for k in range(ptr[j + 1] - ptr[j]):
            e = store.start[f + j] + k
            idx[ptr[j] + k] = store.support[at + store.idx[e]]
            val[ptr[j] + k] = store.val[e]
    return (ptr, idx, val), store.b[f : f + m].copy(), store.alpha[f : f + m].copy()


@loop
def compact(old, new):
    """Copy every block into fresh arrays, in order, without the holes."""
    for i in range(len(old.count)):
        m = old.count[i]
        room = old.room[i]
        f, at = old.first[i], old.gram_at[i]
        to, gram = new.top[0], new.top[1]
        new.count[i], new.room[i], new.first[i], new.gram_at[i] = m, room, to, gram
        for j in range(m):
            for k in range(m):
                new.gram[gram + j * room + k] = old.gram[at + j * room + k]
        end = new.top[3]
        for j in range(m):
            s, t = f + j, to + j
            new.alpha[t], new.b[t], new.idle[t] = old.alpha[s], old.b[s], old.idle[s]
            new.start[t] = end
            for e in range(old.start[s], old.stop[s]):
                new.idx[end], new.val[end] = old.idx[e], old.val[e]
                end += 1
            new.stop[t] = end
        sup, size = new.top[2], old.width[i]
        for p in range(size):
            new.support[sup + p] = old.support[old.support_at[i] + p]
        space = size + size // 4
        new.width[i], new.width_room[i], new.support_at[i] = size, space, sup
        new.top[0], new.top[1] = to + room, gram + room * room
        new.top[2], new.top[3] = sup + space, end


def pack(store: Store) -> None:
    """Move all blocks to the front of their arrays, without holes and spare slots."""
    _pack_slots(store, np.argsort(store.first, kind="stable"))
    _pack_gram(store, np.argsort(store.gram_at, kind="stable"))
    _pack_support(store, np.argsort(store.support_at, kind="stable"))
    slots = _spans_of(store.first, store.first + store.count)[0]
    _pack_entries(store, slots[np.argsort(store.start[slots], kind="stable")])


@loop
def _pack_slots(store, order):
    """Slots in the order of their addresses: each moves towards the front or stays."""
    to = 0
    for i in order:
        f = store.first[i]
        for j in range(store.count[i]):
            store.alpha[to + j], store.b[to + j] = store.alpha[f + j], store.b[f + j]
            store.start[to + j], store.stop[to + j] = (
                store.start[f + j],
                store.stop[f + j],
            )
            store.idle[to + j] = store.idle[f + j]
        store.first[i] = to
        to += _fewest(store.count[i], store.room[i])
    store.top[0] = to


@inner_loop
def _fewest(count, room):
    """Slots that a block keeps: a power of two, not more than it has."""
    few = 2
    while few < count:
        few *= 2
    return min(few, room)


@loop
def _pack_gram(store, order):
    """Gram matrices likewise, and the number of slots of each block."""
    to = 0
    for i in order:
        old, at = store.room[i], store.gram_at[i]
        new = _fewest(store.count[i], old)
        for j in range(store.count[i]):
            for k in range(store.count[i]):
                store.gram[to + j * new + k] = store.gram[at + j * old + k]
        store.gram_at[i], store.room[i] = to, new
        to += new * new
    store.top[1] = to


@loop
def _pack_support(store, order):
    """Supports likewise, with a quarter more room than they need if they had it."""
    to = 0
    for i in order:
        size, at = store.width[i], store.support_at[i]
        for p in range(size):
            store.support[to + p] = store.support[at + p]
        space = min(size + size // 4, store.width_room[i])
        store.support_at[i], store.width_room[i] = to, space
        to += space
    store.top[2] = to


@loop
def _pack_entries(store, slots):
    """Entries of the planes in these slots, which come in the order of addresses."""
    to = 0
    for s in slots:
        start, size = store.start[s], store.stop[s] - store.start[s]
        for e in range(size):
            store.idx[to + e], store.val[to + e] = (
                store.idx[start + e],
                store.val[start + e],
            )
        store.start[s], store.stop[s] = to, to + size
        to += size
    store.top[3] = to
