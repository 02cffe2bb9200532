"""What the commands know about each task: readers, writers, measures."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.cli.errors import InputError


class Data(NamedTuple):
    """What a file holds."""

    X: Any
    y: Any  # outputs; None where some are missing
    records: Any = None  # what predictions are written beside
    separator: str = " "  # of columns


Options = dict[str, Any]  # what reading depends on; kept in the model file


class Task(NamedTuple):
    """A task of the command line."""

    estimator: str
    formats: dict[str, Callable[[Sequence[str], Options], Data]]
    lines: Callable[[Any, Data, str], list[str]]  # predictions as text
    measures: Callable[[Any, Data], dict[str, float]]
    about: str


def _svmlight(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.svmlight import read_svmlight

    named = options.get("named", False)  # as in training, whatever this file has
    X, y = read_svmlight(_one(paths), options.get("n_features"), named=named)
    options.setdefault("n_features", X.shape[1])
    options.setdefault("named", y.dtype.kind == "U")
    return Data(X, y)


def _conll(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.sequences import templates

    name = options.setdefault("template", "ner")
    column = options.setdefault("label_column", -1)
    width = options.get("columns")
    template = {"ner": templates.ner, "pos": templates.pos}[name]
    rows, separator = _columns(_one(paths))
    if not rows:
        raise InputError(f"{paths[0]} has no sentences")
    have = len(rows[0][0])
    told = width is None or have == width
    if width is not None and not told and have != width - 1:
        raise InputError(
            f"{paths[0]} has {have} columns, the training file had {width}"
        )
    if told and have < 2:
        raise InputError(f"{paths[0]} has one column: words need labels beside them")
    if told and not -have <= column < have:
        raise InputError(
            f"{paths[0]} has {have} columns: there is no column {column} "
            f"(they count from 0; -1 is the last)"
        )
    options.setdefault("columns", have)
    at = range(have)[column] if told else have
    X = [template([row[:at] + row[at + 1 :] for row in s]) for s in rows]
    y = [[row[at] for row in s] for s in rows] if told else None
    return Data(X, y, rows, separator)


def _columns(path: str) -> tuple[list[Any], str]:
    """Rows divided by white space, or by tabs where cells hold blanks."""
    from maxmargin.io.sequences.conll import read_conll
    from maxmargin.io.text import FormatError

    try:
        return read_conll(path), " "
    except FormatError:
        rows = read_conll(path, separator="\t")
        if len(rows[0][0]) < 2:
            raise
        return rows, "\t"


def _svm_hmm(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.sequences.svm_hmm import read_svm_hmm

    X, y = read_svm_hmm(_one(paths), options.get("n_features"))
    options.setdefault("n_features", int(X.flat.shape[1]))
    return Data(X, y)


def _crfsuite(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.sequences.crfsuite import read_crfsuite

    return Data(*read_crfsuite(_one(paths)))


def _penn(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.text import read_lines
    from maxmargin.io.treebank import parse_sentences, read_treebank, tagged_words

    text = "\n".join(read_lines(_one(paths)))
    if "(" not in text and ")" not in text:
        return Data(parse_sentences(text), None)
    trees = read_treebank(_one(paths)).trees
    return Data([tagged_words(tree) for tree in trees], trees)


def _pairs(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.biology.pairs import read_pairs

    parts = [read_pairs(path) for path in paths]
    X, y, names = ([v for p in parts for v in p[k]] for k in range(3))
    return Data(X, None if any(c is None for c in y) else y, names)


def _alignment(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.biology.alignments import read_alignment

    X, y, names = [], [], []
    for path in paths:
        aligned = read_alignment(path)
        for a, b in itertools.combinations(aligned.rows, 2):
            (s, t), columns = aligned.pair(a, b)
            X.append((s["residue"], t["residue"]))
            y.append(columns)
            names.append((a, b))
    return Data(X, y, names)


def _letor(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.letor import read_letor

    queries = read_letor(list(paths), options.get("n_features"))
    if options.setdefault("normalize", False):
        queries = queries.normalized()
    width = queries.X[0].shape[1] if queries.X else 0
    options.setdefault("n_features", width)
    return Data(queries.X, queries.y, queries.qid)


def _graphs(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.graphs_jsonl import read_graphs

    X, y, records = read_graphs(_one(paths))
    return Data(X, None if any(labels is None for labels in y) else y, records)


def _fasta(paths: Sequence[str], options: Options) -> Data:
    from maxmargin.io.biology.fasta import read_labelled_fasta

    parts = [read_labelled_fasta(path) for path in paths]
    if len(parts) == 2:  # with the motif, and without
        names = parts[0][0] + parts[1][0]
        y = ["+"] * len(parts[0][0]) + ["-"] * len(parts[1][0])
        return Data(parts[0][1] + parts[1][1], y, names)
    names, X, y = parts[0]
    if len(parts) > 2:
        raise InputError(
            "motifs come in one file with labels, or in two: with, without"
        )
    return Data(X, None if "" in y else y, names)


def _one(paths: Sequence[str]) -> str:
    if len(paths) != 1:
        raise InputError(f"this task reads one file, not {len(paths)}")
    return paths[0]


def _class_lines(model: Any, data: Data, form: str) -> list[str]:
    return [str(label) for label in model.predict(data.X)]


def _sequence_lines(model: Any, data: Data, form: str) -> list[str]:
    lines = []
    for i, labels in enumerate(model.predict(data.X)):
        for t, label in enumerate(labels):
            columns = data.records[i][t] if data.records else ()
            lines.append(data.separator.join([*columns, str(label)]))
        if form != "svm_hmm":
            lines.append("")
    return lines


def _tree_lines(model: Any, data: Data, form: str) -> list[str]:
    from maxmargin.io.treebank import format_tree

    trees = model.predict(data.X)
    return [f"( {format_tree(t)})" if t is not None else "()" for t in trees]


def _alignment_lines(model: Any, data: Data, form: str) -> list[str]:
    from maxmargin.io.biology.alignments import rows_of_columns

    lines = []
    for pair, columns, names in zip(data.X, model.predict(data.X), data.records):
        for name, row in zip(names, rows_of_columns(columns, *pair), strict=True):
            lines += [f">{name}", row]
    return lines


def _ranking_lines(model: Any, data: Data, form: str) -> list[str]:
    return [repr(float(v)) for s in model.decision_function(data.X) for v in s]


def _graph_lines(model: Any, data: Data, form: str) -> list[str]:
    return [
        json.dumps({**record, "labels": [_item(v) for v in labels]})
        for record, labels in zip(data.records, model.predict(data.X), strict=True)
    ]


def _motif_lines(model: Any, data: Data, form: str) -> list[str]:
    labels, sites = model.predict(data.X), model.locate(data.X)
    return ["name\tlabel\tstart\tstrand\tscore"] + [
        f"{name}\t{label}\t{site['start']}\t{site['strand']}\t{float(site['score'])!r}"
        for name, label, site in zip(data.records, labels, sites, strict=True)
    ]


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _class_measures(model: Any, data: Data) -> dict[str, float]:
    right = [a == b for a, b in zip(model.predict(data.X), data.y, strict=True)]
    out = {"examples": len(right), "accuracy": sum(right) / len(right)}
    return out | _unseen(model, data.y.tolist())


def _unseen(model: Any, labels: Iterable[Any]) -> dict[str, float]:
    """How many labels of the data the model cannot know, if any."""
    strange = set(labels) - set(model.classes_)
    return {"unseen_labels": len(strange)} if strange else {}


def _sequence_measures(model: Any, data: Data) -> dict[str, float]:
    from maxmargin.metrics.sequences import sequence_accuracy, span_f1, token_error

    found, truth = list(model.predict(data.X)), [list(row) for row in data.y]
    out = {
        "sequences": len(truth),
        "token_accuracy": 1.0 - token_error(truth, found),
        "sequence_accuracy": sequence_accuracy(truth, found),
    }
    labels = {label for row in truth for label in row}
    if all(isinstance(v, str) for v in labels) and any(v[:2] == "B-" for v in labels):
        out["span_f1"] = span_f1(truth, found)
    return out | _unseen(model, labels)


def _tree_measures(model: Any, data: Data) -> dict[str, float]:
    from maxmargin.metrics.brackets import bracket_scores

    scores = bracket_scores(list(data.y), list(model.predict(data.X)))
    return {"trees": len(data.y), **{k: float(v) for k, v in scores._asdict().items()}}


def _alignment_measures(model: Any, data: Data) -> dict[str, float]:
    q4 = 1.0 - float(model.losses(data.X, data.y, shift=4).mean())
    return {"pairs": len(data.X), "q": model.score(data.X, data.y), "q4": q4}


def _ranking_measures(model: Any, data: Data) -> dict[str, float]:
    from maxmargin.metrics.ranking import ndcg_at_k, precision_at_k

    scores = model.decision_function(data.X)
    out: dict[str, float] = {"queries": len(scores)}
    for k in (1, 5, 10):
        for name, measure in (("precision", precision_at_k), ("ndcg", ndcg_at_k)):
            values = [measure(grades, s, k) for grades, s in zip(data.y, scores)]
            some = [v for v in values if not math.isnan(v)]
            out[f"{name}@{k}"] = float(sum(some) / max(len(some), 1))
    return out


def _graph_measures(model: Any, data: Data) -> dict[str, float]:
    return {"graphs": len(data.X), "node_accuracy": model.score(data.X, data.y)}


def _motif_measures(model: Any, data: Data) -> dict[str, float]:
    return {"sequences": len(data.X), "accuracy": model.score(data.X, data.y)}


TASKS = {
    "multiclass": Task(
        "MulticlassSVM", {"svmlight": _svmlight}, _class_lines, _class_measures,
        "classes; svmlight lines 'LABEL 1:0.5 7:1'",
    ),
    "sequences": Task(
        "ChainSVM", {"conll": _conll, "svm_hmm": _svm_hmm, "crfsuite": _crfsuite},
        _sequence_lines, _sequence_measures,
        "label sequences; CoNLL columns, svm_hmm, CRFsuite",
    ),
    "trees": Task(
        "GrammarSVM", {"penn": _penn}, _tree_lines, _tree_measures,
        "parse trees; Penn brackets '(S (NP ..) ..)'",
    ),
    "alignments": Task(
        "AlignmentSVM", {"pairs": _pairs, "alignment": _alignment}, _alignment_lines,
        _alignment_measures,
        "pairs of sequences; FASTA rows two by two, or PIR, Clustal, Stockholm",
    ),
    "ranking": Task(
        "RankingSVM", {"letor": _letor}, _ranking_lines, _ranking_measures,
        "documents by query; LETOR lines 'GRADE qid:Q 1:0.5 ..'",
    ),
    "graphs": Task(
        "NetworkSVM", {"jsonl": _graphs}, _graph_lines, _graph_measures,
        'labelled graphs; JSON lines {"nodes": .., "edges": .., "labels": ..}',
    ),
    "motifs": Task(
        "MotifSVM", {"fasta": _fasta}, _motif_lines, _motif_measures,
        "motifs in DNA; FASTA '>name LABEL', or two files: with and without",
    ),
}  # fmt: skip
