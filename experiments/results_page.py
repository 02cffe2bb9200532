"""RESULTS.md from the stored records: published figures, ours, claims, commands."""

from __future__ import annotations

from collections.abc import Iterator

from experiments import catalogue

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
    if record.get("published"):
        yield f"\nPublished: {listed(record['published'])}\n"
    for sentence, holds in record.get("claims", {}).items():
        yield f"- {'holds' if holds else '**does not hold**'}: {sentence}"
    for note in record.get("notes", []):
        yield f"\n{note}"


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
