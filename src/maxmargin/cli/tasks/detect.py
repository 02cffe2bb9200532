"""Which task and format a file is, from its first lines."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from maxmargin.cli.errors import InputError

PAIRS = r"(\s+\d+:\S+)*\s*(#.*)?"
QUERY = re.compile(r"\S+\s+qid:\S+" + PAIRS)
EXAMPLE = re.compile(r"\S+(\s+\d+:\S+)+\s*(#.*)?")
ATTRIBUTE = re.compile(r"[^\t]+\t(.*\t)?[^\t]+=[^\t]*")  # .. name=value at the end
CONLLU = re.compile(r"\d+([-.]\d+)?(\t[^\t]*){9}")
HEAD = re.compile(r"([^\t]*\t){6}\d+\t.*")  # CoNLL-U with a tree
TREE = re.compile(r"[^()]*\(\s*\(?\S+\s+\(")  # fields, if any, then (S (..
ENTITY = re.compile(r"^# global\.Entity|\t([^\t]*\|)?Entity=\([^\t]*$")
SPANS = re.compile(r'\[\s*"|\{(?!.*"nodes"\s*:).*"text"\s*:\s*"')  # texts with spans
SEARCH = re.compile(r'\{(?=.*"native"\s*:)(?=.*"candidates"\s*:)')  # for a homolog
LOOK = 200  # lines
MOST = 10**6  # bytes


def _refuse_many_rows(text: str, name: str, cut: bool) -> None:
    """Several rows of one length are one alignment of all, or pairs: nobody can tell."""
    records = [record.partition("\n")[2] for record in text.split("\n>")]
    whole = records[:-1] if cut else records  # the lines may end within the last one
    sizes = {len("".join(record.split())) for record in whole}
    if len(records) > 2 and len(sizes) == 1:
        raise InputError(
            f"{name} has {len(records)}{' or more' if cut else ''} rows of one length: "
            "use --format pairs if they are aligned two by two, or --format alignment if "
            "all of them are aligned with each other"
        )


def has_annotated_text(path: str) -> bool:
    """Whether a file begins with a JSON line of a text with spans."""
    with open(path, "rb") as file:
        head = file.read(10**6).decode("utf-8-sig", "replace").lstrip()
    return SPANS.match(head) is not None


def document_format(path: str) -> str:
    """How the documents of a file are written: "conll2012" or "corefud"."""
    with open(path, encoding="utf-8", errors="replace") as file:
        first = next((line for line in file if line.strip()), "")
    return "conll2012" if first.startswith("#begin document") else "corefud"


def detect(path: str, name: str, task: str | None = None) -> tuple[str, str]:
    """(task, format) of a file; `name` is what people call it, `task` what they said."""
    with open(path, "rb") as file:
        read = list(itertools.islice(file, LOOK))
    head = b"".join(read)[:MOST]
    cut = len(read) == LOOK or len(head) == MOST
    lines = [
        line
        for line in head.decode("utf-8-sig", "replace").splitlines()
        if line.strip()
    ]
    if not lines:
        raise InputError(f"{name} is empty")
    first, suffix = lines[0].lstrip(), Path(name.removesuffix(".gz")).suffix
    plain = [line for line in lines if not line.startswith("#")]
    conllu = bool(plain) and all(CONLLU.fullmatch(line) for line in plain)
    if conllu and task in ("sequences", "dependencies"):
        return task, "conllu"
    if first.startswith("#begin document"):
        return "coreference", "conll2012"
    if any(ENTITY.search(line) for line in lines):
        return "coreference", "corefud"
    if conllu:
        if any(HEAD.fullmatch(line) for line in plain):
            raise InputError(
                f"{name} has words, tags and dependency trees (CoNLL-U): say what to "
                "learn, as in 'maxmargin train sequences ..' for the tags or 'maxmargin "
                "train dependencies ..' for the trees"
            )
        return "sequences", "conllu"
    if SPANS.match(first):
        return "sequences", "annotated"
    if SEARCH.match(first):
        return "homology", "searches"
    if first.startswith("{"):
        return "graphs", "jsonl"
    if first.startswith(">P1;") or first.startswith(("CLUSTAL", "# STOCKHOLM")):
        return "alignments", "alignment"
    if first.startswith(">"):
        letters = "".join(line for line in lines if not line.startswith(">"))
        if "-" not in letters:
            return "motifs", "fasta"
        _refuse_many_rows("\n".join(lines), name, cut)
        return "alignments", "pairs"
    if first.startswith("(") or TREE.match(first):
        return "trees", "penn"
    if all(QUERY.fullmatch(line) for line in lines if not line.startswith("#")):
        if suffix == ".letor" or any("docid" in line for line in lines):
            return "ranking", "letor"
        if suffix == ".hmm":
            return "sequences", "svm_hmm"
        raise InputError(
            f"{name} may be rankings (LETOR) or sequences (svm_hmm): say which, as in "
            "'maxmargin train ranking ..' or 'maxmargin train sequences ..'"
        )
    if all(EXAMPLE.fullmatch(line) for line in lines if not line.startswith("#")):
        return "multiclass", "svmlight"
    tokens = [line for line in lines if not line.startswith(("-DOCSTART-", "# "))]
    tabs = [line.count("\t") for line in tokens]
    attributes = len(set(tabs)) > 1 and 2 * tabs.count(0) <= len(tabs)
    if suffix == ".crfsuite" or (attributes and _labels_first(tokens)):
        return "sequences", "crfsuite"
    if all(ATTRIBUTE.fullmatch(line) for line in lines):
        return "sequences", "crfsuite"
    return "sequences", "conll"


def _labels_first(lines: list[str]) -> bool:
    """Whether the first cells repeat more than the last: labels, then attributes.

    Columns of words have their labels last, also where a row lacks a cell.
    """
    cells = [line.rstrip("\n").split("\t") for line in lines]
    first, last = ({row[at] for row in cells} for at in (0, -1))
    return len(first) <= len(last)
