"""The first screen of docs/results.md, and the index of all statements.

What each paper claims, what is seen here, where the two differ and why: in plain words,
with the figures of the records. Everything is made by `python -m experiments report`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from experiments import catalogue, statements
from experiments.statements import FAILED, HELD, NOT_RUN, PROVED, UNTESTED, Records, row

Record = dict[str, Any]


class Headline(NamedTuple):
    """What a paper is about, and the figures that answer it."""

    paper: str
    claim: str
    table: str  # the record with the figures
    seen: Callable[[Record], str]


def _words(r: Record) -> str:
    e = r["errors"]
    return (
        f"letters wrong: {100 * e['CRF']:.1f} % by a CRF, {100 * e['M3N linear']:.1f} % "
        f"by an M3N, {100 * e['M3N cubic']:.1f} % by an M3N with a cubic kernel"
    )


def _names(r: Record) -> str:
    e = {x["method"]: x["test error"] for x in r["rows"]}
    return ", ".join(f"{m} {e[m]} %" for m in ("HMM", "CRF", "Perceptron", "SVM"))


def _constraints(r: Record) -> str:
    by = {x["n"]: x["|S|"].split()[0] for x in r["rows"] if x["varied"] == "n"}
    return (
        f"{by[min(by)]} constraints for {min(by)} example, {by[max(by)]} for {max(by)}"
    )


def _proteins(r: Record) -> str:
    q = {x["model"]: x["test Q"].split()[0] for x in r["rows"] if x["loss"] != "Q4"}
    return (
        f"pairs of residues found: BLOSUM62 with tuned gaps {q['BLOSUM62']} %, learned "
        f"from simple features {q['simple']} %, with windows {q['window']} %"
    )


def _search(r: Record) -> str:
    cells = [
        f"{name} {row(r, method=method)['P@1']}"
        for name, method in (
            ("ranking SVM", "Ranking SVM"), ("start", "Initial weight vector"),
            ("latent SVM", "Latent structural SVM, from: Initial weight vector"),
        )
    ]  # fmt: skip
    return "first hit relevant: " + ", ".join(cells)


def _functions(r: Record) -> str:
    own, exact = (row(r, method=m) for m in ("CPSP", "SVM"))
    cells = [
        f"{name} {own[name]} of {exact[name]}" for name in ("adult", "ocr0", "ijcnn")
    ]
    return "functions needed to be within half a point: " + ", ".join(cells)


def _summed(r: Record) -> str:
    cells = []
    for C in (0.01, 1.0):
        fast, slow = (row(r, C=C, method=m) for m in ("SDCD", "CP"))
        met = "" if slow["met rule"] == slow["folds"] else " when stopped"
        cells.append(
            f"C = {C:g}: {fast['seconds']:.0f} s against {slow['seconds']:.0f} s{met}"
        )
    return "OCR, our coordinate descent against cutting planes, " + "; ".join(cells)


HEADLINES = [
    Headline("tsochantaridis2005", "Few of the exponentially many constraints are enough",
             "figure2", _constraints),
    Headline("tsochantaridis2005", "Large margins tag names better than HMMs, perceptrons "
             "and CRFs", "table2", _names),
    Headline("taskar2003", "Reading the letters of a word together, with kernels, nearly "
             "halves the errors", "figure1b", _words),
    Headline("yu2011", "Alignments of proteins are learned better than read off a matrix",
             "table4_1", _proteins),
    Headline("yu2011", "What is hidden in training can be learned along: the best order of "
             "search results", "table5_3", _search),
    Headline("yu2011", "A kernel machine needs far fewer functions than support vectors",
             "table6_3", _functions),
    Headline("balamurugan2012", "Coordinate descent solves the summed error ten times as "
             "fast as cutting planes", "table3", _summed),
]  # fmt: skip
DIFFERENT = [
    "**Other data.** Where a corpus is not free, a free one stands in (taxonomies, parsing, "
    "coreference, protein pairs, yeast origins). Then only the order of methods can be "
    "compared, and small differences may change sign.",
    "**Other rivals.** Our CRF has a tuned prior, our perceptron averages, our matrix has "
    "tuned gaps. Against a CRF with a narrow prior of the paper's range the M3N gains what "
    "the paper says (rows `CRF, sigma`).",
    "**Other programs.** Where ours is faster on both sides, ratios of time shrink. The "
    "algorithms as printed stand beside our variants, so that the difference can be seen.",
]


def page(records: Records) -> Iterator[str]:
    """One screen."""
    yield "# Results\n"
    yield (
        "Do the methods give what their papers say? Every figure on this page was made by "
        "a command and written by `python -m experiments report`; none was typed in."
    )
    counts = statements.counted(records)
    tested = counts[HELD] + counts[FAILED]
    yield (
        f"\nThe papers make **{tested} statements about tables and figures that can be "
        f"tested here: {counts[HELD]} hold, {counts[FAILED]} do not**, each taken as strictly "
        "as the paper says it (an order of magnitude is ten times, significant needs a test). "
        f"{counts[PROVED]} more, of theorems and algorithms, are checked by tests of the "
        f"suite, {counts[UNTESTED]} cannot be tested with what is free"
        + (
            f", and {counts[NOT_RUN]} wait for the next full run"
            if counts[NOT_RUN]
            else ""
        )
        + ". [All of them, one by one](statements.md). [Every number of the papers' "
        "tables, ours beside it](tables.md).\n"
    )
    yield "| what the paper claims | what we see | paper |"
    yield "|---|---|---|"
    for one in HEADLINES:
        with suppress(LookupError):  # a record that is not there, or of another form
            seen = one.seen(records[f"{one.paper}.{one.table}"])
            yield f"| {one.claim} | {seen} | {_short(one.paper)}, `{one.table}` |"
    yield "\n![Handwritten words](pictures/taskar2003.figure1b.svg)\n"
    yield "![Constraints](pictures/tsochantaridis2005.figure2.svg)\n"
    yield "Where we differ, and why:\n"
    yield from (f"- {text}" for text in DIFFERENT)
    yield f"\n{age(records)}"
    yield (
        "\nIn the pictures a dot is our run, a ring what the paper printed. The full "
        "tables, with protocols, standard errors and notes, are in "
        "`experiments/RESULTS.md`."
    )


def index(records: Records) -> Iterator[str]:
    """Every statement of every paper: where it stands, its verdict, its test."""
    yield "# What the papers say, statement by statement\n"
    yield (
        "Statements are given in our words and taken as strictly as the paper says them. "
        "Each is tested on the record named beside it (`python -m experiments run "
        "PAPER.RECORD`), or by a test of the suite. `python -m experiments report` writes "
        "this page."
    )
    for paper, full in catalogue.PAPERS.items():
        table = list(statements.index(paper, records))
        if table:
            yield f"\n## {full}"
            yield from table


def origin(record: Record) -> str:
    """Version, date and commit that made a record."""
    made = record.get("made_with") or record.get("versions", {})
    when = f", {made['date']}" if "date" in made else ""
    return (
        f"version {made.get('maxmargin', '?')}{when}, commit {made.get('commit', '?')}"
    )


def age(records: Records) -> str:
    """How many records are of which version."""
    made = Counter(
        str((r.get("made_with") or r.get("versions", {})).get("maxmargin", "?"))
        for r in records.values()
    )
    cells = [f"{count} of version {version}" for version, count in sorted(made.items())]
    return (
        f"Records: {', '.join(cells)}. A record of an earlier version has the protocol of "
        "that version; `python -m experiments night` makes all of them anew."
    )


def _short(paper: str) -> str:
    return (
        catalogue.PAPERS[paper].split(",")[0].removesuffix(" 2011") + " " + paper[-4:]
    )
