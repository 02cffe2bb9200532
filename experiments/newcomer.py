"""docs/results.md: the stored records for someone who has not read the papers.

Each table becomes a question, a ladder (one rung per method; a dot is ours, a ring what
the paper printed), the claims that hold or do not, and the command. All figures come
from `experiments/results/*.json`; `python -m experiments report` writes the page, and
beside it docs/statements.md and docs/tables.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from experiments import catalogue, front, pictures, results_page, side_by_side
from experiments.pictures import Rung

DOCS = catalogue.HOME.parent / "docs"


class Ladder(NamedTuple):
    """How to draw a table: the question it answers, and its columns."""

    ask: str
    label: tuple[str, ...]
    value: str
    published: str = "published"
    better: str = "lower is better"


class Curve(NamedTuple):
    """How to draw a figure: the question, columns of x and y, what tells lines apart."""

    ask: str
    x: str
    y: str
    series: tuple[str, ...]
    log: bool = False
    only: tuple[str, str] | None = None  # rows with this value in this column


CURVES = {
    "yu2011.figure4_6": Curve(
        "Alignments of proteins: does it help to forgive small shifts in training?",
        "C", "test Q", ("trained for",),
    ),
    "tsochantaridis2005.figure2": Curve(
        "How many constraints of the exponentially many are needed?", "n", "|S|",
        ("epsilon",), True, ("varied", "n"),
    ),
    "yu2011.table6_1": Curve(
        "Very many points: how does the time of kernel machines grow?", "n",
        "CPU seconds", ("method",), log=True, only=("set", "Checkers"),
    ),
}  # fmt: skip

LADDERS = {
    "balamurugan2012.table3": Ladder(
        "An error for every wrong output instead of the worst one: does coordinate "
        "descent find what cutting planes find?", ("C", "method"), "accuracy",
        "published accuracy", "higher is better",
    ),
    "taskar2003.figure1b": Ladder(
        "Handwritten words: does it help to read the letters of a word together, and "
        "to compare images by a kernel?",
        ("method",), "error",
    ),
    "taskar2003.figure1c": Ladder(
        "Web pages that link to each other: does it help to label them together?",
        ("school",), "SVM | RMN | M3N",
    ),
    "tsochantaridis2005.table4": Ladder(
        "The relative of a protein among decoys, after n training examples: learned "
        "scores against a generative model.",
        ("n",), "test Gen (letters) | test SVM2", "test Gen, paper | test SVM2, paper",
    ),
    "tsochantaridis2005.table5": Ladder(
        "Parsing: does it help to train for the F1 that is reported?", ("method",),
        "test f1", "", "higher is better",
    ),
    "tsochantaridis2005.table5_longer": Ladder(
        "Parsing longer sentences.", ("method",), "test f1", "", "higher is better",
    ),
    "tsochantaridis2005.table5_gum": Ladder(
        "Parsing: what do more trees bring?", ("n", "method"), "test f1", "",
        "higher is better",
    ),
    "yu2011.hidden_labels": Ladder(
        "Labels missing: is it better to complete them than to drop sentences?",
        ("training",), "entity F1", "", "higher is better",
    ),
    "yu2011.homstrad_full": Ladder(
        "Alignments of proteins, all of HOMSTRAD: distant relatives.", ("model",),
        "remote Q", "", "higher is better",
    ),
    "yu2011.table4_1": Ladder(
        "Alignments of proteins: do richer features find more of the true pairs?",
        ("model", "loss"), "test Q", "test Q (paper)", "higher is better",
    ),
    "yu2011.table5_1": Ladder(
        "A pattern in yeast DNA: can training find it if only told which sequences "
        "have it?", ("data", "method", "l"), "error %",
    ),
    "yu2011.table5_2": Ladder(
        "Who is who in a novel: clusters of mentions, MITRE loss.",
        ("documents", "method", "chosen by"), "MITRE", "published MITRE",
    ),
    "yu2011.table5_3": Ladder(
        "Search results: are the first ten relevant?", ("method",), "P@10",
        "thesis, LETOR 3.0", "higher is better",
    ),
}  # fmt: skip


def write(records: dict[str, dict], docs: Path = DOCS) -> None:
    """The page, and a picture for each ladder."""
    folder = docs / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    out = [*front.page(records)]
    for paper, full in catalogue.PAPERS.items():
        mine = {n: r for n, r in records.items() if n.split(".")[0] == paper}
        if mine:
            out.append(f"\n## {full}\n")
        for name, record in mine.items():
            svg = picture(name, record)
            if svg:
                (folder / f"{name}.svg").write_text(svg)
            out.extend(section(name, record, bool(svg)))
    waiting = [name for name in catalogue.names() if name not in records]
    if waiting:
        out.append("\n## Not run in full yet\n")
        out += [f"- {catalogue.title(name)} (`{name}`)" for name in waiting]
    (docs / "results.md").write_text("\n".join(out) + "\n")
    (docs / "statements.md").write_text("\n".join(front.index(records)) + "\n")
    (docs / "tables.md").write_text("\n".join(side_by_side.page(records)) + "\n")


def picture(name: str, record: dict) -> str:
    """The ladder or the curves of a record; nothing if it has neither."""
    rungs = climb(name, record)
    if rungs:
        return pictures.ladder(rungs, LADDERS[name].better)
    curve = CURVES.get(name)
    lines = trace(curve, record) if curve else {}
    return pictures.curves(lines, curve.x, curve.y, curve.log) if lines else ""


def trace(curve: Curve, record: dict) -> dict[str, list[tuple[float, float]]]:
    """Points of each series; those without a number, or not on a log axis, left out."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in record["rows"]:
        if curve.only and row.get(curve.only[0], curve.only[1]) != curve.only[1]:
            continue
        x, y = number(row.get(curve.x)), number(row.get(curve.y))
        if x is None or y is None or x <= 0.0 or (curve.log and y <= 0.0):
            continue
        series = ", ".join(f"{c} {row[c]}" for c in curve.series if c in row)
        lines.setdefault(series, []).append((x, y))
    return {name: sorted(line) for name, line in lines.items()}


def section(name: str, record: dict, drawn: bool) -> Iterator[str]:
    """One table."""
    ladder = LADDERS.get(name) or CURVES.get(name)
    yield f"\n### {ladder.ask if ladder else record['title']}\n"
    if ladder:
        yield f"{record['title']}.\n"
    if drawn:
        yield f"![{record['title']}](pictures/{name}.svg)\n"
    else:
        yield from results_page.table(record["rows"][:12])
        yield ""
    yield from results_page.checks(record)
    yield f"\nMade by `{record['command']}` (seed {record['seed']}; {front.origin(record)}).\n"


def climb(name: str, record: dict) -> list[Rung]:
    """The rungs of a record; none where its columns are not those expected."""
    ladder = LADDERS.get(name)
    if ladder is None:
        return []
    out = []
    for row in record["rows"]:
        label = ", ".join(str(row[c]) for c in ladder.label if c in row)
        columns = ladder.value.split(" | ")
        theirs = ladder.published.split(" | ")
        for column, paper in zip_longest(columns, theirs, fillvalue=""):
            ours = number(row.get(column))
            if ours is None:
                continue
            own = f"{label}: {column}" if len(columns) > 1 else label
            out.append(Rung(own, ours, number(row.get(paper))))
    return out


def number(cell: object) -> float | None:
    """The first number of a cell that begins with one."""
    found = re.match(r"\s*-?\d+(\.\d+)?(e-?\d+)?", str(cell))
    return float(found.group()) if found else None
