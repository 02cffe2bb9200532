"""Sequence records of Biopython as plain letters and tracks, without importing it."""

from __future__ import annotations

from typing import Any


def from_biopython(sequence: Any) -> Any:
    """A `Seq` as a string, a `SeqRecord` as tracks; everything else as it is.

    Letter annotations of a record (secondary structure, exposure, ..) become tracks.

    Examples
    --------
    >>> from Bio.Seq import Seq
    >>> from Bio.SeqRecord import SeqRecord
    >>> from_biopython(SeqRecord(Seq("HEAG"), id="1abc"))
    {'name': '1abc', 'residue': 'HEAG'}
    """
    if not is_of_biopython(sequence):
        return sequence
    if type(sequence).__name__ in ("Seq", "MutableSeq"):
        return str(sequence)
    tracks = {
        name: values if isinstance(values, str) else list(values)
        for name, values in sequence.letter_annotations.items()
    }
    return {"name": str(sequence.id), "residue": str(sequence.seq), **tracks}


def is_of_biopython(thing: Any) -> bool:
    """Whether the class of a thing is one of Biopython's."""
    return type(thing).__module__.partition(".")[0] == "Bio"
