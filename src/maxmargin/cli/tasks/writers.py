"""Predictions as lines of text, one function per task."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from maxmargin.cli.tasks.data import Data


def class_lines(model: Any, data: Data, form: str) -> list[str]:
    """One class per line."""
    return [str(label) for label in model.predict(data.X)]


def sequence_lines(model: Any, data: Data, form: str) -> list[str]:
    """The columns of the file and the label, an empty line after each sequence."""
    lines = []
    for i, labels in enumerate(model.predict(data.X)):
        for t, label in enumerate(labels):
            columns = data.records[i][t] if data.records else ()
            lines.append(data.separator.join([*columns, str(label)]))
        if form != "svm_hmm":
            lines.append("")
    return lines


def tree_lines(model: Any, data: Data, form: str) -> list[str]:
    """One tree per line; () where there is none."""
    from maxmargin.io.treebank import format_tree

    trees = model.predict(data.X)
    return [f"( {format_tree(t)})" if t is not None else "()" for t in trees]


def alignment_lines(model: Any, data: Data, form: str) -> list[str]:
    """FASTA rows with gaps, two by two."""
    from maxmargin.io.biology.alignments import rows_of_columns

    lines = []
    for pair, columns, names in zip(data.X, model.predict(data.X), data.records):
        for name, row in zip(names, rows_of_columns(columns, *pair), strict=True):
            lines += [f">{name}", row]
    return lines


def ranking_lines(model: Any, data: Data, form: str) -> list[str]:
    """One score per line and document."""
    return [repr(float(v)) for s in model.decision_function(data.X) for v in s]


def graph_lines(model: Any, data: Data, form: str) -> list[str]:
    """The JSON lines of the file with the labels found."""
    return [
        json.dumps({**record, "labels": [_item(v) for v in labels]})
        for record, labels in zip(data.records, model.predict(data.X), strict=True)
    ]


def motif_lines(model: Any, data: Data, form: str) -> list[str]:
    """Tab-separated: name, label, place, strand and score of the motif."""
    labels, sites = model.predict(data.X), model.locate(data.X)
    return ["name\tlabel\tstart\tstrand\tscore"] + [
        f"{name}\t{label}\t{site['start']}\t{site['strand']}\t{float(site['score'])!r}"
        for name, label, site in zip(data.records, labels, sites, strict=True)
    ]


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
