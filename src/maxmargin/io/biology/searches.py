"""Searches for a homolog as JSON lines: one sequence with its candidates per line.

{"native": "HEAGAWGHEE",           the sequence that is compared
"candidates": ["PAWHEAE", ..],    the sequences that it is compared with
"homolog": 0,                     which of them is related, from 0; absent: not known
"id": "globins"}                  optional, and further keys are kept
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from maxmargin.io.text import FormatError, numbered_lines


def read_searches(
    path: str | Path,
) -> tuple[list[tuple[str, list[str]]], list[int | None], list[dict[str, Any]]]:
    """X, y for `HomologySVM`, and the records themselves.

    Returns
    -------
    X : list of pairs (native, candidates)
    y : list
        Number of the homolog; None for records without.
    records : list of dict
        The lines as they are.
    """
    X: list[tuple[str, list[str]]] = []
    y: list[int | None] = []
    records: list[dict[str, Any]] = []
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(path, number, f"not JSON ({error})") from None
        try:
            native, candidates, homolog = _search(record)
        except ValueError as error:
            raise FormatError(path, number, str(error)) from None
        X.append((native, candidates))
        y.append(homolog)
        records.append(record)
    return X, y, records


def _search(record: Any) -> tuple[str, list[str], int | None]:
    """The parts of one record, checked."""
    if not isinstance(record, dict) or not {"native", "candidates"} <= record.keys():
        raise ValueError('a search is an object with "native" and "candidates"')
    native, candidates = record["native"], record["candidates"]
    if not isinstance(candidates, list) or len(candidates) == 0:
        raise ValueError('"candidates" is not a list of one or more sequences')
    for sequence in (native, *candidates):
        if not isinstance(sequence, str) or not sequence:
            raise ValueError(f"{sequence!r:.40} is not a sequence of letters")
    homolog = record.get("homolog")
    if homolog is None:
        return native, candidates, None
    if type(homolog) is not int or not 0 <= homolog < len(candidates):
        raise ValueError(
            f'"homolog" is {homolog!r:.40}: one of the {len(candidates)} candidates is '
            "needed, which count from 0"
        )
    return native, candidates, homolog
