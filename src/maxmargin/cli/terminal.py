"""Text that fits the window of a terminal; files and pipes get whole lines."""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, TextIO

NARROWEST = 40


def folded(text: str, file: TextIO, indent: str = "") -> str:
    """The text with its lines folded at the width of the window, if there is one."""
    if not file.isatty():
        return text
    wide = max(shutil.get_terminal_size().columns, NARROWEST)
    return textwrap.fill(text, wide, subsequent_indent=indent, break_on_hyphens=False)


def label_list(model: Any, most: int, what: str = "") -> str:
    """How many labels a model has, and the first ones by name; "" if it has none."""
    names = [str(label) for label in getattr(model, "classes_", ())]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)}{what}: {', '.join(names[:most])}{more}" if names else ""


def table_lines(name: str, rows: dict[str, dict[str, str]]) -> list[str]:
    """A table with a heading; one row without a name becomes one line for each value."""
    heads = list(next(iter(rows.values())))
    if list(rows) == [""]:
        wide = max(map(len, heads))
        return [name, *(f"  {head:{wide}} {rows[''][head]:>8}" for head in heads)]
    left = max(12, len(name), *map(len, rows))
    widths = [
        max(len(head), *(len(row[head]) for row in rows.values())) for head in heads
    ]
    lines = []
    for title, cells in ((name, heads), *((n, [*r.values()]) for n, r in rows.items())):
        shown = (f"  {c:>{w}}" for c, w in zip(cells, widths, strict=True))
        lines.append(f"{title:{left}}{''.join(shown)}")
    return lines


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Paragraphs folded at the width of the window; tables and examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = []
        for part in text.split("\n\n"):
            folding = not any(line.startswith("  ") for line in part.splitlines())
            parts.append(
                textwrap.fill(
                    part, width, initial_indent=indent, subsequent_indent=indent
                )
                if folding
                else textwrap.indent(part, indent)
            )
        return "\n\n".join(parts)


class Parser(argparse.ArgumentParser):
    """A parser that suggests the command that was meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction):
            known: Sequence[str] = list(action.choices)
            if value not in known:
                near = difflib.get_close_matches(value, known, 1)
                meant = f"; did you mean '{near[0]}'?" if near else "."
                self.error(
                    f"there is no command '{value}'{meant} The commands are "
                    f"{', '.join(known)}"
                )
        super()._check_value(action, value)

    def error(self, message: str) -> Any:
        """End with the usage and one sentence, folded."""
        self.print_usage(sys.stderr)
        self.exit(2, folded(f"{self.prog}: {message}", sys.stderr) + "\n")
