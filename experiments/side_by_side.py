"""Every number of the papers' tables with ours beside it: docs/tables.md.

`experiments/<paper>/printed.py` has TABLES: the tables as the papers print them, and how
a cell is read off a record. A cell without a figure of ours says why. Records of earlier
versions may lack a row or a column: such cells say that they are to be run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments import catalogue

Record = dict[str, Any]
TO_RUN = "to run"
HEAD = """# The papers' tables, number by number

For every number in a table of the five works, in the layout of the paper: **paper / ours**.
Ours are read from the records that `python -m experiments run PAPER.RECORD` writes, with
standard errors or deviations where the record has them; `python -m experiments report`
writes this page. How a record was made, with the paper's protocol beside ours, stands in
`experiments/RESULTS.md`; what the papers say of their tables, and whether it holds here, in
[the statements](statements.md). "-": not in the paper, or none of ours, for a reason below
the table. Figures of the papers are plots; numbers that the text gives for them are here,
too."""


@dataclass(frozen=True)
class Printed:
    """A table as the paper prints it.

    Attributes
    ----------
    place, title : str
        Where it stands, what it shows.
    record : str
        Name of our record, without the paper; "" where there is none.
    columns : sequence of str
    rows : dict
        Label of a row to its numbers, None where the paper has none.
    ours : callable, optional
        (record, label of the row, column) to our figure; LookupError where the record
        has none.
    absent : dict
        Label of a row or column to the reason why there is no figure of ours.
    told : str
        In which respect the two differ, in a sentence or two.
    """

    place: str
    title: str
    record: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Any]]
    ours: Callable[[Record, str, str], Any] | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    told: str = ""

    def cell(self, record: Record | None, row: str, column: str) -> str:
        """Our figure, "-" with a reason in `absent`, or TO_RUN."""
        if row in self.absent or column in self.absent or self.ours is None:
            return "-"
        try:
            value = None if record is None else self.ours(record, row, column)
        except LookupError:
            value = None
        return TO_RUN if value in (None, "") else shown(value)


def of_paper(paper: str) -> list[Printed]:
    """The tables of a paper."""
    if not (catalogue.HOME / paper / "printed.py").exists():
        return []
    return list(importlib.import_module(f"experiments.{paper}.printed").TABLES)


def page(records: dict[str, Record]) -> Iterator[str]:
    """All tables of all papers."""
    yield HEAD
    for paper, full in catalogue.PAPERS.items():
        tables = of_paper(paper)
        if tables:
            yield f"\n## {full}"
        for one in tables:
            yield from section(one, paper, records)


def section(one: Printed, paper: str, records: dict[str, Record]) -> Iterator[str]:
    """One table."""
    name = f"{paper}.{one.record}"
    record = records.get(name)
    yield f"\n### {one.place}: {one.title}\n"
    yield "| | " + " | ".join(map(escaped, one.columns)) + " |"
    yield "|" + "---|" * (len(one.columns) + 1)
    waits = False
    for label, figures in one.rows.items():
        cells = []
        for column, figure in zip(one.columns, figures, strict=True):
            own = one.cell(record, label, column)
            if figure is None:  # a figure of ours stands by itself
                cells.append("-" if own in ("-", TO_RUN) else f"- / {own}")
                continue
            waits = waits or own == TO_RUN
            cells.append(f"{figure} / {own}")
        yield f"| {escaped(label)} | " + " | ".join(map(escaped, cells)) + " |"
    yield ""
    if one.told:
        yield one.told
    yield from (f"- {key}: {why}." for key, why in one.absent.items())
    if waits:
        yield f'"{TO_RUN}": the record at hand has no such cell yet.'
    if one.record:
        made = (record or {}).get("made_with", {})
        stamp = (
            f"version {made.get('maxmargin', '?')}, commit {made.get('commit', '?')}"
        )
        yield f"\nRecord: `{name}` ({stamp if record else 'not run yet'})."


def shown(value: Any) -> str:
    """Four figures at most; texts as they are."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def escaped(text: str) -> str:
    """For a cell of a Markdown table."""
    return text.replace("|", "\\|")


def row(record: Record, missing: Record | None = None, **wanted: Any) -> Record:
    """The only row with these values; `missing`: what rows of an older form mean."""
    default = missing or {}
    found = [
        r for r in record["rows"]
        if all(r.get(k, default.get(k)) == v for k, v in wanted.items())
    ]  # fmt: skip
    if len(found) != 1:
        raise LookupError(f"{record['name']}: {len(found)} rows with {wanted}")
    return dict(found[0])


def both(value: float, error: float, digits: int = 1) -> str:
    """A figure and its standard error."""
    return f"{value:.{digits}f} ({error:.{digits}f})"
