"""Partial references: alignments of which only some columns are known.

Structural alignments often give the columns of the core and leave loops open. What is
left open between two known columns is filled in by the best alignment of that stretch,
under BLOSUM62 at first and then under what was learned:

    w_0: BLOSUM62,   y_k = best completion under w_k,   w_{k+1} = fit(X, y_k)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints
from maxmargin.core.data.foreign.biopython_records import from_biopython
from maxmargin.io.biology.blosum import BLOSUM62
from maxmargin.io.biology.substitution import parse_substitution
from maxmargin.structures.alignment.inputs.letters import recognise_alphabet
from maxmargin.structures.alignment.inputs.views import Gaps, Prior, matrix
from maxmargin.structures.alignment.paths import columns_of
from maxmargin.structures.alignment.structure import Alignment

TRACK = "residue"
PROTEIN_GAPS = (-11.0, -1.0)
EQUAL, UNEQUAL, OTHER_GAPS = 5.0, -4.0, (-10.0, -1.0)  # as usual for nucleotides


class Stretch(NamedTuple):
    """Positions between two known columns of a pair."""

    pair: int
    first: tuple[int, int]  # positions of the first sequence, without the end
    second: tuple[int, int]
    place: int  # it stands before this known column


def complete_alignments(
    X: Sequence[Any], y: Sequence[Any], model: Any = None
) -> list[Ints]:
    """Whole alignments from partial ones, as `AlignmentSVM.fit` takes them.

    Parameters
    ----------
    X : sequence of (first, second)
        As `AlignmentSVM` takes them.
    y : sequence of arrays (k, 2)
        The known columns of each pair: positions in both sequences, -1 for a gap, in
        order. Positions that do not occur are not known.
    model : AlignmentSVM, optional
        Fitted; by default BLOSUM62 for proteins, and equal letters for others.

    Returns
    -------
    list of int arrays (k, 2)
        All known columns, and between them the best alignment of what is left open.

    Examples
    --------
    >>> X = [("HEAGAWGHEE", "HEAWGHEE")]
    >>> complete_alignments(X, [[(2, 2), (6, 4)]])[0][:, 1].tolist()
    [0, 1, 2, -1, -1, 3, 4, 5, 6, 7]
    """
    pairs = [tuple(map(from_biopython, pair)) for pair in X]
    if len(pairs) != len(y):
        raise ValueError(f"X has {len(pairs)} pairs, but y has {len(y)} alignments")
    known, open_parts = [], []
    for q, (pair, written) in enumerate(zip(pairs, y, strict=True)):
        sizes = _size(pair[0]), _size(pair[1])
        columns = columns_of(written, f"pair {q}")
        known.append(columns)
        open_parts += _stretches(q, columns, sizes)
    both = [
        s for s in open_parts if s.first[0] < s.first[1] and s.second[0] < s.second[1]
    ]
    rows = [
        (_cut(pairs[s.pair][0], s.first), _cut(pairs[s.pair][1], s.second))
        for s in both
    ]
    found = iter(_aligned(rows, pairs, model) if rows else [])
    parts: list[dict[int, list[Ints]]] = [{} for _ in pairs]
    for s in open_parts:
        if s.first[0] < s.first[1] and s.second[0] < s.second[1]:
            columns = np.asarray(next(found), np.int64)
            start = np.array([s.first[0], s.second[0]])
            columns = np.where(columns >= 0, columns + start, -1)
        else:
            columns = np.array(
                [(i, -1) for i in range(*s.first)]
                + [(-1, j) for j in range(*s.second)],
                np.int64,
            ).reshape(-1, 2)
        parts[s.pair].setdefault(s.place, []).append(columns)
    return [_joined(columns, parts[q]) for q, columns in enumerate(known)]


def _size(sequence: Any) -> int:
    if not hasattr(sequence, "keys"):
        return len(sequence)
    return next((len(v) for k, v in sequence.items() if k != "name"), 0)


def _cut(sequence: Any, span: tuple[int, int]) -> Any:
    """A piece of a sequence, all its tracks."""
    if not hasattr(sequence, "keys"):
        return sequence[span[0] : span[1]]
    return {k: v if k == "name" else v[span[0] : span[1]] for k, v in sequence.items()}


def _stretches(q: int, columns: Ints, sizes: tuple[int, int]) -> list[Stretch]:
    """What lies between the known columns of a pair; refuses columns out of order."""
    out, at = [], [0, 0]
    for k, column in enumerate([*columns.tolist(), list(sizes)]):
        inner = k < len(columns)
        if inner and column[0] < 0 and column[1] < 0:
            raise ValueError(f"pair {q}, column {k}: a gap stands against a gap")
        ends = [at[s] if v < 0 else v for s, v in enumerate(column)]
        for s, name in enumerate(("first", "second")):
            if inner and column[s] >= sizes[s]:
                raise ValueError(
                    f"pair {q}, column {k}: position {column[s]} is beyond the {name} "
                    f"sequence, which has {sizes[s]}"
                )
            if ends[s] < at[s]:
                raise ValueError(
                    f"pair {q}, column {k}: position {column[s]} of the {name} sequence "
                    f"follows {at[s] - 1}: known columns must be in order"
                )
        out.append(Stretch(q, (at[0], ends[0]), (at[1], ends[1]), k))
        at = [e if v < 0 else e + 1 for e, v in zip(ends, column, strict=True)]
    return out


def _joined(columns: Ints, parts: dict[int, list[Ints]]) -> Ints:
    """Known columns with what was found before each of them, and behind the last."""
    rows: list[Any] = []
    for k in range(len(columns) + 1):
        rows += [*parts.get(k, []), columns[k : k + 1]]
    return np.concatenate(rows).astype(np.int32)


def _aligned(rows: list[Any], pairs: list[Any], model: Any) -> list[Ints]:
    """The best global alignment of each stretch."""
    if model is not None:
        return list(model.predict(rows))
    plain = [tuple(map(_residues, row)) for row in rows]
    letters, scores, gaps = _usual_scores([s for pair in pairs for s in pair])
    aligner = Alignment(
        model=matrix(Prior(letters, scores, gaps), TRACK),
        gaps=Gaps(tied=True), alphabets={TRACK: letters}, unknown="ignore",
    ).bind(plain, [])  # fmt: skip
    x = aligner.encode(plain)
    w = np.zeros(aligner.dim)
    w[0] = 1.0  # the prior has the costs of gaps
    labels = aligner.argmax(x, np.arange(x.n), w).labels
    return list(aligner.decode_labels(x, labels))


def _residues(sequence: Any) -> Any:
    if not hasattr(sequence, "keys"):
        return sequence
    if TRACK not in sequence:
        raise ValueError(
            "without a model, stretches are aligned by their residues, but a sequence "
            f"has no track {TRACK!r}"
        )
    return sequence[TRACK]


def _usual_scores(
    sequences: list[Any],
) -> tuple[tuple[str, ...], np.ndarray, tuple[float, float]]:
    """BLOSUM62 where the letters are amino acids; otherwise equal letters score."""
    counts: Counter[Any] = Counter()
    for sequence in sequences:
        counts.update(_residues(sequence))
    found = recognise_alphabet(counts)
    if found is None and {str(v).upper() for v in counts} <= set(
        "ACDEFGHIKLMNPQRSTVWYBXZU*"
    ):
        found = tuple("ACDEFGHIKLMNPQRSTVWY")  # few letters, all of amino acids
    if found is not None and len(found) > 4:
        table = parse_substitution(BLOSUM62.splitlines(), "BLOSUM62")
        return found, table.restrict(found).scores, PROTEIN_GAPS
    letters = found or tuple(sorted(counts, key=str))
    size = len(letters)
    scores = np.full((size, size), UNEQUAL) + (EQUAL - UNEQUAL) * np.eye(size)
    return letters, scores, OTHER_GAPS
