"""The tasks of the command line: estimator, readers, writer and measures of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from maxmargin.cli.tasks import measures, readers, text_readers, writers
from maxmargin.cli.tasks.data import Data, Options


class Task(NamedTuple):
    """A task of the command line."""

    estimator: str
    formats: dict[str, Callable[[Sequence[str], Options], Data]]
    lines: Callable[[Any, Data, str], list[str]]  # predictions as text
    measures: Callable[[Any, Data], dict[str, Any]]
    about: str


TASKS = {
    "multiclass": Task(
        "MulticlassSVM",
        {"svmlight": readers.svmlight},
        writers.class_lines,
        measures.class_measures,
        "classes; svmlight lines 'LABEL 1:0.5 7:1'",
    ),
    "multilabel": Task(
        "MultilabelSVM",
        {"svmlight_sets": readers.svmlight_sets},
        writers.label_set_lines,
        measures.label_set_measures,
        "several labels per example; svmlight lines 'A,B 1:0.5 7:1'",
    ),
    "sequences": Task(
        "ChainSVM",
        {
            "conll": text_readers.conll,
            "conllu": text_readers.conllu,
            "svm_hmm": readers.svm_hmm,
            "crfsuite": readers.crfsuite,
            "annotated": text_readers.annotated,
            "text": text_readers.plain_text,
        },
        writers.sequence_lines,
        measures.sequence_measures,
        "label sequences; CoNLL columns, CoNLL-U, svm_hmm, CRFsuite, annotated text",
    ),
    "segments": Task(
        "SegmentSVM",
        {
            "conll": text_readers.conll,
            "annotated": text_readers.annotated,
            "text": text_readers.plain_text,
        },
        writers.sequence_lines,
        measures.span_measures,
        "labelled spans; CoNLL columns with BIO, IOB1 or BIOES labels, annotated text",
    ),
    "trees": Task(
        "GrammarSVM",
        {"penn": readers.penn, "text": readers.sentences},
        writers.tree_lines,
        measures.tree_measures,
        "parse trees; Penn brackets '(S (NP ..) ..)'",
    ),
    "dependencies": Task(
        "DependencySVM",
        {"conllu": readers.conllu, "text": readers.sentences},
        writers.dependency_lines,
        measures.dependency_measures,
        "dependency trees; CoNLL-U",
    ),
    "alignments": Task(
        "AlignmentSVM",
        {"pairs": readers.pairs, "alignment": readers.alignment},
        writers.alignment_lines,
        measures.alignment_measures,
        "pairs of sequences; FASTA rows two by two, or PIR, Clustal, Stockholm",
    ),
    "homology": Task(
        "HomologySVM",
        {"searches": readers.searches},
        writers.search_lines,
        measures.search_measures,
        'the homolog among candidates; JSON lines {"native": .., "candidates": ..}',
    ),
    "ranking": Task(
        "RankingSVM",
        {"letor": readers.letor},
        writers.ranking_lines,
        measures.ranking_measures,
        "documents by query; LETOR lines 'GRADE qid:Q 1:0.5 ..'",
    ),
    "graphs": Task(
        "NetworkSVM",
        {"jsonl": readers.graphs},
        writers.graph_lines,
        measures.graph_measures,
        'labelled graphs; JSON lines {"nodes": .., "edges": .., "labels": ..}',
    ),
    "motifs": Task(
        "MotifSVM",
        {"fasta": readers.fasta},
        writers.motif_lines,
        measures.motif_measures,
        "motifs in DNA and proteins; FASTA '>name LABEL', or two files: with and without",
    ),
    "coreference": Task(
        "CoreferenceSVM",
        {
            "conll2012": readers.conll2012,
            "corefud": readers.corefud,
            "text": readers.document_text,
        },
        writers.coreference_lines,
        measures.coreference_measures,
        "mentions of the same thing; CoNLL-2012, or CoNLL-U with entities (CorefUD)",
    ),
}
