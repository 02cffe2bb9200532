"""RESULTS.md from the stored records: published figures, ours, claims, commands."""

from __future__ import annotations

from collections.abc import Iterator

from experiments import catalogue, choices, protocol, statements

HEAD = """# The papers' tables, reproduced

Every row below was written by the command that stands beside it, none by hand:
`python -m experiments run NAME` makes a record under `experiments/results/`,
`python -m experiments report` this page.
"""


def render(records: dict[str, dict]) -> str:
    """The page, paper by paper."""
    out = [HEAD]
    for paper, full in catalogue.PAPERS.items():
        mine = [r for name, r in records.items() if name.split(".")[0] == paper]
        if mine:
            out.append(f"\n## {full}\n")
            out.extend(statements.index(paper, records))
        for record in mine:
            out.extend(section(record))
    missing = [name for name in catalogue.names() if name not in records]
    if missing:
        out.append("\n## Not run yet\n")
        out.extend(f"- `{name}`: {catalogue.title(name)}" for name in missing)
    return "\n".join(out) + "\n"


def section(record: dict) -> Iterator[str]:
    """One experiment."""
    yield f"\n### {record['title']}\n"
    minutes = record["seconds"] / 60
    made = record.get("made_with") or record.get("versions", {})
    with_ = ", ".join(f"{k} {v}" for k, v in made.items())
    yield f"`{record['command']}` (seed {record['seed']}, {minutes:.1f} min; {with_})\n"
    yield from table(record["rows"])
    for title, rows in record.get("more", {}).items():
        yield f"\n{title}:\n"
        yield from table(rows)
    if record.get("published"):
        yield f"\nPublished: {listed(record['published'])}\n"
    yield from protocol.shown(record.get("protocol", []))
    chosen = list(choices.shown(record.get("choices", [])))
    if chosen:
        yield "\nChosen on held-out data:\n"
        yield from chosen
    yield from checks(record)
    for note in record.get("notes", []):
        yield f"\n{note}"


def checks(record: dict) -> Iterator[str]:
    """What this run was expected to show, in our words; `statements` has the paper's."""
    found = record.get("claims") or {}
    if found:
        yield "\nChecks of this run:\n"
    for sentence, holds in found.items():
        yield f"- {'yes' if holds else '**no**'}: {sentence}"


def readme(paper: str, records: dict[str, dict]) -> str:
    """README of the folder of a paper: its statements, and what can be run."""
    out = [f"# {catalogue.PAPERS[paper]}\n"]
    out.append("Written by `python -m experiments report`.")
    out.extend(statements.index(paper, records))
    out.append("\n| command | shows |\n|---|---|")
    for name in catalogue.names():
        if name.split(".")[0] == paper:
            title = catalogue.title(name)
            out.append(f"| `python -m experiments run {name}` | {title} |")
    return "\n".join(out) + "\n"


def table(rows: list[dict]) -> Iterator[str]:
    """Rows as a Markdown table; columns in the order of first appearance."""
    columns = list(dict.fromkeys(k for row in rows for k in row))
    yield "| " + " | ".join(shown(c) for c in columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(shown(row.get(c, "")) for c in columns) + " |"


def shown(value: object) -> str:
    """A cell: numbers to four places."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(shown(v) for v in value)
    return "" if value is None else str(value).replace("|", "\\|")


def listed(published: object) -> str:
    """Published figures on one line."""
    if isinstance(published, dict):
        return "; ".join(f"{k}: {listed(v)}" for k, v in published.items())
    if isinstance(published, list):
        return ", ".join(listed(v) for v in published)
    return shown(published)
