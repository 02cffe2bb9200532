"""Alignments as people write them, and as rows of integers.

Written: columns (k, 2) of positions, -1 for a gap, or two strings with "-", "." or "~" for
gaps; letters of a row may be in either case.
Encoded: start and moves, as in `inference.alignment`, in canonical order (between two
matches first what the left sequence skips, then the right). An alignment is determined
by its matches, so a written alignment is checked, reduced to its matches, and completed
as the mode demands.
In semi-global mode the shorter of two overhangs is paid for, the longer is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Ints, Labels, Ragged, check_ordered
from maxmargin.core.data.foreign.biopython_records import (
    alignment_columns,
    alignment_rows,
    is_alignment,
    letters_of,
)
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.alignment.best_path import DELETE, GLOBAL, INSERT, LOCAL, MATCH
from maxmargin.structures.alignment.inputs.letters import GAP

Columns = NDArray[np.int32]


def columns_of(written: Any, where: str) -> Ints:
    """Columns (k, 2) of an alignment as written; both gaps at once are left out.

    Two rows of text, an alignment of Biopython, or columns.

    Examples
    --------
    >>> columns_of(("-AE", "EA-"), "pair 0").tolist()
    [[-1, 0], [0, 1], [1, -1]]
    """
    if is_alignment(written):
        if len(written) != 2:
            raise ValueError(
                f"{where}: the alignment has {len(written)} rows, not two; "
                "pairs_from_biopython of maxmargin.io.biology makes all pairs of rows"
            )
        return alignment_columns(written, where)
    if len(written) == 2 and all(isinstance(row, str) for row in written):
        a, b = written
        if len(a) != len(b):
            raise ValueError(
                f"{where}: the two rows of the alignment have {len(a)} and {len(b)} "
                "columns: write '-' for gaps"
            )
        filled = np.array(
            [[x not in GAP, y not in GAP] for x, y in zip(a, b, strict=True)]
        )
        filled = filled.reshape(-1, 2)
        columns = np.where(filled, np.cumsum(filled, axis=0) - 1, -1)
        return columns[filled.any(axis=1)]
    columns = np.asarray(written)
    if columns.size == 0:
        return np.empty((0, 2), np.int64)
    if columns.ndim != 2 or columns.shape[1] != 2 or columns.dtype.kind not in "iu":
        raise ValueError(
            f"{where}: an alignment is two strings with gaps, or an array (columns, 2) "
            f"of positions with -1 for a gap, not {type(written).__name__} of shape "
            f"{columns.shape}"
        )
    return columns.astype(np.int64)


def check_rows(written: Any, pair: Sequence[Any], where: str) -> None:
    """Refuse rows of text that do not spell the residues of the two sequences.

    Examples
    --------
    >>> check_rows(("AC-", "ACD"), ("AC", "AED"), "pair 0")
    Traceback (most recent call last):
    ValueError: pair 0: the second row of the alignment has 'C' where the second \
