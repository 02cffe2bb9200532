"""Pairs of sequences as `AlignmentSVM` takes them."""

from __future__ import annotations

from typing import Any

from maxmargin.core.data.foreign.biopython_records import from_biopython, is_alignment
from maxmargin.core.data.foreign.data_frames import rows_of_frame
from maxmargin.core.data.validation import is_missing
from maxmargin.estimators.fitting.inputs import by_position
from maxmargin.io.biology.biopython import pairs_from_biopython


def pairs_of_rows(X: Any) -> tuple[list[Any], list[Any]]:
    """Pairs of sequences and their alignments, from alignments of Biopython."""
    listed = [X] if is_alignment(X) else list(by_position(X))
    if not listed or not all(map(is_alignment, listed)):
        raise ValueError(
            "y is missing: give the alignment of each pair, or alignments of Biopython "
            "in place of X"
        )
    made = pairs_from_biopython(listed)
    return list(made.X), list(made.y)


def listed_pairs(X: Any, y: Any = None) -> tuple[Any, Any]:
    """Pairs and their alignments, those of data frames row by row."""
    return (
        _whole(rows_of_frame(X, [2], "the sequences of each pair"), "X"),
        _whole(rows_of_frame(y, [1, 2], "the alignment of each pair", "y"), "y"),
    )


def _whole(rows: Any, name: str) -> Any:
    """Refuse rows of a table in which something is missing."""
    for i, row in enumerate(rows if isinstance(rows, list | tuple) else ()):
        for part in row if isinstance(row, tuple) else ():
            if isinstance(part, float) and is_missing(part):
                raise ValueError(f"{name}[{i}]: {part} stands where a sequence should")
    return rows


def is_pair(pair: Any) -> bool:
    """Whether it is two things, neither of them None."""
    two = isinstance(pair, tuple | list) and len(pair) == 2
    return two and pair[0] is not None and pair[1] is not None


def checked_pair(pair: Any) -> Any:
    """Refuse what is no pair of sequences."""
    if not hasattr(pair, "__iter__"):
        raise ValueError(f"{pair!r:.40} is not a pair of sequences")
    if is_alignment(pair):
        raise ValueError(
            "X has alignments of Biopython: leave out y, or use pairs_from_biopython of "
            "maxmargin.io.biology"
        )
    return pair


def plain_pair(pair: Any) -> Any:
    """A pair with plain sequences in place of records of Biopython."""
    return tuple(map(from_biopython, pair)) if is_pair(pair) else pair
