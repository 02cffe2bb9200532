"""The learned scores of a model of letters, for other programs.

Sequences have letters that are none of the alphabet (X, B, Z, U). The model reads them
by its rule `unknown`: as one symbol "?", or as other letters. Other programs have no such
rule, so the matrix has a row for each of these codes, with the scores of what it is read
as.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.io.biology.scoring import Scoring
from maxmargin.structures.alignment.inputs.letters import ALPHABETS, AMBIGUOUS
from maxmargin.structures.alignment.inputs.views import View
from maxmargin.structures.alignment.structure import Alignment

RESIDUE = "residue"


def scoring_of(structure: Alignment, w: Floats, codes: bool) -> Scoring:
    """Matrix and gap costs; see `AlignmentSVM.scoring`."""
    view = View((RESIDUE,))
    plain = all(pair.left == pair.right == view for pair in structure.pairs)
    if not structure.pairs or not plain:
        raise ValueError(
            "only models with one track of letters and features='simple' are a matrix and "
            "gap costs"
        )
    letters, matrix = structure.substitution(w, RESIDUE, unknown=True)
    known = [str(letter) for letter in letters]
    rows, names = list(range(len(known))), list(known)
    for code in other_letters(structure) if codes else ():
        read = (
            structure.unknown.get(code)
            if isinstance(structure.unknown, Mapping)
            else None
        )
        at = known.index(str(read)) if str(read) in known else len(known)
        if at < len(matrix):
            rows.append(at)
            names.append(code)
    gaps = structure.gap_scores(w)
    return Scoring(
        tuple(names), np.ascontiguousarray(matrix[np.ix_(rows, rows)]), gaps["deletion"],
        gaps["insertion"], structure.mode, 1.0, gaps.get("end deletion"),
        gaps.get("end insertion"),
    )  # fmt: skip


def other_letters(structure: Alignment) -> list[str]:
    """Codes that sequences of the alphabet may have beside its letters."""
    if structure.unknown == "error":
        return []
    letters: tuple[Any, ...] = structure.symbols.letters.get(RESIDUE, ())
    codes = ""
    for name, plain in ALPHABETS.items():
        if set(letters) == set(plain):
            codes = AMBIGUOUS[name]
    given = structure.unknown if isinstance(structure.unknown, Mapping) else {}
    more = [code for code in given if isinstance(code, str) and len(code) == 1]
    return [code for code in dict.fromkeys([*codes, *more]) if code not in letters]
