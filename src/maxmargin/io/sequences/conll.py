"""CoNLL columns: one token per line, an empty line between sentences.

Columns are divided by blanks; the label is the last one unless told otherwise.

    Melbourne NP B-LOC
    ( Fpa O
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maxmargin.io.sequences.templates import Template, ner
from maxmargin.io.text import FormatError, numbered_lines, open_text

Sentence = list[tuple[str, ...]]
# Names of columns, by which a header is told from a token.
WORD_NAMES = frozenset(("word", "words", "token", "tokens", "form", "text"))
LABEL_NAMES = frozenset(
    (
        "label",
        "labels",
        "tag",
        "tags",
        "ner",
        "ner_tag",
        "ner_tags",
        "iob",
        "bio",
        "class",
        "pos",
    )
)
_KEY_AND_VALUE = re.compile(r"#\s*[\w.:-]+\s*=")  # as in "# text = Ana va"


def read_conll(
    path: str | Path,
    *,
    separator: str | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
) -> list[Sentence]:
    """Sentences as lists of column tuples.

    Parameters
    ----------
    path : path
        Text, plain or gzip.
    separator : str, optional
        What divides columns; any white space if not given.
    comment : str, optional
        Lines that begin with it are skipped (so are -DOCSTART- lines). "auto": lines
        that begin with # and do not have the columns of a token.
    """
    return read_conll_text(
        path, separator=separator, comment=comment, encoding=encoding
    ).sentences


class ConllText(NamedTuple):
    """A file of columns with everything in it, so that it can be written again.

    Lines that are no tokens (empty ones, -DOCSTART-, comments) stay where they are.
    """

    sentences: list[Sentence]
    lines: list[str | None]  # None for each token
    separator: str  # what divided the columns

    def with_labels(self, labels: Iterable[Sequence[Any]]) -> Iterator[str]:
        """Lines of the file with one more column.

        Examples
        --------
        >>> text = ConllText([[("Ana",)], [("va",)]], ["-DOCSTART-", "", None, "", None], " ")
        >>> list(text.with_labels([["B-PER"], ["O"]]))
        ['-DOCSTART-', '', 'Ana B-PER', '', 'va O']
        """
        rows = [list(row) for row in labels]
        sizes = [len(s) for s in self.sentences], [len(row) for row in rows]
        if sizes[0] != sizes[1]:
            raise ValueError("the labels do not fit the sentences of the file")
        tokens = (
            self.separator.join([*columns, str(label)])
            for sentence, row in zip(self.sentences, rows)
            for columns, label in zip(sentence, row)
        )
        for line in self.lines:
            yield next(tokens) if line is None else line


def read_conll_text(
    path: str | Path,
    *,
    separator: str | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
) -> ConllText:
    """Sentences of a file and all that stands between them; see `read_conll`.

    Equal strings are one object, which takes less memory and is faster to look up.
    """
    sentences: list[Sentence] = []
    current: Sentence = []
    lines: list[str | None] = []
    same: dict[str, str] = {}
    first: tuple[int, int] | None = None  # width and number of the first token's line
    for number, line in numbered_lines(path, encoding):
        blank = not line.strip()
        if blank and current:
            sentences.append(current)
            current = []
        aside = line.startswith("-DOCSTART-")
        if comment == "auto":
            aside = aside or _is_comment(line, separator, first)
        elif comment:
            aside = aside or line.startswith(comment)
        if blank or aside:
            lines.append(line)
            continue
        lines.append(None)
        columns = tuple([same.setdefault(cell, cell) for cell in line.split(separator)])
        first = first or (len(columns), number)
        if len(columns) != first[0]:
            raise FormatError(
                path, number,
                f"{len(columns)} columns where {first[0]} were before (line {first[1]})",
            )  # fmt: skip
        current.append(columns)
    if current:
        sentences.append(current)
    return ConllText(sentences, lines, separator or " ")


def _is_comment(
    line: str, separator: str | None, first: tuple[int, int] | None
) -> bool:
    """Whether a line with # in front is no token: that may be a number sign."""
    if not line.startswith("#"):
        return False
    if _KEY_AND_VALUE.match(line):
        return True
    return first is None or len(line.split(separator)) != first[0]


def load_conll(
    path: str | Path, *, template: Template = ner, label: int = -1, **options: Any
) -> tuple[list[list[list[str]]], list[list[str]]]:
    """X, y for `ChainSVM`: features of each token by a template, and the labels.

    Parameters
    ----------
    template : callable
        From the columns of a sentence (without the label) to a list of feature names
        per token; `maxmargin.io.sequences.templates` has some.
    label : int
        Column of the label.
    **options
        As in `read_conll`.
    """
    text = read_conll_text(path, **options)
    y = label_column(text, label, path)
    X = []
    for sentence in text.sentences:
        at = range(len(sentence[0]))[label]
        X.append(template([row[:at] + row[at + 1 :] for row in sentence]))
    return X, y


def label_column(text: ConllText, column: int, path: str | Path) -> list[list[str]]:
    """The labels of all tokens; a missing label and a header are refused.

    Examples
    --------
    >>> text = ConllText([[("the", "DT"), ("cat", "NN")]], [None, None], " ")
    >>> label_column(text, -1, "tags.txt")
    [['DT', 'NN']]
    """
    y = [[row[column] for row in sentence] for sentence in text.sentences]
    lines = [n for n, line in enumerate(text.lines, 1) if line is None]
    if y and y[0][0].lower() in LABEL_NAMES:
        first = [cell.lower() for cell in text.sentences[0][0]]
        if WORD_NAMES.intersection(first):
            raise FormatError(
                path, lines[0], f"{' '.join(text.sentences[0][0])!r} looks like the names of "
                "the columns: leave this line out",
            )  # fmt: skip
    flat = [label for row in y for label in row]
    if "" in flat:
        raise FormatError(
            path,
            lines[flat.index("")],
            "there is no label: give one, or leave the sentence out",
        )
    return y


def write_conll(
    path: str | Path,
    sentences: Iterable[Sequence[Sequence[Any]]],
    labels: Iterable[Sequence[Any]] | None = None,
    *,
    separator: str = " ",
) -> None:
    """Write columns; `labels`, if given, become a further last column.

    conlleval takes what this writes for (word, truth) columns and predicted labels.
    """
    rows = [list(s) for s in sentences]
    extra = [list(row) for row in labels] if labels is not None else None
    if extra is not None and len(extra) != len(rows):
        raise ValueError(f"{len(rows)} sentences, but labels of {len(extra)}")
    with open_text(path, "wt") as file:
        for i, sentence in enumerate(rows):
            if extra is not None and len(extra[i]) != len(sentence):
                raise ValueError(
                    f"sentence {i} has {len(sentence)} tokens, {len(extra[i])} labels"
                )
            for t, columns in enumerate(sentence):
                cells = [*map(str, columns), *([str(extra[i][t])] if extra else [])]
                bad = [c for c in cells if not c or separator in c or "\n" in c]
                if bad:
                    raise ValueError(
                        f"sentence {i}, token {t}: {bad[0]!r} cannot be a column"
                    )
                file.write(separator.join(cells) + "\n")
            file.write("\n")
