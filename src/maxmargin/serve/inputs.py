"""What a request may contain: text as people type it, or JSON, for each kind of model.

A reader turns one input of a request into what `predict` takes. Everything is checked
here: an input that is not understood is a `BadInputError` whose message says what to write.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.io.graphs_jsonl import graph_of
from maxmargin.io.sequences import templates
from maxmargin.io.sequences.annotated import split_sentences, split_text
from maxmargin.io.treebank import parse_sentences
from maxmargin.reports.drawing.marked_text import words_of
from maxmargin.structures.chain.weight_names import first_column
from maxmargin.structures.clusters import Document, Mention, find_mentions

PAIR = re.compile(r"(\d+):(\S+)")
TEMPLATES = {"ner": templates.ner, "pos": templates.pos}


class BadInputError(ValueError):
    """An input that cannot be used; the message says what is expected."""


@dataclass(frozen=True)
class Reader:
    """How the inputs of one kind of model are read.

    Attributes
    ----------
    kind : str
        Name of the task.
    read : callable
        From one input, text or JSON, to what `predict` takes.
    size : callable
        Size of an input that was read: tokens, letters, nodes, documents.
    unit : str
        What `size` counts.
    hint : str
        What to type, for the page and for messages.
    example : str
        Something to begin with.
    schema : dict
        JSON schema of one input.
    stack : callable
        Several inputs as `predict` takes them.
    words : callable
        What to call the tokens of an input.
    shown : callable, optional
        From an input and its output to what an answer contains; the output itself if
        there is none.
    """

    kind: str
    read: Callable[[Any], Any]
    size: Callable[[Any], int]
    unit: str
    hint: str
    example: str
    schema: Mapping[str, Any]
    stack: Callable[[list[Any]], Any] = field(default=list)
    words: Callable[[Any], list[str]] = field(default=words_of)
    shown: Callable[[Any, Any], Any] | None = None


TEXT = {"type": "string"}
NUMBERS = {"type": "array", "items": {"type": "number"}}


def split_words(text: str) -> list[str]:
    """Words between blanks, with punctuation split off as in most training data.

    Examples
    --------
    >>> split_words('Ana lives in Lima, not in the "U.S." now.')
    ['Ana', 'lives', 'in', 'Lima', ',', 'not', 'in', 'the', '"', 'U.S.', '"', 'now', '.']
    """
    return [word.text for word in split_text(text)]


def sentence_reader(options: Mapping[str, Any], kind: str = "sequences") -> Reader:
    """Tokens of models that make features of words, or of columns of a CoNLL file."""
    template = TEMPLATES.get(str(options.get("template")), list)  # of version 0.1
    width = int(options.get("columns", 2)) - 1
    alone = "columns" not in options  # a model made in Python knows plain words

    def read(item: Any) -> Any:
        rows = _rows(item, width)
        if not rows:
            raise BadInputError("there are no words")
        return [row[0] for row in rows] if alone else template(rows)

    def words(x: Any) -> list[str]:
        return words_of(x) if "template" in options else list(map(first_column, x))

    hint = "A sentence. Punctuation is split off for you."
    example = "Ana lives in Lima, and Juan works for the United Nations."
    if width > 1:
        hint = (
            f"One token per line with {width} columns: those of the training file without "
            "the label, such as a word and its tag. For plain sentences, train on a file "
            "with words and labels only."
        )
        example = ""
    schema = {
        "oneOf": [
            {**TEXT, "description": hint},
            {"type": "array", "description": f"tokens: words, or lists of {width} columns",
             "items": {"oneOf": [TEXT, {"type": "array", "items": TEXT}]}},
        ]
    }  # fmt: skip
    return Reader(kind, read, len, "tokens", hint, example, schema, words=words)


def _rows(item: Any, width: int) -> list[tuple[str, ...]]:
    """Tokens as rows of columns."""
    if isinstance(item, str):
        if width == 1:
            item = split_words(item)
        else:
            item = [line.split() for line in item.splitlines() if line.strip()]
    if not isinstance(item, list):
        raise BadInputError("an input is a sentence, or a list of tokens")
    rows = []
    for t, token in enumerate(item):
        row = (token,) if isinstance(token, str) else token
        good = isinstance(row, list | tuple) and all(isinstance(c, str) for c in row)
        if not good or len(row) != width or not all(row):
            raise BadInputError(
                f"token {t} is {token!r:.60}: the model needs {width} column"
                f"{'s' if width > 1 else ''} of text per token"
            )
        rows.append(tuple(row))
    return rows


def token_reader(kind: str = "sequences") -> Reader:
    """Tokens as dicts, lists of names, or vectors, for models made in Python."""
    hint = "JSON: a list of tokens, each an object of features, a list of names or numbers."
    schema = {"type": "array", "items": {"type": ["object", "array", "string"]}}

    def read(item: Any) -> Any:
        tokens = _json_list(item, hint)
        if not tokens:
            raise BadInputError("there are no tokens")
        if all(_is_numbers(token) for token in tokens):
            return _table(tokens)
        for t, token in enumerate(tokens):
            if isinstance(token, dict):
                _check_values(token.values(), f"token {t}")
            elif not (isinstance(token, list) and all(type(v) is str for v in token)):
                raise BadInputError(f"token {t} is {token!r:.60}. {hint}")
        return tokens

    example = '[{"word": "Ana", "cap": true}, {"word": "ríe"}]'
    return Reader(kind, read, len, "tokens", hint, example, schema)


def document_reader() -> Reader:
    """A text whose mentions are found by rules, or sentences with their mentions."""
    hint = "Some English sentences. Pronouns, names and noun phrases are found for you."

    def read(item: Any) -> Any:
        if isinstance(item, str):
            item = {"sentences": split_sentences(item)}
        if not isinstance(item, dict) or not isinstance(item.get("sentences"), list):
            raise BadInputError(f'a text or "sentences" is needed. {hint}')
        sentences = item["sentences"]
        for s, words in enumerate(sentences):
            if not isinstance(words, list) or not all(
                isinstance(word, str) and word for word in words
            ):
                raise BadInputError(f"sentence {s} is not a list of words")
        if item.get("mentions") is None:
            mentions = find_mentions(sentences)
        else:
            mentions = _mentions(item["mentions"], sentences)
        if not mentions:
            raise BadInputError("there is no pronoun, name or noun phrase in the text")
        return Document(sentences, mentions)

    spans = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}},
             "description": "[sentence, first word, last word], from 0"}  # fmt: skip
    words = {"type": "array", "items": {"type": "array", "items": TEXT}}
    schema = {"oneOf": [{**TEXT, "description": hint},
                        {"type": "object", "required": ["sentences"],
                         "properties": {"sentences": words, "mentions": spans}}]}  # fmt: skip
    example = "Ann fed her old dog. It slept. She smiled at it."

    def size(x: Any) -> int:
        return len(x.mentions)

    return Reader(
        "coreference", read, size, "mentions", hint, example, schema, shown=_entities
    )


def _mentions(given: Any, sentences: list[list[str]]) -> list[Mention]:
    if not isinstance(given, list):
        raise BadInputError('"mentions" is a list of [sentence, first word, last word]')
    for m, span in enumerate(given):
        good = (
            isinstance(span, list) and len(span) == 3 and all(type(v) is int for v in span)
            and 0 <= span[0] < len(sentences)
            and 0 <= span[1] <= span[2] < len(sentences[span[0]])
        )  # fmt: skip
        if not good:
            raise BadInputError(
                f"mention {m} is {span!r:.40}: [sentence, first word, last word] of the "
                "text is expected, counted from 0"
            )
    return [Mention(*span) for span in given]


def _entities(document: Any, clusters: Any) -> list[list[dict[str, Any]]]:
    """Mentions of each entity, with their words and places."""
    found: dict[Any, list[dict[str, Any]]] = {}
    for mention, cluster in zip(document.mentions, clusters, strict=True):
        s, first, last = mention.sentence, mention.first, mention.last
        text = " ".join(document.sentences[s][first : last + 1])
        found.setdefault(cluster, []).append({"text": text, "place": [s, first, last]})
    return list(found.values())


def tree_reader() -> Reader:
    """Words with tags."""
    hint = "A sentence with tags, as in: the/DT cat/NN sat/VBD"

    def read(item: Any) -> Any:
        if isinstance(item, str):
            found = parse_sentences(" ".join(item.split()))
            item = found[0] if found else []
        if not isinstance(item, list) or not item:
            raise BadInputError(f"there are no words. {hint}")
        out: list[Any] = []
        for t, token in enumerate(item):
            if isinstance(token, list | tuple) and len(token) == 2:
                token = tuple(token)
            parts = (token,) if isinstance(token, str) else token
            if not isinstance(parts, tuple) or not all(
                isinstance(p, str) for p in parts
            ):
                raise BadInputError(f"token {t} is {token!r:.60}. {hint}")
            out.append(token)
        return out

    pairs = {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}
    schema = {"oneOf": [{**TEXT, "description": hint},
                        {"type": "array", "items": {"oneOf": [TEXT, pairs]}}]}  # fmt: skip
    example = "the/DT cat/NN sat/VBD on/IN the/DT mat/NN"
    return Reader("trees", read, len, "words", hint, example, schema)


def pair_reader() -> Reader:
    """Two sequences of letters."""
    hint = "Two sequences, one per line; FASTA works, too."

    def read(item: Any) -> Any:
        if isinstance(item, str):
            item = _fasta(item)
        if not isinstance(item, list) or len(item) != 2:
            raise BadInputError(f"two sequences are needed. {hint}")
        return tuple(_sequence(one, k) for k, one in enumerate(item))

    schema = {"oneOf": [{**TEXT, "description": hint},
                        {"type": "array", "items": {"type": ["string", "object"]},
                         "minItems": 2, "maxItems": 2}]}  # fmt: skip
    example = "HEAGAWGHEE\nPAWHEAE"
    return Reader("alignments", read, _pair_size, "letters", hint, example, schema)


def _pair_size(pair: Any) -> int:
    return sum(len(s if isinstance(s, str) else s["residue"]) for s in pair)


def _sequence(one: Any, k: int) -> Any:
    tracks = one if isinstance(one, dict) else {"residue": one}
    if not isinstance(tracks.get("residue"), str) or not tracks["residue"]:
        raise BadInputError(f'sequence {k + 1} has no letters (or no "residue")')
    for name, track in tracks.items():
        if not isinstance(track, str) and not isinstance(track, list):
            raise BadInputError(
                f"sequence {k + 1}: track {name!r} is neither text nor a list"
            )
    return one


def _fasta(text: str) -> list[str]:
    """Sequences of FASTA records, or of lines."""
    if ">" not in text:
        return ["".join(line.split()) for line in text.splitlines() if line.strip()]
    records = [record.partition("\n")[2] for record in text.split(">")[1:]]
    return ["".join(record.split()) for record in records]


def homology_reader() -> Reader:
    """A sequence and candidates to compare it with."""
    hint = "The sequence in the first line, one candidate in each further line."

    def read(item: Any) -> Any:
        if isinstance(item, str):
            found = _fasta(item)
            item = {"native": found[0] if found else "", "candidates": found[1:]}
        if not isinstance(item, dict) or not isinstance(item.get("candidates"), list):
            raise BadInputError(f'"native" and "candidates" are needed. {hint}')
        if not item["candidates"]:
            raise BadInputError(f"there are no candidates. {hint}")
        candidates = [_sequence(one, k + 1) for k, one in enumerate(item["candidates"])]
        return _sequence(item.get("native"), 0), candidates

    schema = {"oneOf": [{**TEXT, "description": hint},
                        {"type": "object", "required": ["native", "candidates"]}]}  # fmt: skip

    def size(x: Any) -> int:
        return _pair_size([x[0], *x[1]])

    return Reader(
        "homology", read, size, "letters", hint, "HEAGAW\nPPPP\nHEAAW", schema
    )


def row_reader(width: int, kind: str = "classes") -> Reader:
    """One row of numbers, or pairs NUMBER:VALUE as in svmlight files."""
    hint = f"{width} numbers, or pairs NUMBER:VALUE as in svmlight files (from 1)."

    def read(item: Any) -> Any:
        return sp.csr_array(_row(item, width, hint)[None, :])

    pairs = {"type": "object", "additionalProperties": {"type": "number"}}
    schema = {"oneOf": [{**TEXT, "description": hint}, NUMBERS, pairs]}
    example = " ".join(f"{j + 1}:1" for j in range(min(width, 3)))

    def size(x: Any) -> int:
        return int(x.nnz)

    def stack(rows: list[Any]) -> Any:
        table = sp.csr_array(sp.vstack(rows))
        return table.toarray() if table.shape[1] <= 4096 else table

    return Reader(kind, read, size, "features", hint, example, schema, stack)


def _row(item: Any, width: int, hint: str) -> np.ndarray:
    """A dense row of `width` numbers."""
    if isinstance(item, str):
        words = item.replace(",", " ").split()
        found = [PAIR.fullmatch(word) for word in words]
        if words and all(found):
            item = {m.group(1): _number(m.group(2)) for m in found if m is not None}
        else:
            item = [_number(word) for word in words]
    if isinstance(item, dict):
        row = np.zeros(width)
        for name, value in item.items():
            at = int(name) if str(name).isdecimal() else 0
            if not 1 <= at <= width:
                raise BadInputError(f"feature {name!r:.40} is not one of 1 .. {width}")
            row[at - 1] = _number(value)
        return row
    if not _is_numbers(item):
        raise BadInputError(f"not a row of finite numbers. {hint}")
    if len(item) != width:
        raise BadInputError(f"{len(item)} numbers, but the model has {width} features")
    return np.array(item, dtype=np.float64)


def query_reader(width: int) -> Reader:
    """The documents of one query."""
    hint = f"One document per line: {width} numbers, or pairs NUMBER:VALUE."

    def read(item: Any) -> Any:
        if isinstance(item, str):
            item = [
                line.partition("#")[0] for line in item.splitlines() if line.strip()
            ]
        if isinstance(item, dict):
            item = item.get("documents")
        if not isinstance(item, list) or not item:
            raise BadInputError(f"there are no documents. {hint}")
        rows = []
        for d, one in enumerate(item):
            try:
                rows.append(_row(one, width, hint))
            except BadInputError as wrong:
                raise BadInputError(f"document {d + 1}: {wrong}") from None
        return np.stack(rows)

    schema = {"oneOf": [{**TEXT, "description": hint},
                        {"type": "array", "items": {"oneOf": [TEXT, NUMBERS]}}]}  # fmt: skip
    example = "\n".join(f"1:{v}" for v in (0.2, 0.9, 0.5))
    return Reader("ranking", read, len, "documents", hint, example, schema)


def graph_reader() -> Reader:
    """A graph as the JSON lines that `maxmargin train graphs` reads."""
    hint = 'JSON: {"nodes": [[features], ..], "edges": [[0, 1], ..]}'

    def read(item: Any) -> Any:
        if isinstance(item, str):
            item = parse_json(item)
        try:
            graph = graph_of(item)
        except (ValueError, TypeError, KeyError, OverflowError) as wrong:
            raise BadInputError(f"{wrong}. {hint}") from None
        if not len(graph[0]):
            raise BadInputError("the graph has no nodes")
        return graph

    schema = {"oneOf": [TEXT, {"type": "object", "required": ["nodes", "edges"]}]}

    def size(graph: Any) -> int:
        return len(graph[0]) + len(graph[1])

    return Reader("graphs", read, size, "nodes and edges", hint, "", schema)


def dna_reader() -> Reader:
    """One sequence of bases or amino acids."""
    hint = "A DNA or protein sequence; FASTA works, too."

    def read(item: Any) -> Any:
        found = _fasta(item) if isinstance(item, str) else []
        if not found or not "".join(found).isalpha():
            raise BadInputError(f"not a sequence of bases or amino acids. {hint}")
        return found[0] if ">" in item else "".join(found)

    return Reader(
        "motifs", read, len, "bases", hint, "ccTATAAAgcgcgcTATAccg",
        {**TEXT, "description": hint},
    )  # fmt: skip


def parse_json(text: str | bytes) -> Any:
    """JSON without NaN and infinities."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise BadInputError("not JSON: nested too deeply") from None
    except (ValueError, UnicodeDecodeError) as wrong:
        raise BadInputError(f"not JSON: {wrong}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _json_list(item: Any, hint: str) -> list[Any]:
    if isinstance(item, str):
        item = parse_json(item)
    if not isinstance(item, list):
        raise BadInputError(f"not a list. {hint}")
    return item


def _is_numbers(row: Any) -> bool:
    return (
        isinstance(row, list)
        and bool(row)
        and all(type(v) in (int, float) and math.isfinite(v) for v in row)
    )


def _table(rows: Sequence[Any]) -> np.ndarray:
    if len({len(row) for row in rows}) > 1:
        raise BadInputError("the tokens have vectors of different lengths")
    return np.array(rows, dtype=np.float64)


def _check_values(values: Any, where: str) -> None:
    for value in values:
        good = type(value) in (str, bool) or (
            type(value) in (int, float) and math.isfinite(value)
        )
        if not good:
            raise BadInputError(
                f"{where} has the value {value!r:.40}: features are numbers, text or "
                "true and false"
            )


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BadInputError(f"{value!r:.40} is not a number") from None
    if not math.isfinite(number):
        raise BadInputError(f"{value!r:.40} is not a finite number")
    return number


def reader_of(model: Any) -> Reader:
    """The reader for a model; ValueError where its inputs cannot be typed."""
    notes = vars(model).get("provenance_", {})
    options = notes.get("options")
    options = options if isinstance(options, dict) else {}
    name = type(model).__name__
    of_tokens = {"ChainSVM": "sequences", "SegmentSVM": "segments"}
    if name in of_tokens and notes.get("format") == "conll":
        return sentence_reader(options, of_tokens[name])
    if name in of_tokens and model.features is not None:
        return sentence_reader({}, of_tokens[name])
    if name in ("CoreferenceSVM", "CorrelationSVM") and model._weight_names() is None:
        raise ValueError(
            f"this {name} cannot be served: it was trained on features of your own, and "
            "text cannot be turned into them here"
        )
    widths = {
        "MulticlassSVM": lambda: row_reader(int(model.n_features_in_)),
        "KernelSVM": lambda: row_reader(int(model.n_features_in_)),
        "MultilabelSVM": lambda: row_reader(int(model.n_features_in_), "label sets"),
        "RankingSVM": lambda: query_reader(len(model.coef_)),
    }
    plain: dict[str, Callable[[], Reader]] = {
        "ChainSVM": token_reader, "GrammarSVM": tree_reader,
        "AlignmentSVM": pair_reader, "HomologySVM": homology_reader,
        "NetworkSVM": graph_reader, "MotifSVM": dna_reader,
        "DependencySVM": tree_reader, "CoreferenceSVM": document_reader,
        "CorrelationSVM": document_reader,
        "SegmentSVM": lambda: token_reader("segments"), **widths,
    }  # fmt: skip
    if name not in plain:
        raise ValueError(
            f"{name} cannot be served: its inputs have no text form. Served are "
            f"{', '.join(sorted(plain))}"
        )
    return plain[name]()
