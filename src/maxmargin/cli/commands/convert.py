"""`maxmargin convert`: sequences from one format to another.

CoNLL columns become attributes `c0=word c1=tag ..` of CRFsuite; features of svm_hmm,
which are numbers, need a vocabulary: they are numbered in sorted order of their names,
and labels too, and both lists are written beside the file (`OUT.names.json`).
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import scipy.sparse as sp

from maxmargin.cli.errors import DONE, InputError, UsageError
from maxmargin.cli.streams import STANDARD, Inputs, output_path
from maxmargin.cli.tasks.detect import detect
from maxmargin.cli.tasks.names import SEQUENCE_FORMATS
from maxmargin.core.data.tokens.sequences import Sequences

Tokens = list[list[dict[str, float]]]


def run(args: argparse.Namespace, inputs: Inputs) -> int:
    """Read, convert, write."""
    path = inputs.plain(args.data)
    source = args.source or detect(path, args.data)[1]
    if source not in SEQUENCE_FORMATS:
        raise UsageError(
            f"{args.data} is {source}; {', '.join(SEQUENCE_FORMATS)} convert"
        )
    X, y = _read(path, source)
    if args.target == "svm_hmm" and args.out == STANDARD:
        raise UsageError("svm_hmm needs a file beside it for names: give one as OUT")
    with output_path(args.out, [args.data]) as out:
        _write(out, args.target, X, y)
    return DONE


def _read(path: str, source: str) -> tuple[Tokens, list[list[str]]]:
    if source == "crfsuite":
        from maxmargin.io.sequences.crfsuite import read_crfsuite

        return read_crfsuite(path)
    if source == "conll":
        from maxmargin.io.sequences.conll import read_conll

        rows = read_conll(path)
        if rows and len(rows[0][0]) < 2:
            raise InputError("one column only: there are no labels")
        X = [
            [{f"c{k}={v}": 1.0 for k, v in enumerate(r[:-1])} for r in s] for s in rows
        ]
        return X, [[r[-1] for r in s] for s in rows]
    from maxmargin.io.sequences.svm_hmm import read_svm_hmm

    given, tags = read_svm_hmm(path)
    X = []
    for rows in given:
        rows = sp.csr_array(rows)
        X.append([_named(rows[[t]]) for t in range(rows.shape[0])])
    return X, [[str(v) for v in row] for row in tags]


def _named(row: Any) -> dict[str, float]:
    return {str(j + 1): float(v) for j, v in zip(row.indices, row.data, strict=True)}


def _write(path: str, target: str, X: Tokens, y: list[list[str]]) -> None:
    if target == "crfsuite":
        from maxmargin.io.sequences.crfsuite import write_crfsuite

        write_crfsuite(path, X, y)
    elif target == "conll":
        from maxmargin.io.sequences.conll import write_conll

        write_conll(path, [[_columns(t) for t in tokens] for tokens in X], y)
    else:
        _write_svm_hmm(path, X, y)


def _columns(token: dict[str, float]) -> list[str]:
    if any(value != 1.0 for value in token.values()):
        raise InputError("CoNLL columns have no values: attributes must all be 1")
    cells = [name.partition("=")[2] or name for name in token]
    return cells or ["_"]


def _write_svm_hmm(path: str, X: Tokens, y: list[list[str]]) -> None:
    from maxmargin.io.sequences.svm_hmm import write_svm_hmm

    names = sorted({name for tokens in X for token in tokens for name in token})
    labels = sorted({label for row in y for label in row})
    number = {name: j for j, name in enumerate(names)}
    tag = {label: k + 1 for k, label in enumerate(labels)}
    flat = [token for tokens in X for token in tokens]
    rows = [i for i, token in enumerate(flat) for _ in token]
    columns = [number[name] for token in flat for name in token]
    values = [v for token in flat for v in token.values()]
    matrix = sp.csr_array((values, (rows, columns)), shape=(len(flat), len(names)))
    offsets = [0]
    for tokens in X:
        offsets.append(offsets[-1] + len(tokens))
    write_svm_hmm(path, Sequences(matrix, offsets), [[tag[v] for v in r] for r in y])
    with open(f"{path}.names.json", "w", encoding="utf-8") as file:
        json.dump({"features": names, "labels": labels}, file)
