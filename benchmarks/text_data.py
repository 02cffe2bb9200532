"""Tagging data: Spanish names, WSJ and GUM parts of speech, phrases, mentions in novels.

A `Task` has templates, training and test sentences (rows of columns) with labels, and
says whether spans are scored (F1) or tokens (accuracy). `CHOSEN` are the sets that the
defaults of `ChainSVM` were chosen on, `FRESH` those that were looked at afterwards.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
Part = tuple[list[Any], list[Any]]  # sentences, labels


class Task(NamedTuple):
    """Data of one comparison."""

    templates: Any
    train: Part
    test: Part
    spans: bool  # whether F1 of spans is the measure, else accuracy of tokens


def spanish(part: str, columns: int = 2, lower: bool = False) -> Part:
    """Rows of columns and labels of a part of CoNLL-2002."""
    from maxmargin.io.sequences import read_conll

    sentences = read_conll(DATA / "conll2002_esp" / f"esp.{part}.txt.gz")
    change = str.lower if lower else str
    X = [[(change(row[0]), *row[1:columns]) for row in s] for s in sentences]
    return X, [[row[2] for row in s] for s in sentences]


def wsj() -> tuple[Part, Part]:
    """Words and tags of the WSJ sample: files up to 150 for training, then the rest."""
    parts: dict[bool, Part] = {True: ([], []), False: ([], [])}
    with gzip.open(DATA / "wsj_pos" / "wsj_pos.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            name, _, text = line.rstrip("\n").partition("\t")
            pairs = [item.rsplit("/", 1) for item in text.split(" ")]
            X, y = parts[int("".join(filter(str.isdigit, name))[-4:]) <= 150]
            X.append([(word,) for word, _ in pairs])
            y.append([tag for _, tag in pairs])
    return parts[True], parts[False]


def _trees(corpus: str) -> Iterator[tuple[bool, Any]]:
    """(whether it is for training, tree): every fifth document is for the test."""
    from maxmargin.io.treebank import read_treebank

    file = {"ptb_sample": "wsj_sample.mrg", "trees_gum": "gum_trees"}[corpus]
    found = read_treebank(DATA / corpus / f"{file}.txt.gz")
    number = {name: i for i, name in enumerate(sorted(set(found.names)))}
    for tree, name in zip(found.trees, found.names, strict=True):
        yield number[name] % 5 != 4, tree


def _parts(rows: Iterator[tuple[bool, list[Any], list[str]]]) -> tuple[Part, Part]:
    parts: dict[bool, Part] = {True: ([], []), False: ([], [])}
    for learn, tokens, labels in rows:
        parts[learn][0].append(tokens)
        parts[learn][1].append(labels)
    return parts[True], parts[False]


def tree_tags(corpus: str) -> tuple[Part, Part]:
    """Words and parts of speech of a treebank."""
    from maxmargin.io.treebank import tagged_words

    def rows() -> Iterator[tuple[bool, list[Any], list[str]]]:
        for learn, tree in _trees(corpus):
            pairs = tagged_words(tree)
            yield learn, [(word,) for word, _ in pairs], [tag for _, tag in pairs]

    return _parts(rows())


def phrases(corpus: str, kinds: tuple[str, ...]) -> tuple[Part, Part]:
    """Words with parts of speech; labels are the lowest phrases of some kinds, as BIO."""
    from maxmargin.io.treebank import tagged_words

    def marks(tree: Any) -> list[str]:
        if isinstance(tree[1], str):
            return ["O"]
        if tree[0] in kinds and all(isinstance(child[1], str) for child in tree[1:]):
            return [f"B-{tree[0]}"] + [f"I-{tree[0]}"] * (len(tree) - 2)
        return [label for child in tree[1:] for label in marks(child)]

    return _parts((a, tagged_words(tree), marks(tree)) for a, tree in _trees(corpus))


def litbank(kinds: tuple[str, ...], fifth: int = 4) -> tuple[Part, Part]:
    """Words of novels; labels are the outermost mentions of some kinds, as BIO.

    Every fifth novel, from number `fifth` on, is for the test.
    """
    documents: list[tuple[list[Any], list[Any], list[Any]]] = []
    path = DATA / "coref_litbank" / "litbank_coref.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            tag, _, rest = line.rstrip("\n").partition("\t")
            if tag.startswith("#doc"):
                documents.append(([], [], []))
            elif tag == "S":
                documents[-1][0].append([(word,) for word in rest.split(" ")])
                documents[-1][1].append(["O"] * len(documents[-1][0][-1]))
            elif tag == "M":
                sentence, first, last, kind, category, _ = rest.split("\t")
                if category in kinds:
                    place = int(sentence), int(first), -int(last)
                    documents[-1][2].append((*place, kind))
    for _, y, mentions in documents:
        for sentence, a, last, kind in sorted(mentions):  # of two, the longer first
            labels, b = y[sentence], 1 - last
            if labels[a] == "O":
                labels[a:b] = [f"B-{kind}"] + [f"I-{kind}"] * (b - a - 1)
    return _parts(
        (i % 5 != fifth, tokens, labels)
        for i, (X, y, _) in enumerate(documents)
        for tokens, labels in zip(X, y, strict=True)
    )


def tutorial() -> Any:
    """The features of sklearn-crfsuite's tutorial."""
    from maxmargin.features import Column, Templates

    word, tag = Column(0), Column(1)
    items: list[Any] = [word.lower(), word.suffix(3), word.suffix(2)]
    items += [word.is_("upper"), word.is_("title"), word.is_("digit")]
    items += [tag, tag.prefix(2)]
    for d in (-1, 1):
        items += [word.lower()[d], word.is_("title")[d], word.is_("upper")[d]]
        items += [tag[d], tag.prefix(2)[d], word[d].outside_only()]
    return Templates(items)


