"""Steps from the string in a column to the string in a feature.

A step maps a list of strings to a list of the same length, in which None means that
there is no feature. It sees each distinct string once, however often the string occurs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from maxmargin.features.search import RegexSearch
from maxmargin.features.tables import Clusters

Values = list[str | None]


@dataclass(frozen=True)
class Step:
    """One step; `label` is how it is written in the names of features."""

    def __call__(self, strings: list[str]) -> Values:
        """The new string for each string, or None."""
        raise NotImplementedError

    def validate(self) -> None:
        """Refuse wrong parameters; most steps have none."""

    @property
    def label(self) -> str:
        """Short name."""
        return type(self).__name__.lower()


def run_steps(steps: Sequence[Step], strings: list[str]) -> Values:
    """Apply steps one after the other; a None stays None.

    Examples
    --------
    >>> run_steps([Lower(), Suffix(2)], ["ANA", "B"])
    ['na', 'b']
    """
    if not steps:
        return list(strings)
    values = steps[0](strings)
    for step in steps[1:]:
        if None not in values:
            values = step(values)  # type: ignore[arg-type]
            continue
        kept = [i for i, value in enumerate(values) if value is not None]
        for i, value in zip(kept, step([values[i] for i in kept])):  # type: ignore[misc]
            values[i] = value
    return values


@dataclass(frozen=True)
class Lower(Step):
    """The string in lower case."""

    def __call__(self, strings: list[str]) -> Values:
        """Lower case."""
        return list(map(str.lower, strings))


@dataclass(frozen=True)
class Prefix(Step):
    """The first `size` characters; the whole string if it is shorter."""

    size: int

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Refuse wrong parameters."""
        _check_size("a prefix", self.size)

    def __call__(self, strings: list[str]) -> Values:
        """Prefixes."""
        n = self.size
        return [s[:n] for s in strings]

    @property
    def label(self) -> str:
        """Say prefix3."""
        return f"prefix{self.size}"


@dataclass(frozen=True)
class Suffix(Step):
    """The last `size` characters; the whole string if it is shorter."""

    size: int

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Refuse wrong parameters."""
        _check_size("a suffix", self.size)

    def __call__(self, strings: list[str]) -> Values:
        """Suffixes."""
        n = -self.size
        return [s[n:] for s in strings]

    @property
    def label(self) -> str:
        """Say suffix3."""
        return f"suffix{self.size}"


def _check_size(what: str, size: int) -> None:
    if type(size) is not int or size < 1:
        raise ValueError(f"{what} has a whole number of characters > 0, not {size!r}")


class _Kinds(dict[int, str]):
    """Kind of a character by its number, found when first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = char
        if char.isupper():
            kind = "X"
        elif char.islower():
            kind = "x"
        elif char.isdigit():
            kind = "0"
        elif char.isalpha():
            script = re.split("[ -]", unicodedata.name(char, ""))[0]
            kind = {"CJK": "漢", "HIRAGANA": "あ", "KATAKANA": "ア"}.get(script, "o")
        elif unicodedata.category(char)[0] == "M":
            kind = ""  # a mark belongs to the letter before it
        self[code] = kind
        return kind


_KINDS = _Kinds()
_RUN = re.compile(r"(.)\1+", re.DOTALL)


@dataclass(frozen=True)
class LetterShape(Step):
    """Capitals as X, small letters as x, digits as 0; runs collapsed.

    Letters of scripts without capitals are o, and of the three scripts of Japanese 漢,
    あ and ア. Marks on letters are left out; other characters stand for themselves.

    Examples
    --------
    >>> LetterShape()(["McDonald", "B-747", "...", "東京タワー"])
    ['XxXx', 'X-0', '.', '漢ア']
    """

    def __call__(self, strings: list[str]) -> Values:
        """Shapes."""
        long = _kinds(strings)
        short = {s: _RUN.sub(r"\1", s) for s in set(long)}
        return [short[s] for s in long]

    @property
    def label(self) -> str:
        """As `Column.shape`."""
        return "shape"


