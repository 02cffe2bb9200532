"""Predictions as lines of text, one function per task."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from maxmargin.cli.tasks.data import Data
from maxmargin.io.sequences.annotated import annotated_line, spans_in_text
from maxmargin.reports.sentences import marks_spans


def class_lines(model: Any, data: Data, form: str) -> list[str]:
    """One class per line."""
    return [str(label) for label in model.predict(data.X)]


def label_set_lines(model: Any, data: Data, form: str) -> list[str]:
    """The labels of an example per line, with commas between them."""
    return [",".join(map(str, labels)) for labels in model.predict(data.X)]


def sequence_lines(model: Any, data: Data, form: str) -> list[str]:
    """The lines of the file with the labels; without columns, one label per line."""
    found = predicted_labels(model, data)
    if form == "conll":
        return list(data.records.with_labels(found))
    if form == "conllu":
        return _conllu_lines(model, data.records, found)
    if form in ("annotated", "text"):
        return _annotated_lines(data.records, found)
    lines: list[str] = []
    for labels in found:
        lines += map(str, labels)
        if form != "svm_hmm":
            lines.append("")
    return lines


def _annotated_lines(records: Any, found: list[Any]) -> list[str]:
    """JSON lines of texts with spans; words with their labels where nothing is a span."""
    if not marks_spans(found) and any(v != "O" for row in found for v in row):
        pairs = [zip(words, y, strict=True) for (_, words), y in zip(records, found)]
        return [line for p in pairs for line in (*(f"{w.text}\t{v}" for w, v in p), "")]
    return [
        annotated_line(text, spans_in_text(words, labels))
        for (text, words), labels in zip(records, found, strict=True)
    ]


def predicted_labels(model: Any, data: Data) -> list[Any]:
    """Outputs found; labels of spans in the scheme of the training file."""
    found = list(model.predict(data.X))
    if data.written is None:
        return found
    from maxmargin.core.data.tokens.label_schemes import convert_scheme

    source, target = data.written
    return convert_scheme(found, target, source)[0]


def _conllu_lines(model: Any, sentences: Any, found: list[Any]) -> list[str]:
    """CoNLL-U with the labels in their column."""
    at = model.provenance_["options"]["label_column"]
    lines = []
    for sentence, labels in zip(sentences, found, strict=True):
        words = iter(zip(sentence.words, labels, strict=True))
        for line in sentence.lines:
            if line is None:
                word, label = next(words)
                line = "\t".join([*word[:at], str(label), *word[at + 1 :]])
            lines.append(line)
        lines.append("")
    return lines


def tree_lines(model: Any, data: Data, form: str) -> list[str]:
    """One tree per line; () where there is none."""
    from maxmargin.io.treebank import format_tree

    trees = model.predict(data.X)
    return [f"( {format_tree(t)})" if t is not None else "()" for t in trees]


def dependency_lines(model: Any, data: Data, form: str) -> list[str]:
    """The lines of the file with the heads and relations found, and tags where it has none."""
    from maxmargin.io.trees import dependencies

    lines, column = [], model.provenance_["options"].get("tag", "none")
    tagged = model.tagged(data.X)
    for sentence, tokens, tree in zip(
        data.records, tagged, model.predict(tagged), strict=True
    ):
        filled = dependencies.with_tags(sentence, tokens, column)
        lines += [*dependencies.dependency_lines(filled, tree), ""]
    return lines


def alignment_lines(model: Any, data: Data, form: str) -> list[str]:
    """FASTA rows with gaps, two by two; with E-values where the model has them."""
    from maxmargin.io.biology.alignments import rows_of_columns

    lines = []
    chance = [""] * len(data.X)
    if "score_distribution_" in vars(model):
        chance = [f" E={value:.3g}" for value in model.evalues(data.X)]
    for pair, columns, names, e in zip(
        data.X, model.predict(data.X), data.records, chance, strict=True
    ):
        letters = [s["residue"] if isinstance(s, dict) else s for s in pair]
        for name, row in zip(names, rows_of_columns(columns, *letters), strict=True):
            lines += [f">{name}{e}", row]
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


def search_lines(model: Any, data: Data, form: str) -> list[str]:
    """The JSON lines of the file with the homolog found, and the scores of all candidates."""
    found, scores = model.predict(data.X), model.candidate_scores(data.X)
    return [
        json.dumps({**record, "homolog": int(best), "scores": each.tolist()})
        for record, best, each in zip(data.records, found, scores, strict=True)
    ]


def motif_lines(model: Any, data: Data, form: str) -> list[str]:
    """Tab-separated: name, label, place, strand and score of the motif."""
    labels, sites = model.predict(data.X), model.locate(data.X)
    return ["name\tlabel\tstart\tstrand\tscore"] + [
        f"{name}\t{label}\t{site['start']}\t{site['strand']}\t{float(site['score'])!r}"
        for name, label, site in zip(data.records, labels, sites, strict=True)
    ]


def site_lines(model: Any, data: Data, p_value: float) -> list[str]:
    """Tab-separated: all sites of the motif with p-values, best first."""
    return ["name\tstart\tstrand\tscore\tp_value"] + [
        f"{data.records[site.sequence]}\t{site.start}\t{site.strand}\t{site.score!r}\t"
        f"{site.p_value:.3g}"
        for site in model.sites(data.X, p_value)
    ]


def coreference_lines(model: Any, data: Data, form: str) -> list[str]:
    """The lines of the file with the entities found; for text, a line per mention."""
    if form == "text":
        return _mention_lines(data.records, model.predict(data.X))
    from maxmargin.io.coreference.conll2012 import conll2012_lines
    from maxmargin.io.coreference.corefud import corefud_lines

    written = conll2012_lines if form == "conll2012" else corefud_lines
    lines = []
    for document, clusters in zip(data.records, model.predict(data.X), strict=True):
        lines += written(document, clusters=clusters)
    return lines


def _mention_lines(documents: Any, found: Any) -> list[str]:
    """Entity, sentence, first and last word (from 0) and the words, divided by tabs."""
    lines = []
    for document, clusters in zip(documents, found, strict=True):
        for (s, first, last), cluster in zip(document.spans, clusters, strict=True):
            words = " ".join(document.sentences[s][first : last + 1])
            lines.append(f"{cluster}\t{s}\t{first}\t{last}\t{words}")
        lines.append("")
    return lines


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
