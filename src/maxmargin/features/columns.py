"""Columns of tokens, as templates are written in Python: `word.lower()[-1]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from maxmargin.features.slots import OutsideMode, Place, Slot, Template
from maxmargin.features.steps import (
    Cluster,
    Find,
    Is,
    LetterShape,
    Lower,
    Matches,
    Prefix,
    Step,
    Suffix,
)
from maxmargin.features.tables import Clusters, Gazetteer


@dataclass(frozen=True)
class Column:
    """A column of the tokens, as templates are written in Python.

    `column[-1]` is that of the token before, `a & b` a feature of both together.

    Parameters
    ----------
    key : int or str
        Number of the column, or its name among the `columns` of `Templates`.

    Examples
    --------
    >>> word = Column("word")
    >>> word.lower()[-1].text
    'word.lower[-1]='
    >>> [c.text for c in word.suffix(3).window(-1, 1)]
    ['word.suffix3[-1]=', 'word.suffix3[0]=', 'word.suffix3[1]=']
    >>> (word[-1] & word[0]).text
    'word[-1]=|word[0]='
    """

    key: int | str = 0
    offset: int = 0
    steps: tuple[Step, ...] = ()
    gazetteer: Gazetteer | None = None
    outside: OutsideMode = OutsideMode.NOTHING
    title: str = ""

    def __getitem__(self, offset: int) -> Column:
        return replace(self, offset=offset)

    def __and__(self, other: Column | Conjunction) -> Conjunction:
        return Conjunction((self,)) & other

    def window(self, first: int, last: int) -> list[Column]:
        """The same at all offsets from `first` to `last`."""
        return [self[offset] for offset in range(first, last + 1)]

    def then(self, step: Step) -> Column:
        """One more step."""
        return replace(self, steps=(*self.steps, step))

    def lower(self) -> Column:
        """In lower case."""
        return self.then(Lower())

    def prefix(self, size: int) -> Column:
        """The first characters."""
        return self.then(Prefix(size))

    def suffix(self, size: int) -> Column:
        """The last characters."""
        return self.then(Suffix(size))

    def shape(self) -> Column:
        """Capitals, small letters and digits, as in XxXx."""
        return self.then(LetterShape())

    def is_(self, kind: str) -> Column:
        """A feature if the string is of a kind: see `maxmargin.features.Is`."""
        return self.then(Is(kind))

    def matches(self, pattern: str) -> Column:
        """Whether a regular expression of Python's matches: "true" or "false"."""
        return self.then(Matches(pattern))

    def find(self, pattern: str) -> Column:
        """What a regular expression of Python's matches first."""
        return self.then(Find(pattern))

    def cluster(
        self, clusters: Clusters | str | Path, size: int | None = None
    ) -> Column:
        """The cluster of the word, from a file of words and clusters."""
        table = clusters if isinstance(clusters, Clusters) else Clusters.read(clusters)
        return self.then(Cluster(table, size))

    def listed(self, gazetteer: Gazetteer | str | Path) -> Column:
        """The token's part in a name of a list: B, I, E or S."""
        if self.steps:
            raise ValueError("a gazetteer reads a column as it is, without other steps")
        if not isinstance(gazetteer, Gazetteer):
            gazetteer = Gazetteer.read(gazetteer)
        return replace(self, gazetteer=gazetteer)

    def outside_only(self) -> Column:
        """A feature only where the offset leads out of the sentence."""
        return replace(self, outside=OutsideMode.ONLY)

    def titled(self, title: str) -> Column:
        """Another text before the value in the names of features."""
        return replace(self, title=title)

    @property
    def text(self) -> str:
        """What stands before the value in the names of features."""
        if self.title:
            return self.title
        labels = [str(self.key), *(step.label for step in self.steps)]
        if self.gazetteer is not None:
            labels.append(self.gazetteer.name)
        if self.outside is OutsideMode.ONLY:
            labels.append("outside")
        return f"{'.'.join(labels)}[{self.offset}]="

    def slot(self, columns: Sequence[str]) -> Slot:
        """The slot, with the column by number."""
        key = self.key
        if isinstance(key, str):
            if key not in columns:
                known = ", ".join(columns) if columns else "none with a name"
                raise ValueError(
                    f"template {self.text!r}: there is no column {key!r}; columns "
                    f"are: {known}"
                )
            key = list(columns).index(key)
        return Slot(key, self.offset, self.steps, Place.TOKEN, self.outside,
                    self.gazetteer)  # fmt: skip


@dataclass(frozen=True)
class Conjunction:
    """A feature of several columns or tokens together; made by `&`."""

    parts: tuple[Column, ...] = ()
    title: str = ""

    def __and__(self, other: Column | Conjunction) -> Conjunction:
        more = other.parts if isinstance(other, Conjunction) else (other,)
        return replace(self, parts=self.parts + more)

    def titled(self, title: str) -> Conjunction:
        """Another text before the values in the names of features."""
        return replace(self, title=title)

    @property
    def text(self) -> str:
        """The texts of the parts."""
        return "|".join(part.text for part in self.parts)

    def template(self, columns: Sequence[str]) -> Template:
        """The template."""
        heads = [part.text for part in self.parts]
        if self.title:
            heads = [self.title] + [""] * (len(heads) - 1)
        literals = heads[:1] + [f"|{head}" for head in heads[1:]] + [""]
        slots = tuple(part.slot(columns) for part in self.parts)
        return Template(tuple(literals), slots, f"template {self.text!r}")
