r"""Wapiti's regular expressions, translated to those of Python.

    .                      any character
    \d \a \w \l \u \p \s   digit, letter, letter or digit, lower case, upper case,
                           punctuation, space; in upper case their complements
    \x                     x itself, for any other character x
    x*  x?                 x any number of times (the shortest match), x or nothing
    ^   $                  at the beginning and end: those of the string

All else stands for itself: there are no sets [..], no groups and no +. Characters are
those of Unicode, where Wapiti looks at bytes and knows the letters of ASCII only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

CASED_PLANES = 0x20000  # no character above has a case or is punctuation


def translate(pattern: str) -> str:
    r"""Python's regular expression for one of Wapiti's.

    Examples
    --------
    >>> import re
    >>> re.search(translate(r"\d*-\a"), "B-747-x").group()
    '747-x'
    >>> re.search(translate(".?.?$"), "Ana").group()
    'na'
    """
    head = pattern.startswith("^")
    parts = [r"\A"] if head else []
    at = int(head)
    while at < len(pattern):
        if pattern[at] == "$" and at == len(pattern) - 1:
            parts.append(r"\Z")
            break
        if pattern[at] in "*?":
            raise ValueError(
                f"the regular expression {pattern!r} has {pattern[at]!r} where a "
                rf"character is expected; the character itself is written \{pattern[at]}"
            )
        size = 2 if pattern[at] == "\\" else 1
        if at + size > len(pattern):
            raise ValueError(
                f"the regular expression {pattern!r} ends with a backslash"
            )
        parts.append(_character(pattern[at : at + size]))
        at += size
        if at < len(pattern) and pattern[at] in "*?":
            parts.append("*?" if pattern[at] == "*" else "?")
            at += 1
    return "(?s:" + "".join(parts) + ")"


def _character(item: str) -> str:
    """Expression for one character of the pattern, with its backslash if it has one."""
    if item == ".":
        return "."
    if len(item) == 1:
        return re.escape(item)
    kind = item[1].lower()
    if kind not in _MEMBERS:
        return re.escape(item[1])
    return f"[{'^' if item[1].isupper() else ''}{_members(kind)}]"


def _punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


_MEMBERS: dict[str, Callable[[str], bool]] = {
    "a": str.isalpha,
    "d": str.isdigit,
    "l": str.islower,
    "p": _punctuation,
    "s": str.isspace,
    "u": str.isupper,
    "w": str.isalnum,
}


@cache
def _members(kind: str) -> str:
    """Ranges of the characters of a class, as they are written between brackets."""
    holds, top = _MEMBERS[kind], 0x110000 if kind in "aw" else CASED_PLANES
    ranges: list[str] = []
    first = -1
    for code in range(top + 1):
        inside = code < top and holds(chr(code))
        if inside and first < 0:
            first = code
        elif not inside and first >= 0:
            ranges.append(f"{re.escape(chr(first))}-{re.escape(chr(code - 1))}")
            first = -1
    return "".join(ranges)
