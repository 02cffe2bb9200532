"""From data files to inputs and outputs, one function per format.

`options` is what reading depends on (columns, number of features). Training fills it,
and the model file keeps it, so that later files are read in the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from maxmargin.cli.errors import InputError
from maxmargin.cli.tasks.data import Data, Options
from maxmargin.core.data.validation import refuse_fractions


def svmlight(paths: Sequence[str], options: Options) -> Data:
    """Svmlight lines, with the features and the kind of labels of training."""
    from maxmargin.io.svmlight import read_svmlight

    named = options.get("named", False)  # as in training, whatever this file has
    X, y = read_svmlight(_one(paths), options.get("n_features"), named=named)
    options.setdefault("n_features", X.shape[1])
    if "named" not in options:  # it is training
        _refuse_quantities(paths[0], y)
    options.setdefault("named", y.dtype.kind == "U")
    return Data(X, y)


def _refuse_quantities(path: str, y: Any) -> None:
    """Refuse labels that are all numbers, some of them with fractions."""
    try:
        numbers = [float(label) for label in y]
    except ValueError:
        return
    try:
        refuse_fractions(numbers)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def svmlight_sets(paths: Sequence[str], options: Options) -> Data:
    """Svmlight lines with several labels: A,B 1:0.5; a line may have none."""
    from maxmargin.io.svmlight import read_svmlight

    X, y = read_svmlight(
        _one(paths), options.get("n_features"), named=True, unlabelled=True
    )
    options.setdefault("n_features", X.shape[1])
    return Data(X, [[v for v in row.split(",") if v] for row in y.tolist()])


def svm_hmm(paths: Sequence[str], options: Options) -> Data:
    """SVM-hmm lines, with the features of training."""
    from maxmargin.io.sequences.svm_hmm import read_svm_hmm

    X, y = read_svm_hmm(_one(paths), options.get("n_features"))
    options.setdefault("n_features", int(X.flat.shape[1]))
    return Data(X, y)


def crfsuite(paths: Sequence[str], options: Options) -> Data:
    """CRFsuite lines."""
    from maxmargin.io.sequences.crfsuite import read_crfsuite

    return Data(*read_crfsuite(_one(paths)))


def penn(paths: Sequence[str], options: Options) -> Data:
    """Penn brackets; lines without brackets are sentences without trees."""
    from maxmargin.io.text import read_lines
    from maxmargin.io.treebank import read_treebank, tagged_words

    text = "\n".join(read_lines(_one(paths)))
    if "(" not in text and ")" not in text:
        return sentences(paths, options)
    trees = read_treebank(_one(paths)).trees
    return Data([tagged_words(tree) for tree in trees], trees)


def conllu(paths: Sequence[str], options: Options) -> Data:
    """Dependency trees of CoNLL-U, with the tags of training, or one sentence per line."""
    from maxmargin.io.sequences.conllu import read_conllu
    from maxmargin.io.trees.dependencies import (
        read_dependencies,
        sentence_name,
        sentence_tree,
    )

    path = _one(paths)
    if "tag" in options and not _has_columns(path):
        return sentences(paths, options)
    if "tag" not in options:  # the first column of tags that is filled
        rows = [word for s in read_conllu(path) for word in s.words]
        filled = {"upos": {r[3] for r in rows}, "xpos": {r[4] for r in rows}}
        used = [name for name, tags in filled.items() if tags - {"_"}]
        options["tag"] = used[0] if used else "none"
    bank = read_dependencies(path, tag=options["tag"])
    if (
        options["tag"] != "none"
    ):  # words alone where a sentence has no tags: for the tagger
        for k, x in enumerate(bank.X):
            if all(tag == "_" for _, tag in x):
                bank.X[k] = [word for word, _ in x]
    bare = [k for k, s in enumerate(bank.sentences) if sentence_tree(s) is None]
    missing = (
        f"{sentence_name(bank.sentences[bare[0]], bare[0])} has no heads"
        if bare
        else ""
    )
    return Data(bank.X, bank.y, bank.sentences, missing=missing)


def sentences(paths: Sequence[str], options: Options) -> Data:
    """Plain text, one sentence per line: words, or word/TAG, divided by blanks."""
    from maxmargin.io.text import read_lines
    from maxmargin.io.treebank import parse_sentences

    lines = read_lines(_one(paths), options.get("encoding", "utf-8"))
    found = parse_sentences("\n".join(lines))
    return Data(found, None, found, missing="plain text has no trees")


def _has_columns(path: str) -> bool:
    """Whether a file has columns or comments, as CoNLL-U has."""
    from maxmargin.io.text import read_lines

    text = "\n".join(read_lines(path))
    return "\t" in text or text.lstrip().startswith("#")


def pairs(paths: Sequence[str], options: Options) -> Data:
    """FASTA rows two by two."""
    from maxmargin.io.biology.pairs import read_pairs

    parts = [read_pairs(path) for path in paths]
    X: list[Any] = [v for p in parts for v in p.X]
    y = [v for p in parts for v in p.y]
    names = [v for p in parts for v in p.names]
    wanted, given = options.get("track_names"), options.pop("tracks", {})
    if wanted is not None and sorted(given) != sorted(wanted):
        raise InputError(
            f"the model was trained with the tracks {', '.join(wanted) or 'none'}: give "
            "each by --track NAME=FILE"
        )
    options["track_names"] = sorted(given)
    if given:
        X = _with_tracks(X, names, {k: _track(k, p, names) for k, p in given.items()})
    bare = [k for k, columns in enumerate(y) if columns is None]
    if not bare:
        return Data(X, y, names)
    a, b = names[bare[0]]
    missing = (
        f"pair {bare[0]}, {a!r} and {b!r}, has no gaps and two lengths: not aligned"
    )
    return Data(X, None, names, missing=missing)


def _track(track: str, path: str, names: list[Any]) -> Any:
    """Letters from FASTA, or rows of numbers by name of the sequence from .npz."""
    from maxmargin.io.biology.fasta import read_vectors
    from maxmargin.io.biology.pairs import Pairs, read_pairs

    if not path.endswith(".npz"):
        return read_pairs(path)
    known = read_vectors(path)
    for pair in names:
        for name in pair:
            if name not in known:
                raise InputError(f"{path} has no array {name!r}, for track {track!r}")
    return Pairs([(known[a], known[b]) for a, b in names], [], names)  # type: ignore[misc]


def _with_tracks(X: list[Any], names: list[Any], tracks: dict[str, Any]) -> list[Any]:
    """Sequences with what other files say of each letter, in the same order."""
    for track, found in tracks.items():
        if found.names != names:
            k = next(
                (k for k, (a, b) in enumerate(zip(found.names, names)) if a != b),
                min(len(found.names), len(names)),
            )
            raise InputError(
                f"the track {track!r} does not have the pairs of the data: they differ at "
                f"pair {k}"
            )
        for k, (pair, other) in enumerate(zip(X, found.X, strict=True)):
            for name, a, b in zip(names[k], pair, other, strict=True):
                if len(a) != len(b):
                    raise InputError(
                        f"pair {k}, {name!r}: {len(a)} letters, but {len(b)} in the track "
                        f"{track!r}"
                    )
    return [
        tuple(
            {"residue": pair[s], **{t: found.X[k][s] for t, found in tracks.items()}}
            for s in (0, 1)
        )
        for k, pair in enumerate(X)
    ]


def alignment(paths: Sequence[str], options: Options) -> Data:
    """All pairs of rows of alignments in PIR, Clustal or Stockholm format."""
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


def letor(paths: Sequence[str], options: Options) -> Data:
    """LETOR lines of one or several files."""
    from maxmargin.io.letor import read_letor

    queries = read_letor(list(paths), options.get("n_features"))
    if options.setdefault("normalize", False):
        queries = queries.normalized()
    width = queries.X[0].shape[1] if queries.X else 0
    options.setdefault("n_features", width)
    return Data(queries.X, queries.y, queries.qid)


def graphs(paths: Sequence[str], options: Options) -> Data:
    """Graphs as JSON lines."""
    from maxmargin.io.graphs_jsonl import read_graphs

    X, y, records = read_graphs(_one(paths))
    bare = [k for k, labels in enumerate(y) if labels is None]
    missing = f"graph {bare[0]} has no labels" if bare else ""
    return Data(X, None if bare else y, records, missing=missing)


def searches(paths: Sequence[str], options: Options) -> Data:
    """Sequences with candidates as JSON lines."""
    from maxmargin.io.biology.searches import read_searches

    X, y, records = read_searches(_one(paths))
    bare = [k for k, homolog in enumerate(y) if homolog is None]
    missing = f"search {bare[0]} has no homolog" if bare else ""
    return Data(X, None if bare else y, records, missing=missing)


def fasta(paths: Sequence[str], options: Options) -> Data:
    """FASTA with labels, or two files: sequences with the motif, and without."""
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
    if "" not in y:
        return Data(X, y, names)
    missing = (
        f"record {names[y.index('')]!r} has no label behind its name, as in '>a +'"
    )
    return Data(X, None, names, missing=missing)


def conll2012(paths: Sequence[str], options: Options) -> Data:
    """Documents of CoNLL-2012; without entities, mentions are found by rules."""
    from maxmargin.io.coreference.conll2012 import read_conll2012

    return _documents([d for path in paths for d in read_conll2012(path)])


def corefud(paths: Sequence[str], options: Options) -> Data:
    """Documents of CorefUD; without entities, mentions are found by rules."""
    from maxmargin.io.coreference.corefud import read_corefud

    return _documents([d for path in paths for d in read_corefud(path)])


def document_text(paths: Sequence[str], options: Options) -> Data:
    """Plain text: each file is a document, whose mentions are found by rules."""
    from maxmargin.io.coreference import CoreferenceDocument
    from maxmargin.io.sequences.annotated import split_sentences
    from maxmargin.io.text import read_lines

    encoding = options.get("encoding", "utf-8")
    texts = ["\n".join(read_lines(path, encoding)) for path in paths]
    made = [CoreferenceDocument(split_sentences(text), [], []) for text in texts]
    return _documents(made)._replace(missing="plain text has no entities")


def _documents(documents: list[Any]) -> Data:
    """Documents with the mentions of the file, or with those that rules find."""
    from maxmargin.structures.clusters.mention_finder import find_mentions

    if any(document.spans for document in documents):
        return Data(documents, [document.clusters for document in documents], documents)
    found = []
    for document in documents:
        mentions = find_mentions(document.sentences, document.tags)
        spans = [(m.sentence, m.first, m.last) for m in mentions]
        found.append(document._replace(spans=spans, clusters=list(range(len(spans)))))
    return Data(found, None, found)


def _one(paths: Sequence[str]) -> str:
    if len(paths) != 1:
        raise InputError(f"this task reads one file, not {len(paths)}")
    return paths[0]