def _kinds(strings: list[str]) -> list[str]:
    """Kinds of the characters; those of ASCII strings in one call, which is quicker."""
    plain = [s for s in strings if s.isascii() and "\n" not in s]
    found = iter("\n".join(plain).translate(_KINDS).split("\n"))
    return [
        next(found) if s.isascii() and "\n" not in s else s.translate(_KINDS)
        for s in strings
    ]


def shape(word: str) -> str:
    """Shape of one word, see `LetterShape`."""
    return _RUN.sub(r"\1", word.translate(_KINDS))


def _titles(strings: list[str]) -> Values:
    return ["" if s[:1].isupper() else None for s in strings]


def _with_digits(strings: list[str]) -> Values:
    return [
        None if s.isalpha() or not any(map(str.isdigit, s)) else "" for s in strings
    ]


def _with_hyphens(strings: list[str]) -> Values:
    return ["" if "-" in s else None for s in strings]


def _all(test: Callable[[str], bool]) -> Callable[[list[str]], Values]:
    return lambda strings: ["" if held else None for held in map(test, strings)]


@dataclass(frozen=True)
class Is(Step):
    """A feature without a value, if the string is of a kind; no feature otherwise.

    Kinds are "upper" (no small letter and a capital), "title" (begins with a capital),
    "digit" (digits only), "hasdigit" and "hyphen" (has one).

    Examples
    --------
    >>> Is("title")(["Ana", "va"])
    ['', None]
    """

    kind: str

    TESTS: ClassVar[dict[str, Callable[[list[str]], Values]]] = {
        "upper": _all(str.isupper),
        "title": _titles,
        "digit": _all(str.isdigit),
        "hasdigit": _with_digits,
        "hyphen": _with_hyphens,
    }

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Refuse wrong parameters."""
        if self.kind not in self.TESTS:
            raise ValueError(f"{self.kind!r} is not one of {', '.join(self.TESTS)}")

    def __call__(self, strings: list[str]) -> Values:
        """Empty strings where the test holds."""
        return self.TESTS[self.kind](strings)

    @property
    def label(self) -> str:
        """The kind."""
        return self.kind


@dataclass(frozen=True)
class _Regex(Step):
    """A step with a regular expression of Python's; see `features.search`."""

    pattern: str

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Refuse wrong parameters."""
        if not isinstance(self.pattern, str):
            raise TypeError(
                f"{self.pattern!r} is not a regular expression: a string is"
            )
        RegexSearch(self.pattern)

    @cached_property
    def _search(self) -> RegexSearch:
        return RegexSearch(self.pattern)

    @property
    def label(self) -> str:
        """Say find(PATTERN)."""
        return f"{type(self).__name__.lower()}({self.pattern})"


@dataclass(frozen=True)
class Matches(_Regex):
    """Whether the regular expression matches in the string: "true" or "false"."""

    def __call__(self, strings: list[str]) -> Values:
        """Answers."""
        found = self._search.each(strings)
        return ["false" if match is None else "true" for match in found]


@dataclass(frozen=True)
class Find(_Regex):
    """The first part of the string that the regular expression matches, or ""."""

    def __call__(self, strings: list[str]) -> Values:
        """Matches."""
        return [match or "" for match in self._search.each(strings)]


@dataclass(frozen=True)
class Cluster(Step):
    """The cluster of a word, or its first `size` characters; none for other words."""

    clusters: Clusters
    size: int | None = None

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Refuse wrong parameters."""
        if self.size is not None:
            _check_size("the name of a cluster", self.size)

    def __call__(self, strings: list[str]) -> Values:
        """Clusters."""
        of, n = self.clusters.of, self.size
        names = [of.get(s) for s in strings]
        return [None if name is None else name[:n] for name in names]

    @property
    def label(self) -> str:
        """Say clusters4."""
        return f"{self.clusters.name}{'' if self.size is None else self.size}"
