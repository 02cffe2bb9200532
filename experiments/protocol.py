"""How a table was made: the paper's protocol beside ours, from the settings of the code.

A module of an experiment has PROTOCOL, a list of `Setting`. What stands under `here` is
built from the constants that the code uses, so that a changed grid changes its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

WHAT = ("data", "split", "choice", "method")  # every table of a paper says these
UNKNOWN = "not said"


class Setting(NamedTuple):
    """One line: what, in the paper, and here."""

    what: str
    paper: Any
    here: Any


def listed(settings: Iterable[Setting]) -> list[dict[str, str]]:
    """For a record."""
    return [
        {"what": s.what, "paper": text(s.paper), "here": text(s.here)} for s in settings
    ]


def text(value: Any) -> str:
    """Values of the code as a reader would write them."""
    if isinstance(value, dict):
        return "; ".join(f"{text(k)}: {text(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple, set, range)):
        return ", ".join(map(text, value))
    if isinstance(value, float):
        return f"{value:g}"
    if is_dataclass(value) and not isinstance(value, type):
        return _solver(value)
    return str(value)


def _solver(value: Any) -> str:
    """A trainer or a model by its name and what is not its default."""
    given = [
        f"{f.name}={text(getattr(value, f.name))}"
        for f in fields(value)
        if f.repr and getattr(value, f.name) != f.default
    ]
    return f"{type(value).__name__}({', '.join(given)})"


def shown(settings: list[dict[str, str]]) -> Iterator[str]:
    """The lines as a Markdown table; "same" where nothing differs."""
    if not settings:
        return
    yield "\n| protocol | paper | here |"
    yield "|---|---|---|"
    for one in settings:
        here = "same" if one["here"] == one["paper"] else one["here"]
        cells = (one["what"], one["paper"], here)
        yield "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"
