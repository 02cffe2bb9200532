"""Records and alignments of Biopython, in and out.

    Seq, SeqRecord                      sequences; annotations of letters become tracks
    Alignment, MultipleSeqAlignment     pairs and their alignment

Biopython is imported when an alignment is made for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.foreign.biopython_records import (
    alignment_columns,
    alignment_rows,
    is_alignment,
    is_of_biopython,
)
from maxmargin.core.data.foreign.biopython_records import (
    from_biopython as from_biopython,
)
from maxmargin.io.biology.pairs import Pairs


def pairs_from_biopython(alignments: Any) -> Pairs:
    """Training data from alignments of two or more rows, all pairs of rows each.

    Parameters
    ----------
    alignments : iterable of Bio.Align.Alignment or MultipleSeqAlignment, or one of them

    Examples
    --------
    >>> from Bio.Align import Alignment
    >>> steps = np.array([[0, 1, 3, 4, 6], [0, 0, 2, 2, 4]])
    >>> made = pairs_from_biopython([Alignment(["HEAGAW", "EAAW"], steps)])
    >>> made.X
    [('HEAGAW', 'EAAW')]
    >>> made.y[0].tolist()
    [[0, -1], [1, 0], [2, 1], [3, -1], [4, 2], [5, 3]]
    """
    if is_alignment(alignments):
        alignments = [alignments]
    out = Pairs([], [], [])
    for k, alignment in enumerate(alignments):
        if not is_alignment(alignment):
            raise ValueError(
                f"alignment {k} is a {type(alignment).__name__}, not an Alignment or a "
                "MultipleSeqAlignment of Biopython"
            )
        sequences = alignment_rows(alignment)
        if len(sequences) < 2:
            raise ValueError(f"alignment {k} has {len(sequences)} rows: two are needed")
        for i, j in combinations(range(len(sequences)), 2):
            both = sequences[i], sequences[j]
            out.X.append((_letters(both[0]), _letters(both[1])))
            columns = alignment_columns(alignment, f"alignment {k}", (i, j))
            out.y.append(columns.astype(np.int32))
            out.names.append((_name(both[0]), _name(both[1])))
    return out


def _letters(sequence: Any) -> str:
    """Letters without gaps."""
    plain = from_biopython(sequence)
    text = plain["residue"] if isinstance(plain, dict) else str(plain)
    return str(text).replace("-", "").replace(".", "")


def _name(sequence: Any) -> str:
    plain = from_biopython(sequence)
    return str(plain["name"]) if isinstance(plain, dict) else ""


def to_biopython(pair: Sequence[Any], columns: ArrayLike) -> Any:
    """A predicted alignment as `Bio.Align.Alignment`.

    Parameters
    ----------
    pair : (first, second)
        Strings, tracks, or records of Biopython, which the alignment then refers to.
    columns : array (k, 2)
        Positions, -1 for a gap, as `predict` gives them.

    Examples
    --------
    >>> print(to_biopython(("HEAG", "HAG"), [[0, 0], [1, -1], [2, 1], [3, 2]]))
    target            0 HEAG 4
                      0 |-|| 4
    query             0 H-AG 3
    <BLANKLINE>
    """
    from Bio.Align import Alignment

    table = np.asarray(columns, np.int64).reshape(-1, 2)
    moves = (table >= 0).astype(np.int64)
    placed = [table[moves[:, s] > 0, s] for s in range(2)]
    first = [int(at[0]) if len(at) else 0 for at in placed]
    turn = np.flatnonzero((moves[1:] != moves[:-1]).any(axis=1)) + 1
    ends = np.concatenate(([0], turn, [len(moves)]))
    done = np.concatenate((np.zeros((1, 2), np.int64), moves.cumsum(axis=0)))
    coordinates = done[ends].T + np.array(first)[:, None]
    return Alignment([_plain(s) for s in pair], coordinates)


def _plain(sequence: Any) -> Any:
    """What an alignment of Biopython may refer to."""
    if is_of_biopython(sequence) or isinstance(sequence, str):
        return sequence
    if isinstance(sequence, dict):
        return "".join(map(str, sequence["residue"]))
    return "".join(map(str, sequence))
