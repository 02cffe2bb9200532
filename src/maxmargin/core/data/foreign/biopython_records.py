"""Records and alignments of Biopython as plain objects, without importing it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


def from_biopython(sequence: Any) -> Any:
    """A `Seq` or bytes as a string, a `SeqRecord` as tracks; all else as it is.

    Letter annotations of a record (secondary structure, exposure, ..) become tracks.

    Examples
    --------
    >>> from Bio.Seq import Seq
    >>> from Bio.SeqRecord import SeqRecord
    >>> from_biopython(SeqRecord(Seq("HEAG"), id="1abc"))
    {'name': '1abc', 'residue': 'HEAG'}
    """
    if isinstance(sequence, bytes):
        return sequence.decode("ascii")
    if not is_of_biopython(sequence):
        return sequence
    if type(sequence).__name__ in ("Seq", "MutableSeq"):
        return str(sequence)
    tracks = {
        name: values if isinstance(values, str) else list(values)
        for name, values in sequence.letter_annotations.items()
    }
    return {"name": str(sequence.id), "residue": str(sequence.seq), **tracks}


def letters_of(sequence: Any) -> Any:
    """The letters of a `Seq`, a `SeqRecord` or of bytes; everything else as it is.

    Examples
    --------
    >>> from Bio.Seq import Seq
    >>> letters_of(Seq("HEAG")), letters_of("PAW")
    ('HEAG', 'PAW')
    """
    if not (is_of_biopython(sequence) or isinstance(sequence, bytes)):
        return sequence
    plain = from_biopython(sequence)
    return plain["residue"] if isinstance(plain, dict) else plain


def is_of_biopython(thing: Any) -> bool:
    """Whether the class of a thing is one of Biopython's."""
    return type(thing).__module__.partition(".")[0] == "Bio"


def is_alignment(thing: Any) -> bool:
    """Whether it is an `Alignment` or a `MultipleSeqAlignment`."""
    return is_of_biopython(thing) and "Align" in type(thing).__name__


def alignment_rows(alignment: Any) -> list[Any]:
    """The sequences of an alignment; those of a `MultipleSeqAlignment` have gaps."""
    many = hasattr(alignment, "coordinates")
    return list(alignment.sequences if many else alignment)


def alignment_columns(
    alignment: Any, where: str, rows: tuple[int, int] = (0, 1)
) -> NDArray[np.int64]:
    """Columns (k, 2) of positions of two rows of an alignment, -1 for a gap.

    Examples
    --------
    >>> from Bio.Align import Alignment
    >>> local = Alignment(["KKHEAG", "HEAGKK"], np.array([[2, 6], [0, 4]]))
    >>> alignment_columns(local, "pair 0").tolist()
    [[2, 0], [3, 1], [4, 2], [5, 3]]
    """
    if not hasattr(alignment, "coordinates"):
        texts = [str(alignment[r].seq) for r in rows]
        filled = np.array(
            [[letter not in "-.~" for letter in text] for text in texts]
        ).T
        columns = np.where(filled, np.cumsum(filled, axis=0) - 1, -1)
        return columns[filled.any(axis=1)]
    out: list[tuple[int, int]] = []
    steps = np.asarray(alignment.coordinates)[list(rows)].T.tolist()
    for (a, b), (c, d) in pairwise(steps):
        if c < a or d < b:
            raise ValueError(f"{where} uses a reverse strand: turn it round first")
        if c - a and d - b and c - a != d - b:
            raise ValueError(f"{where} matches {c - a} letters with {d - b}")
        for step in range(max(c - a, d - b)):
            out.append((a + step if c > a else -1, b + step if d > b else -1))
    return np.array(out, np.int64).reshape(-1, 2)
