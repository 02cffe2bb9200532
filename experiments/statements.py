"""What the papers say of their tables and figures, each as a test with the paper's strength.

A statement is quoted by its meaning, with its place in the paper. Its test looks at the
stored records and asks for what the paper says: "an order of magnitude" is ten times,
"significant" needs the test, "most" a share, "all" every one. A statement that cannot be
tested here says why; what is proved in a paper is checked by tests of the suite, which
are named. `experiments/<paper>/statements.py` lists the statements of each paper.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from experiments import catalogue

HELD, FAILED, UNTESTED, NOT_RUN, PROVED = (
    "holds", "**does not hold**", "cannot be tested here", "not run yet",
    "holds, by a test of the suite",
)  # fmt: skip
TESTS = catalogue.HOME.parent / "tests"
Records = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Statement:
    """One sentence of a paper.

    Attributes
    ----------
    place : str
        Section, page, table or figure.
    says : str
        What the paper says, in its strength.
    tables : tuple of str
        Records that the test needs, without the name of the paper; the first one is
        where a reader finds the figures.
    test : callable, optional
        From these records to whether it holds; None: it cannot be tested here.
    why : str or callable
        Why it does not hold or cannot be tested; a function makes the sentence from the
        same records, so that its figures are those of the run.
    suite : str
        A test of the suite that checks it, "file.py::test", below `tests`.
    """

    place: str
    says: str
    tables: tuple[str, ...] = ()
    test: Callable[..., bool] | None = None
    why: str | Callable[..., str] = ""
    suite: str = ""

    def verdict(self, paper: str, records: Records) -> str:
        """Holds, does not hold, cannot be tested here, or has not been run."""
        if self.suite:
            return PROVED
        if self.test is None:
            return UNTESTED
        names = [f"{paper}.{table}" for table in self.tables]
        if any(name not in records for name in names):
            return NOT_RUN
        try:
            return HELD if self.test(*(records[name] for name in names)) else FAILED
        except LookupError:  # a record of an earlier form, without the row or column
            return NOT_RUN

    def reason(self, paper: str, records: Records) -> str:
        """Why, with the figures of the records."""
        if not callable(self.why):
            return self.why
        return self.why(*(records[f"{paper}.{table}"] for table in self.tables))


def of_paper(paper: str) -> list[Statement]:
    """The statements of one paper; none where it has no list."""
    if not (catalogue.HOME / paper / "statements.py").exists():
        return []
    module = importlib.import_module(f"experiments.{paper}.statements")
    return list(module.STATEMENTS)


def judged(paper: str, records: Records) -> list[tuple[Statement, str]]:
    """Statements of a paper with their verdicts."""
    return [(s, s.verdict(paper, records)) for s in of_paper(paper)]


def counted(records: Records) -> dict[str, int]:
    """How many statements of all papers have which verdict."""
    counts: dict[str, int] = dict.fromkeys((HELD, FAILED, UNTESTED, NOT_RUN, PROVED), 0)
    for paper in catalogue.PAPERS:
        for _, verdict in judged(paper, records):
            counts[verdict] += 1
    return counts


def index(paper: str, records: Records) -> Iterator[str]:
    """The statements of a paper as a Markdown table."""
    rows = judged(paper, records)
    if not rows:
        return
    yield "\n| where | what the paper says | here | record |"
    yield "|---|---|---|---|"
    for one, verdict in rows:
        why = verdict in (FAILED, UNTESTED) and one.reason(paper, records)
        reason = f": {why}".replace("|", "\\|") if why else ""
        where = ", ".join(f"`{table}`" for table in one.tables)
        where = f"`tests/{one.suite}`" if one.suite else where
        yield f"| {one.place} | {one.says} | {verdict}{reason} | {where} |"


def row(record: dict[str, Any], **wanted: Any) -> dict[str, Any]:
    """The row of a record whose columns have these values."""
    found = [r for r in record["rows"] if all(r.get(k) == v for k, v in wanted.items())]
    if len(found) != 1:
        raise LookupError(f"{record['name']}: {len(found)} rows with {wanted}")
    return dict(found[0])


def first(cell: Any) -> float:
    """The figure of a cell that may show its error, too: "4.1 (0.7)" is 4.1."""
    return float(str(cell).split()[0])


def error(cell: Any) -> float:
    """The standard error in a cell: "4.1 (0.7)" or "4.1 0.7" has 0.7."""
    return float(str(cell).split()[1].strip("()"))


def known(record: dict[str, Any], column: str, *values: str) -> str:
    """The first of these values that some row of the record has in this column."""
    held = {r.get(column) for r in record["rows"]}
    for value in values:
        if value in held:
            return value
    raise LookupError(f"{record['name']}: no row with {column} of {values}")


def told(column: str, *labels: str, only: tuple[str, ...] = ()) -> Callable[..., str]:
    """A reason that is the figures of a record: a column, row by row.

    labels: columns that name a row (by default its C and method, where it has them).
    only: methods that are told of.

    Examples
    --------
    >>> told("error")({"rows": [{"method": "CRF", "error": 5.0}]})
    'error: CRF 5'
    """

    def why(record: dict[str, Any]) -> str:
        cells = []
        for one in record["rows"]:
            if column not in one or (only and one.get("method") not in only):
                continue
            named = [k for k in labels or ("data", "C", "method") if k in one]
            value = one[column]
            shown = f"{value:.4g}" if isinstance(value, float) else str(value)
            cells.append(" ".join([*(str(one[k]) for k in named), shown]).strip())
        return f"{column}: {', '.join(cells)}"

    return why


def gain(cell: Any) -> tuple[float, float]:
    """A difference and its standard error: "+1.2 (0.4)"."""
    if not str(cell).strip():
        raise LookupError("no difference in this cell")
    return first(cell), error(cell)
