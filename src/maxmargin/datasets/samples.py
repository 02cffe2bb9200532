"""Small real data that come with the package: promoters, and the beginnings of novels.

Both are under CC BY 4.0; their files in `texts/` name the authors.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from maxmargin.io.coreference import CoreferenceDocument


class Promoters(NamedTuple):
    """DNA with and without a promoter."""

    X: list[str]
    y: list[str]


class Novel(NamedTuple):
    """The first pages of a novel.

    `names` has a BIO label for each token and marks proper names, as in B-PER; `document`
    has all mentions, and its `clusters` say which of them mean the same.
    """

    title: str
    sentences: list[list[str]]
    names: list[list[str]]
    document: CoreferenceDocument


def load_promoters() -> Promoters:
    """106 pieces of DNA of E. coli, half of them with a promoter ("+").

    A promoter is where a gene begins to be read; the bases 10 and 35 places before it
    resemble TATAAT and TTGACA. From the UCI repository (C. Harley, R. Reynolds,
    M. Noordewier 1990), CC BY 4.0.

    Returns
    -------
    Promoters
        X, sequences of 57 bases, and y, "+" or "-".

    Examples
    --------
    >>> X, y = load_promoters()
    >>> len(X), y.count("+"), X[0][:12]
    (106, 53, 'tactagcaatac')
    """
    rows = [line.split() for line in _lines("promoters.txt")]
    return Promoters([row[1] for row in rows], [row[0] for row in rows])


def load_litbank() -> list[Novel]:
    """The first pages of 28 English novels, with names and coreference by hand.

    About 500 tokens of each, from LitBank (Bamman, Lewke and Mansoor 2020), CC BY 4.0;
    the novels are in the public domain.

    Returns
    -------
    list of Novel
        Title, sentences, labels of names, and the document with all its mentions.

    Examples
    --------
    >>> novels = load_litbank()
    >>> len(novels), novels[1].title
    (28, 'The secret garden')
    >>> print(novels[1].sentences[0][7:12], novels[1].names[0][7:12])
    ['When', 'Mary', 'Lennox', 'was', 'sent'] ['O', 'B-PER', 'I-PER', 'O', 'O']
    """
    novels: list[Novel] = []
    title = ""
    sentences: list[list[str]] = []
    mentions: list[list[str]] = []
    for line in [*_lines("litbank.txt"), "#doc "]:
        kind, _, rest = line.partition("\t")
        if kind == "S":
            sentences.append(rest.split(" "))
        elif kind == "M":
            mentions.append(rest.split("\t"))
        else:
            if sentences:
                novels.append(_novel(title, sentences, mentions))
            title, sentences, mentions = line.removeprefix("#doc "), [], []
    return novels


def _novel(title: str, sentences: list[list[str]], mentions: list[list[str]]) -> Novel:
    names = [["O"] * len(sentence) for sentence in sentences]
    spans = []
    for place, begin, end, kind, category, _ in mentions:
        row, first, last = names[int(place)], int(begin), int(end)
        spans.append((int(place), first, last))
        if category == "PROP" and all(v == "O" for v in row[first : last + 1]):
            row[first : last + 1] = [f"B-{kind}"] + [f"I-{kind}"] * (last - first)
    clusters = [int(row[-1]) for row in mentions]
    document = CoreferenceDocument(sentences, spans, clusters, name=title)
    return Novel(title, sentences, names, document)


def _lines(name: str) -> list[str]:
    text = (files("maxmargin.datasets") / "texts" / name).read_text(encoding="utf8")
    return [s for s in text.splitlines() if s and not s.startswith("# ")]
