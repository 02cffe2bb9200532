"""Words and labels from CoNLL columns, CoNLL-U and raw text, in any scheme of spans.

Labels in IOB1 are converted to BIO, and those in BILOU to BIOES, for training; what is
predicted is written in the scheme of the training file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from maxmargin.cli.errors import InputError, UsageError
from maxmargin.cli.tasks.data import Data, Options
from maxmargin.core.data.tokens.label_schemes import (
    all_spans,
    convert_scheme,
    labels_of_spans,
    recognise_scheme,
)
from maxmargin.io.sequences.annotated import read_annotated, split_text
from maxmargin.io.sequences.conll import ConllText, label_column, read_conll_text
from maxmargin.io.sequences.conllu import COLUMNS, read_conllu
from maxmargin.io.text import FormatError, read_lines

TRAINED = {"iob1": "bio", "bilou": "bioes"}  # schemes that are converted for training
CSV = ". It looks like CSV: read it with pandas and fit in Python"
LONG = 500  # words of the only sentence that are worth a word
PLAIN = ". If it is plain text, one text per line, add --format text"
MOST_LABELS = 10**4  # labels that a model file lists for later files
STRAY = 0.02  # share of spans that may begin with I- in BIO


def conll(paths: Sequence[str], options: Options) -> Data:
    """CoNLL columns; one column may be missing, the label."""
    (path,) = paths if len(paths) == 1 else _refuse(paths)
    column, width = options.setdefault("label_column", -1), options.get("columns")
    try:
        text = _columns(path, options.get("encoding", "utf-8"))
    except FormatError as error:
        raise InputError(f"{error}{PLAIN if width == 2 else ''}") from None
    rows = text.sentences
    if not rows:
        raise InputError(f"{path} has no sentences")
    have = len(rows[0][0])
    told = width is None or have == width
    if width is not None and have not in (width, width - 1):
        raise InputError(
            f"{path} has {have} columns, the training file had {width}"
            + (PLAIN if width == 2 else "")
        )
    if told and have < 2:
        table = all("," in row[0] or ";" in row[0] for row in rows[0])
        csv = CSV if table else ""
        raise InputError(f"{path} has one column: words need labels beside them{csv}")
    if told and not -have <= column < have:
        raise InputError(
            f"{path} has {have} columns: there is no column {column} "
            f"(they count from 0; -1 is the last)"
        )
    options.setdefault("columns", have)
    at = range(have)[column] if told else have
    words: list[Any] = [[row[:at] + row[at + 1 :] for row in s] for s in rows]
    y = label_column(text, at, path) if told else None
    said = ""
    if y is not None:
        y, said = _one_scheme(y, options, path, _line_numbers(text))
        options["labels"] = sorted({label for row in y for label in row})[:MOST_LABELS]
        if len(y) == 1 and len(y[0]) > LONG:
            said = f"{path} is one sentence of {len(y[0])} words: an empty line ends a sentence"
    else:
        said = _label_among_features(text, options.get("labels", ()), path)
    if "template" in options:  # a model of version 0.1, which knows features by name
        from maxmargin.io.sequences import templates

        made = {"ner": templates.ner, "pos": templates.pos}[options["template"]]
        words = [made(s) for s in words]
    return Data(words, y, text, said=said, written=_written(options))


def conllu(paths: Sequence[str], options: Options) -> Data:
    """The words of CoNLL-U; labels are the universal parts of speech, or as told."""
    (path,) = paths if len(paths) == 1 else _refuse(paths)
    column = options.setdefault("label_column", COLUMNS.index("upos"))
    if not 0 <= column < len(COLUMNS) or column < 2:
        raise UsageError(
            f"--label-column {column}: labels of CoNLL-U are in the columns 2 .. 9: "
            f"{', '.join(COLUMNS[2:])}"
        )
    sentences = read_conllu(path, options.get("encoding", "utf-8"))
    if not sentences:
        raise InputError(f"{path} has no sentences")
    X = [[(word[1],) for word in s.words] for s in sentences]
    y: Any = [[word[column] for word in s.words] for s in sentences]
    if all(label == "_" for row in y for label in row):
        y = None
    return Data(X, y, sentences)


def annotated(paths: Sequence[str], options: Options) -> Data:
    """JSON lines of texts with spans in characters; to predict, plain text will do."""
    (path,) = paths if len(paths) == 1 else _refuse(paths)
    encoding = options.get("encoding", "utf-8")
    if "spans" in options and not _has_json(path, encoding):
        return plain_text(paths, options)
    options["spans"] = "characters"
    texts = read_annotated(path, encoding)
    if not texts:
        raise InputError(f"{path} has no texts")
    records = [(text.text, text.words()) for text in texts]
    X = [[word.text for word in words] for _, words in records]
    y = [text.labels() for text in texts] if any(t.spans for t in texts) else None
    return Data(X, y, records)


def plain_text(paths: Sequence[str], options: Options) -> Data:
    """Text without labels: one text per line."""
    (path,) = paths if len(paths) == 1 else _refuse(paths)
    if options.get("columns", 2) != 2:
        raise InputError(
            f"{path} is read as plain text, but the model was trained on "
            f"{options['columns']} columns: give it the same columns without the label"
        )
    lines = read_lines(path, options.get("encoding", "utf-8"))
    records = [(line, split_text(line)) for line in lines if line.strip()]
    bare = "columns" not in options  # words, or rows of columns with a word each
    X: list[Any] = [
        [word.text if bare else (word.text,) for word in words] for _, words in records
    ]
    return Data(X, None, records, missing="plain text has no labels")


def _has_json(path: str, encoding: str) -> bool:
    lines = (line.strip() for line in read_lines(path, encoding))
    return next(filter(None, lines), "").startswith(("{", "["))


def _refuse(paths: Sequence[str]) -> Sequence[str]:
    raise InputError(f"this task reads one file, not {len(paths)}")


def _columns(path: str, encoding: str) -> ConllText:
    """Rows divided by white space, or by tabs where cells hold blanks."""
    try:
        return read_conll_text(path, comment="auto", encoding=encoding)
    except FormatError:
        text = read_conll_text(path, comment="auto", encoding=encoding, separator="\t")
        if not text.sentences or len(text.sentences[0][0]) < 2:
            raise
        return text


def _written(options: Options) -> tuple[str, str] | None:
    """From which scheme to which predictions are converted, if they are."""
    scheme = options.get("scheme")
    return (TRAINED[scheme], scheme) if scheme in TRAINED else None


def _label_among_features(text: ConllText, labels: Sequence[str], path: str) -> str:
    """A warning, where the last column is read as a feature but holds labels.

    The file has one column less than the training file, so it should have no label.
    """
    have = len(text.sentences[0][0])
    last = {row[-1] for sentence in text.sentences for row in sentence}
    if have < 2 or not last <= set(labels):
        return ""
    return (
        f"{path} has {have} columns, one less than the training file: all are read as "
        f"features, also the last one, which holds labels such as {max(last)!r}. If it is "
        "the label, a column of features is missing"
    )


def _line_numbers(text: ConllText) -> list[int]:
    """Line of each token in the file, from 1."""
    return [n for n, line in enumerate(text.lines, 1) if line is None]


def _one_scheme(
    y: list[list[str]], options: Options, path: str, lines: list[int]
) -> tuple[list[list[str]], str]:
    """The labels in the scheme that the model has, and what was converted."""
    scheme, reason = _recognised(y, path, lines)
    if scheme is None:
        return y, ""
    known = options.setdefault("scheme", scheme)
    wanted = TRAINED.get(known, known)
    if scheme == "bio with strays":
        rows, said = convert_scheme(y, "bio", "iob1")[0], reason
    elif scheme == wanted or wanted not in ("bio", "bioes"):
        return y, ""
    else:
        rows, said = convert_scheme(y, wanted, scheme)
        said = f"{reason}; converted to {wanted.upper()}"
    options["scheme"] = "bio" if known == "bio with strays" else known
    return rows, f"{path}: {said}"


def _recognised(
    y: list[list[str]], path: str, lines: list[int]
) -> tuple[str | None, str]:
    """The scheme of a file; a few spans of BIO may begin with I-."""
    try:
        scheme, reason = recognise_scheme(y)
    except ValueError as error:
        strays = _strays(y)
        spans = len(all_spans(y))
        if "IOB1" not in str(error):
            flat = list(chain.from_iterable(y))
            at = lines[max(_first_with(flat, "ES"), _first_with(flat, "LU"))]
            raise InputError(f"{path}, line {at}: {error}") from None
        i, t = strays[0]
        at = lines[sum(map(len, y[:i])) + t]
        if len(strays) > STRAY * spans:
            raise InputError(f"{path}, line {at}: {error}") from None
        return "bio with strays", (
            f"the labels are BIO, but {len(strays)} of {spans} spans "
            f"{'begins' if len(strays) == 1 else 'begin'} with I-, the first in line "
            f"{at} ({y[i][t]!r}). It is read as B-"
        )
    if scheme in ("bioes", "bilou"):
        _check_ends(y, scheme, reason, path, lines)
    return scheme, reason


def _first_with(flat: Sequence[str], heads: str) -> int:
    """The first token whose label begins with one of some letters."""
    return next(t for t, label in enumerate(flat) if label[0] in heads)


def _check_ends(
    y: list[list[str]], scheme: str, reason: str, path: str, lines: list[int]
) -> None:
    """Refuse BIOES and BILOU mixed with spans as BIO would write them."""
    found: list[list[tuple[str, int, int]]] = [[] for _ in y]
    for kind, i, first, last in all_spans(y):
        found[i].append((kind, first, last))
    at, wrong = 0, []
    for row, spans in zip(y, found, strict=True):
        made = labels_of_spans(spans, len(row), scheme)
        wrong += [(at + t, *v) for t, v in enumerate(zip(row, made)) if v[0] != v[1]]
        at += len(row)
    if len(wrong) > STRAY * sum(map(len, found)):
        t, label, other = wrong[0]
        raise InputError(
            f"{path}, line {lines[t]}: labels of {scheme.upper()} and another scheme are "
            f"mixed: {label!r} stands where {scheme.upper()} has {other!r} ({reason}); "
            "convert one of the parts"
        )


def _strays(y: list[list[str]]) -> list[tuple[int, int]]:
    """(sentence, token) of each I- that begins a span."""
    return [
        (i, first) for _, i, first, _ in all_spans(y) if y[i][first].startswith("I-")
    ]
