r"""Template files of CRF++ and Wapiti, read as they are.

    # comment                 an empty line or a comment is skipped
    U05:%x[-1,0]/%x[0,0]      features of a token: column 0 of the token before and of
                              this one; U05: keeps them apart from other templates
    B                         weights of label pairs (models of sequences have them anyway)
    B01:%x[0,1]               features that meet label pairs

Wapiti has moreover

    *:%x[0,0]                 both U and B
    %X[0,0]                   in lower case; so with %T and %M
    %t[0,0,"^\u"]             "true" or "false": whether the regular expression matches
    %m[0,0,".?.?$"]           what it matches; see `maxmargin.features.regex`
    %x[@1,0]  %x[@-1,0]       the first, the last token of the sentence
    %x[*2,0]                  column 2 says how many tokens before or after

Outside the sentence CRF++ reads _B-1, _B-2, .. and _B+1, ..; Wapiti _x-1 .. _x-4, _x-#
and _x+1 .. . A file with anything that CRF++ does not have is taken for Wapiti's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from maxmargin.features.regex import translate
from maxmargin.features.slots import OutsideMode, Place, Slot, Template
from maxmargin.features.steps import Find, Lower, Matches, Step
from maxmargin.io.text import FormatError, numbered_lines

_PLAIN = re.compile(r"[UB](?:[^%]|%x\[-?\d+,\d+\])*")
_ARGUMENTS = re.compile(r"\[\s*([@*]?)\s*([+-]?\d+)\s*,\s*\+?(\d+)")
_PATTERN = re.compile(r',"((?:[^"\\]|\\.)*)"', re.DOTALL)


class TemplateLines(NamedTuple):
    """What a template file says; see `Templates` for the fields."""

    unigrams: list[Template]
    bigrams: list[Template]
    symbol: str
    transitions: bool


def read_template_lines(
    path: str | Path, dialect: str = "auto", encoding: str = "utf-8"
) -> TemplateLines:
    """Read a template file; see `Templates.read`."""
    lines = list(numbered_lines(path, encoding))
    if dialect not in ("auto", "crf++", "wapiti"):
        raise ValueError(f"dialect={dialect!r} is not 'auto', 'crf++' or 'wapiti'")
    if dialect == "auto":
        dialect = _dialect(line for _, line in lines)
    unigrams: list[Template] = []
    bigrams: list[Template] = []
    transitions = False
    for number, line in lines:
        text = _content(line, dialect)
        if not text:
            continue
        try:
            template = parse_template(
                text, dialect, f"{Path(path).name}, line {number}"
            )
        except ValueError as error:
            raise FormatError(path, number, str(error)) from None
        kind = text[0].upper()
        if kind in "U*":
            unigrams.append(template)
        if kind in "B*":
            transitions |= not template.slots
            if template.slots:
                bigrams.append(template)
    if not unigrams and not bigrams:
        raise FormatError(path, max(len(lines), 1), "there is no template in the file")
    symbol = "_x" if dialect == "wapiti" else "_B"
    return TemplateLines(unigrams, bigrams, symbol, transitions)


def parse_template(text: str, dialect: str = "wapiti", source: str = "") -> Template:
    """One template from its line.

    Examples
    --------
    >>> parse_template("U05:%x[-1,0]/%x[0,0]").literals
    ('u05:', '/', '')
    """
    kinds = "UB" if dialect == "crf++" else "UuBb*"
    if text[:1] not in kinds or not text:
        listed = " or ".join(kinds) if dialect == "crf++" else "U, B or *"
        raise ValueError(
            f"a template begins with {listed}, not with {text[:1]!r}: {text!r}"
        )
    given = text
    if dialect == "wapiti":
        text = text[0].lower() + text[1:]
    literals, slots, at = [""], [], 0
    while at < len(text):
        stop = text.find("%", at)
        if stop < 0:
            stop = len(text)
        literals[-1] += text[at:stop]
        if stop == len(text):
            break
        slot, at = _slot(given, stop, dialect)
        slots.append(slot)
        literals.append("")
    return Template(tuple(literals), tuple(slots), source or f"template {text!r}")


def _slot(text: str, at: int, dialect: str) -> tuple[Slot, int]:
    """The slot that begins with the % at `at`, and where it ends."""
    command = text[at + 1 : at + 2]
    known = "x" if dialect == "crf++" else "xXtTmM"
    where = f"at character {at + 1} of {text!r}"
    if command not in known or not command:
        listed = " ".join(f"%{c}" for c in known)
        raise ValueError(f"{listed} is expected, not %{command}, {where}")
    found = _ARGUMENTS.match(text, at + 2)
    if found is None:
        raise ValueError(
            f"%{command}[offset,column] with whole numbers is expected {where}"
        )
    mark, offset, column = found.groups()
    end = found.end()
    pattern = ""
    if command in "tTmM":
        quoted = _PATTERN.match(text, end)
        if quoted is None:
            raise ValueError(
                f'%{command}[offset,column,"regular expression"] is expected {where}'
            )
        pattern, end = quoted.group(1), quoted.end()
    if text[end : end + 1] != "]":
        raise ValueError(f"] is expected after {text[at:end]!r} {where}")
    place = {"@": Place.SENTENCE, "*": Place.JUMP, "": Place.TOKEN}[mark]
    steps = _steps(command, pattern)
    return Slot(int(column), int(offset), steps, place, OutsideMode.SYMBOL), end + 1


def _steps(command: str, pattern: str) -> tuple[Step, ...]:
    """Steps of a command: x, t or m; capitals give the result in lower case."""
    steps: tuple[Step, ...] = ()
    if command in "tT":
        steps = (Matches(translate(pattern)),)
    elif command in "mM":
        steps = (Find(translate(pattern)),)
    return (*steps, Lower()) if command.isupper() else steps


def _content(line: str, dialect: str) -> str:
    """What counts of a line."""
    if dialect == "wapiti":
        return line.partition("#")[0].rstrip()
    return "" if line.startswith("#") or not line.strip() else line


def _dialect(lines: Iterable[str]) -> str:
    """Wapiti's if some line is not one of CRF++'s."""
    for line in lines:
        text = _content(line, "crf++")
        if text and not _PLAIN.fullmatch(text):
            return "wapiti"
    return "crf++"