def words_only() -> Any:
    """Words of a window, prefixes and suffixes: neither shape nor case is asked for."""
    from maxmargin.features import Column, Templates

    word = Column(0)
    items: list[Any] = word.window(-2, 2)
    items += [f(n) for f in (word.prefix, word.suffix) for n in (1, 2, 3, 4)]
    return Templates(items)


def _first(part: Part, n: int | None) -> Part:
    return part[0][:n], part[1][:n]


def _spanish(
    templates: Any, n: int | None, test: str = "testb", **options: Any
) -> Task:
    train = _first(spanish("train", **options), n)
    return Task(templates, train, spanish(test, **options), True)


def _split(templates: Any, parts: tuple[Part, Part], n: int, spans: bool) -> Task:
    return Task(templates, _first(parts[0], n), parts[1], spans)


def builtin(name: str, width: int = 1) -> Any:
    from maxmargin.features import builtin_templates

    return builtin_templates(name, width)


CHUNKS = ("NP", "VP", "PP", "ADJP", "ADVP")
CHOSEN: dict[str, Callable[[], Task]] = {
    "Spanish, tutorial": lambda: _spanish(tutorial(), None),
    "Spanish 2000, tutorial": lambda: _spanish(tutorial(), 2000),
    "Spanish, ner": lambda: _spanish(builtin("ner", 2), None),
    "Spanish 2000, ner": lambda: _spanish(builtin("ner", 2), 2000),
    "lower case 2000, ner": lambda: _spanish(
        builtin("ner"), 2000, columns=1, lower=True
    ),
    "WSJ 1000, pos": lambda: _split(builtin("pos"), wsj(), 1000, False),
    "WSJ, pos": lambda: _split(builtin("pos"), wsj(), 10**9, False),
}
FRESH: dict[str, Callable[[], Task]] = {
    "GUM 3000 tags, pos": lambda: _split(
        builtin("pos"), tree_tags("trees_gum"), 3000, False
    ),
    "GUM 3000 tags, words": lambda: _split(
        words_only(), tree_tags("trees_gum"), 3000, False
    ),
    "GUM 4000 phrases, chunk": lambda: _split(
        builtin("chunk", 2), phrases("trees_gum", CHUNKS), 4000, True
    ),
    "WSJ noun phrases, chunk": lambda: _split(
        builtin("chunk", 2), phrases("ptb_sample", ("NP",)), 10**9, True
    ),
    "LitBank mentions, ner": lambda: _split(
        builtin("ner"), litbank(("PROP", "NOM", "PRON")), 10**9, True
    ),
    "LitBank names, words": lambda: _split(
        words_only(), litbank(("PROP",)), 10**9, True
    ),
    "Spanish 1000, words": lambda: _spanish(words_only(), 1000, "testa", columns=1),
    "WSJ 300 tags, words": lambda: _split(words_only(), wsj(), 300, False),
}
