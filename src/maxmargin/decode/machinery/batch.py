"""A padded batch of score tables: what it is, what is refused, and its threads.

Scores come from elsewhere, so everything is checked before a loop sees it, and what is
wrong is named by its row of the batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.core.data.arrays import Ints
from maxmargin.engines.threads import work_together

Scores = ArrayLike | Mapping[str, ArrayLike]
Table = NDArray[np.floating[Any]]
WORTH_THREADS = 4e6  # nanoseconds of one thread: see `over_rows`
CHUNK = 8  # rows of a task; fixed, so that sums do not depend on the number of threads


class ScoreBatch(NamedTuple):
    """Score tables of a batch and the true sizes of its rows.

    The first table is the main one: (rows, ...), float32 or float64, contiguous. The
    others are float64; those without a row dimension are shared by all rows.
    """

    arrays: tuple[Table, ...]
    sizes: Ints  # (rows, 1), or (rows, 2) where a row has two sides
    extra: Any = None  # what a structure needs beside scores (edges of graphs)

    @property
    def main(self) -> Table:
        """The first table."""
        return self.arrays[0]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.sizes)

    def with_main(self, main: Table) -> ScoreBatch:
        """The same with other scores in the main table."""
        return self._replace(arrays=(main, *self.arrays[1:]))


def named_tables(scores: Scores, names: tuple[str, ...]) -> dict[str, Any]:
    """Tables by name; a bare array is the first of `names`."""
    if not isinstance(scores, Mapping):
        return {names[0]: scores}
    for name in scores:
        if name not in names:
            raise ValueError(
                f"scores: there is no table {name!r}; this structure has "
                f"{', '.join(map(repr, names))}"
            )
    if names[0] not in scores:
        raise ValueError(f"scores: the table {names[0]!r} is missing")
    return dict(scores)


def main_table(values: Any, name: str, dims: int, layout: str) -> Table:
    """The main table as a contiguous array of float32 or float64."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{name} holds {array.dtype}: scores are real numbers")
    if array.dtype not in (np.float32, np.float64):
        small = array.dtype.kind == "f" and array.dtype.itemsize < 4
        array = array.astype(np.float32 if small else np.float64)
    if array.ndim != dims:
        raise ValueError(f"{name} has shape {array.shape}, but it must be {layout}")
    if 0 in array.shape[1:]:
        raise ValueError(f"{name} has shape {array.shape}: it has no entries")
    if not array.flags.writeable:
        array = array.copy()
    return np.ascontiguousarray(array)


def side_table(values: Any, name: str, shapes: tuple[tuple[int, ...], ...]) -> Table:
    """A further table in float64, of one of the given shapes; None gives zeros.

    The first shape is shared by all rows, others begin with the rows.
    """
    if values is None:
        return np.zeros(shapes[0])
    array = np.asarray(values)
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{name} holds {array.dtype}: scores are real numbers")
    array = array.astype(np.float64)  # a copy
    if array.shape not in shapes:
        said = " or ".join(map(str, shapes))
        raise ValueError(f"{name} has shape {array.shape}, but it must be {said}")
    if not (array < np.inf).all():
        at = tuple(int(k) for k in np.argwhere(~(array < np.inf))[0])
        where = f"{name}{list(at)}"
        if array.shape != shapes[0]:
            where = f"row {at[0]}: {name}{list(at[1:])}"
        raise ValueError(f"{where} is {array[at]}: scores are finite or -inf")
    return np.ascontiguousarray(array)


def row_sizes(mask: Any, rows: int, longest: int, name: str = "mask") -> Ints:
    """Length of each row, from lengths (rows,), a boolean mask (rows, longest) or None.

    Examples
    --------
    >>> row_sizes([[True, True, False], [True, False, False]], 2, 3).tolist()
    [2, 1]
    """
    if mask is None:
        return np.full(rows, longest, np.int64)
    array = np.asarray(mask)
    if array.shape == (rows,) and array.dtype.kind in "iu":
        sizes = array.astype(np.int64)
    elif array.shape == (rows, longest):
        array = zero_or_one(array, name)
        sizes = array.sum(axis=1)
        holes = np.flatnonzero((array != (np.arange(longest) < sizes[:, None])).any(1))
        if len(holes):
            raise ValueError(
                f"row {holes[0]}: {name} has a gap; the valid positions of a row must "
                "come first, without any between them missing"
            )
    else:
        raise ValueError(
            f"{name} has shape {array.shape}: it must be booleans ({rows}, {longest}) "
            f"or whole lengths ({rows},)"
        )
    for b in np.flatnonzero((sizes < 1) | (sizes > longest)).tolist():
        if sizes[b] < 1:
            raise ValueError(f"row {b} is empty: {name} leaves no position; drop it")
        raise ValueError(f"row {b}: length {sizes[b]} is beyond the table's {longest}")
    return sizes


def two_masks(mask: Any, one: str, two: str) -> tuple[Any, Any]:
    """The masks of two sides, from a pair of them or None."""
    if mask is None:
        return None, None
    pair = isinstance(mask, Sequence) and not isinstance(mask, str)
    if not (pair or isinstance(mask, np.ndarray)) or np.size(mask, 0) != 2:
        raise ValueError(f"mask must be a pair: of the {one} and of the {two}")
    return mask[0], mask[1]


def zero_or_one(array: NDArray[Any], name: str) -> NDArray[np.bool_]:
    """As booleans, if the entries are booleans or 0 and 1."""
    if array.dtype.kind not in "fiub" or not ((array == 0) | (array == 1)).all():
        raise ValueError(f"{name} must hold True and False, or 1 and 0")
    return array.astype(bool)


def check_finite(table: Table, valid: Callable[[int], Any], name: str) -> None:
    """Refuse NaN and +inf among the valid entries, by row and position.

    `valid(b)` is the view of row b that counts.
    """
    if table.max(initial=-np.inf) < np.inf:  # NaN is not less, either
        return
    for b in np.flatnonzero(~(table < np.inf).reshape(len(table), -1).all(axis=1)):
        part = valid(int(b))
        bad = np.argwhere(~(part < np.inf))
        if len(bad):
            at = tuple(int(k) for k in bad[0])
            raise ValueError(
                f"row {b}: {name}{list(at)} is {part[at]}: scores are finite, or -inf "
                "for what must not be chosen"
            )


def over_rows(
    rows: int,
    task: Callable[[int, int], Any],
    n_jobs: int,
    work: float = np.inf,
    apart: bool = False,
) -> list[Any]:
    """task(first, last) over chunks of rows, on `n_jobs` threads; answers in order.

    As everywhere, -1 stands for all cores. Without rows there is one chunk, which is empty.
    Where every row stands `apart`, one thread takes all in one chunk. Where a task adds
    over its rows, chunks must always be the same, so that the bits of the sums are.

    `work` is about how many nanoseconds one thread takes for all rows. Below
    `WORTH_THREADS` one thread does it all. To wake another takes a tenth of a
    millisecond; and where PyTorch's own threads hold the cores, as they do for some
    milliseconds after each operation, it may be put to sleep in the middle of a chunk,
    and the caller would wait for it.
    """
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not whole or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r}: a number of threads is needed, or -1 for all cores"
        )
    if n_jobs < 0:
        n_jobs = max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    n_jobs = n_jobs if work >= WORTH_THREADS else 1
    step = max(rows, 1) if apart and n_jobs == 1 else CHUNK
    chunks = [(a, min(a + step, rows)) for a in range(0, max(rows, 1), step)]
    return work_together(lambda chunk: task(*chunk), chunks, n_jobs)