sequence has 'E', position 1
    """
    check_ordered(written, where)
    if not hasattr(written, "__len__"):
        raise ValueError(
            f"{where}: {written!r:.80} is not an alignment; write two rows of text with "
            "gaps, or a list of aligned positions"
        )
    if is_alignment(written):
        rows = [str(letters_of(row)) for row in alignment_rows(written)]
    else:
        rows = [row for row in written if isinstance(row, str)]
    if len(written) != 2 or len(rows) != 2:
        return
    letters = [s.get("residue", ()) if hasattr(s, "get") else s for s in pair]
    for side, name in enumerate(("first", "second")):
        spelt = [v for v in rows[side] if v not in GAP]
        for k, (a, b) in enumerate(zip(spelt, letters[side], strict=False)):
            if a != b and a.upper() != str(b).upper():
                raise ValueError(
                    f"{where}: the {name} row of the alignment has {a!r} where the "
                    f"{name} sequence has {b!r}, position {k}"
                )


FILL_IN = (
    "; positions against a gap are pairs with -1, and complete_alignments of "
    "maxmargin.estimators fills in what is not known"
)


def check_columns(
    columns: Ints, sizes: tuple[int, int], whole: bool, where: str
) -> None:
    """Refuse columns that skip, repeat or leave out positions."""
    for side, size in enumerate(sizes):
        which = np.flatnonzero(columns[:, side] >= 0)
        at = columns[which, side]
        name = ("first", "second")[side]
        if len(at) and at.max() >= size:
            k = which[int(np.argmax(at >= size))]
            raise ValueError(
                f"{where}, column {k}: position {columns[k, side]} is beyond the "
                f"{name} sequence, which has {size}"
            )
        for q in np.flatnonzero(np.diff(at) != 1)[:1]:
            step, k = at[q + 1] - at[q], which[q + 1]
            what = "skips positions" if step > 1 else "repeats or goes back"
            hint = FILL_IN if step > 1 else ""
            raise ValueError(
                f"{where}, column {k}: position {at[q + 1]} of the {name} sequence "
                f"follows {at[q]}: the alignment {what}{hint}"
            )
        if whole and (len(at) != size or (len(at) and at[0] != 0)):
            raise ValueError(
                f"{where}: the alignment has {len(at)} of the {size} positions of the "
                f"{name} sequence; only local alignments may leave some out at the "
                f"ends{FILL_IN}"
            )
    both = np.flatnonzero((columns < 0).all(axis=1))
    if len(both):
        raise ValueError(f"{where}, column {both[0]}: a gap stands against a gap")


def encode_path(columns: Ints, rows: int, cols: int, mode: int) -> Labels:
    """Start and moves of the alignment with the matches of `columns`."""
    matched = columns[(columns >= 0).all(axis=1)]
    return _lay(np.ascontiguousarray(matched, np.int64), rows, cols, mode)


def match_counts(paths: Ragged) -> list[int]:
    """How many matches each path has."""
    return [int(np.count_nonzero(paths.row(q)[2:] == MATCH)) for q in range(paths.n)]


def decode_paths(paths: Ragged, rows: Ints, cols: Ints, mode: int) -> list[Columns]:
    """Columns of each path; the whole of both sequences unless local."""
    ptr, flat = _columns(*paths, rows, cols, mode == LOCAL)
    return [flat[a:b].copy() for a, b in pairwise(ptr.tolist())]


def decode_path(path: Labels, rows: int, cols: int, mode: int) -> Columns:
    """As `decode_paths`, of one path."""
    sizes = np.array([rows]), np.array([cols])
    return decode_paths(Ragged.pack([path]), *sizes, mode)[0]


@loop
def _columns(ptr, data, rows, cols, local):
    """Columns of all paths, between two matches first what the left sequence skips."""
    most = 0
    for p in range(len(rows)):
        most += rows[p] + cols[p]
    out_ptr, out = np.zeros(len(rows) + 1, np.int64), np.empty((most, 2), np.int32)
    k = 0
    for p in range(len(rows)):
        i, j, u, v = np.zeros(4, np.int64)  # done so far; next
        if ptr[p] < ptr[p + 1]:
            u, v = np.int64(data[ptr[p]]), np.int64(data[ptr[p] + 1])
        matched = False
        for q in range(ptr[p] + 2, ptr[p + 1]):
            if data[q] == MATCH:
                if local and not matched:
                    i, j, matched = u, v, True
                k = _skip(i, j, u, v, out, k)
                out[k, 0], out[k, 1] = u, v
                k += 1
                i, j = u + 1, v + 1
            u += data[q] != INSERT
            v += data[q] != DELETE
        if not local:
            k = _skip(i, j, rows[p], cols[p], out, k)
        out_ptr[p + 1] = k
    return out_ptr, out[:k].copy()


@inner_loop
def _skip(i, j, u, v, out, k):
    """Gaps from cell (i, j) to (u, v)."""
    for r in range(i, u):
        out[k, 0], out[k, 1] = r, -1
        k += 1
    for c in range(j, v):
        out[k, 0], out[k, 1] = -1, c
        k += 1
    return k


@loop
def outside_band(path, lo, hi):
    """Index of the first move that leaves the band, or -1."""
    i, j = path[0], path[1]
    for k in range(2, len(path)):
        i += path[k] != INSERT
        j += path[k] != DELETE
        if i == 0:
            inside = j <= hi[0]
        elif j == 0:
            inside = lo[i - 1] == 0
        else:
            inside = lo[i - 1] < j <= hi[i - 1]
        if not inside:
            return k - 2
    return -1


@loop
def _lay(matched, rows, cols, mode):
    out = np.empty(rows + cols + 2, np.int32)
    out[0], out[1] = 0, 0
    n = len(matched)
    if n == 0 and mode != GLOBAL:
        return out[:2]
    i, j, k = 0, 0, 2
    for q in range(n + 1):
        u, v = rows, cols
        if q < n:
            u, v = matched[q, 0], matched[q, 1]
        skip, add = u - i, v - j
        if mode != GLOBAL and (q == 0 or q == n):
            longer = skip >= add
            if mode == LOCAL or longer:
                out[0] += skip if q == 0 else 0
                skip = 0
            if mode == LOCAL or not longer:
                out[1] += add if q == 0 else 0
                add = 0
        for _ in range(skip):
            out[k] = DELETE
            k += 1
        for _ in range(add):
            out[k] = INSERT
            k += 1
        if q < n:
            out[k] = MATCH
            k += 1
            i, j = u + 1, v + 1
    return out[:k].copy()
