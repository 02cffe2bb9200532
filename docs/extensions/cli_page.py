"""A hook of mkdocs: the commands and flags on the page of the command line."""

import argparse
import re

from maxmargin.cli.errors import CODES
from maxmargin.cli.parser import EXAMPLES, build

MARK = "<!-- commands -->"


def on_page_markdown(markdown, page, **_):
    """Each command with its usage, what it does, and a table of its flags."""
    if page.file.src_uri != "cli.md":
        return markdown
    assert MARK in markdown
    parser = build()
    found = next(
        a for a in parser._actions if isinstance(a, argparse._SubParsersAction)
    )
    helped = {choice.dest: choice.help for choice in found._choices_actions}
    rows = [f"| [`{n}`](#{n}) | {h} |" for n, h in helped.items()]
    parts = ["| command | what it does |", "|---|---|", *rows, ""]
    for name, command in found.choices.items():
        usage = command.format_usage().removeprefix("usage: ").rstrip()
        lines = [re.sub(r"^ {7}", "", line) for line in usage.splitlines()]
        parts += [f"## {name}", "", *described(command.description), ""]
        parts += ["```bash", *lines, "```", ""]
        parts += flags(command)
    examples = EXAMPLES.partition("\n")[2].rstrip().splitlines()
    parts += ["## Examples", "", "```bash", *[e.strip() for e in examples], "```", ""]
    parts += ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    for line in CODES.splitlines()[1:]:
        code, meaning = line.split(None, 1)
        parts.append(f"| {code} | {meaning} |")
    return markdown.replace(MARK, "\n".join(parts))


def described(text):
    """The description; lines set by columns stay as they are."""
    out = []
    for part in text.split("\n\n"):
        if part.startswith(" "):
            rows = [line.removeprefix("  ") for line in part.splitlines()]
            out += ["```text", *rows, "```", ""]
        else:
            out += [part, ""]
    return out


def flags(command):
    """A table for each group of arguments."""
    out = []
    for group in command._action_groups:
        shown = [a for a in group._group_actions if a.dest != "help"]
        if not shown:
            continue
        own = group.title not in ("positional arguments", "options")
        if own:
            out += [f"### {group.title[0].upper()}{group.title[1:]}", ""]
            out += [group.description or "", ""]
        kind = "argument" if group.title == "positional arguments" else "flag"
        out += [f"| {kind} | meaning |", "|---|---|"]
        for action in shown:
            names = ", ".join(f"`{n}`" for n in action.option_strings)
            value = (action.metavar or "").replace("|", " or ") or (
                ", ".join(map(str, action.choices)) if action.choices else None
            )
            if action.nargs == 0:
                value = None
            elif value is None and action.option_strings:
                value = action.dest.upper()
            if not names:
                names, value = f"`{value or action.dest}`", None
            text = (action.help or "").replace("%%", "%")
            entry = f"{names} `{value}`" if value else names
            out.append(f"| {entry} | {text} |")
        out.append("")
    return out
