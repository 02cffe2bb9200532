"""Word lists from files: gazetteers of names, and clusters of words.

gazetteer   one name per line, of one or more words       Buenos Aires
clusters    a word and its cluster on each line           ana<tab>0110
            or, as Brown clusters come, the other way     0110<tab>ana<tab>27
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from maxmargin.core.data.arrays import Labels
from maxmargin.features.encoding.phrases import PhraseTrie
from maxmargin.features.encoding.strings import Strings
from maxmargin.io.text import FormatError, numbered_lines


@dataclass(frozen=True, eq=False)
class Gazetteer:
    """Names of one or more words, to be found in sentences.

    From left to right the longest name that begins at a token is taken; its tokens get
    B, I .. I, E, or S if it is a single token. All other tokens get nothing.

    Parameters
    ----------
    phrases : Strings
        Names, their words divided by single blanks.
    name : str
        What it is called in the names of features.
    lower : bool
        Whether case is ignored.

    Examples
    --------
    >>> places = Gazetteer.of(["Buenos Aires", "Lima"], name="place")
    >>> len(places), places.phrases.all
    (2, ['buenos aires', 'lima'])
    """

    phrases: Strings
    name: str = "gazetteer"
    lower: bool = True

    @classmethod
    def of(
        cls, names: Iterable[str], name: str = "gazetteer", lower: bool = True
    ) -> Self:
        """A gazetteer of the given names; empty ones are left out."""
        joined = (" ".join(n.split()) for n in names)
        plain = (n.lower() if lower else n for n in joined if n)
        return cls(Strings.of(dict.fromkeys(plain)), name, lower)

    @classmethod
    def read(
        cls,
        path: str | Path,
        name: str | None = None,
        lower: bool = True,
        encoding: str = "utf-8",
    ) -> Self:
        """Read a file with one name per line, plain or gzip."""
        lines = [line for _, line in numbered_lines(path, encoding)]
        out = cls.of(lines, name or _stem(path), lower)
        if len(out) == 0:
            raise FormatError(path, 1, "one name per line is expected; there is none")
        return out

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Names have single blanks between their words."""
        if any(p != " ".join(p.split()) or not p for p in self.phrases):
            raise ValueError(f"gazetteer {self.name!r}: a name has stray white space")

    def __len__(self) -> int:
        return len(self.phrases)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the names alone."""
        return Gazetteer, (self.phrases, self.name, self.lower)

    @cached_property
    def trie(self) -> PhraseTrie:
        """The names as a trie."""
        return PhraseTrie.of(self.phrases, self.lower)

    def __repr__(self) -> str:
        return f"Gazetteer({self.name!r}, {len(self)} names)"


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each word, say of Brown clustering.

    Parameters
    ----------
    words : Strings
    labels : Strings
        Names of the clusters.
    label : array of int32
        Cluster of each word.
    name : str
        What it is called in the names of features.

    Examples
    --------
    >>> Clusters.from_dict({"lunes": "0110", "martes": "0110"}).of["lunes"]
    '0110'
    """

    words: Strings
    labels: Strings
    label: Labels
    name: str = "cluster"

    @staticmethod
    def from_dict(table: Mapping[str, str], name: str = "cluster") -> Clusters:
        """Clusters by word."""
        labels = {label: k for k, label in enumerate(dict.fromkeys(table.values()))}
        label = np.array([labels[c] for c in table.values()], np.int32)
        return Clusters(Strings.of(table), Strings.of(labels), label, name)

    @staticmethod
    def read(
        path: str | Path, name: str | None = None, encoding: str = "utf-8"
    ) -> Clusters:
        """Read a file of words and clusters; in either order, see above."""
        rows: list[tuple[int, list[str]]] = []
        for number, line in numbered_lines(path, encoding):
            cells = line.split("\t") if "\t" in line else line.split()
            if not line.strip():
                continue
            if len(cells) not in (2, 3) or not cells[0] or not cells[1]:
                raise FormatError(
                    path, number,
                    f"a word and its cluster are expected, not {len(cells)} columns",
                )  # fmt: skip
            rows.append((number, cells))
        if not rows:
            raise FormatError(path, 1, "a word and its cluster are expected")
        brown = all(set(cells[0]) <= {"0", "1"} for _, cells in rows)
        table: dict[str, str] = {}
        for number, cells in rows:
            word, label = (cells[1], cells[0]) if brown else (cells[0], cells[1])
            if table.setdefault(word, label) != label:
                raise FormatError(
                    path, number,
                    f"{word!r} is in cluster {table[word]!r} already, not in {label!r}",
                )  # fmt: skip
        return Clusters.from_dict(table, name or _stem(path))

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Each word has a cluster."""
        label: Any = self.label
        fits = label.dtype == np.int32 and label.shape == (len(self.words),)
        if not fits or (label < 0).any() or (label >= len(self.labels)).any():
            raise ValueError(f"clusters {self.name!r}: a word has no cluster")

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Clusters({self.name!r}, {len(self)} words)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arrays alone."""
        return Clusters, (self.words, self.labels, self.label, self.name)

    @cached_property
    def of(self) -> dict[str, str]:
        """Cluster by word."""
        names = self.labels.all
        return {w: names[k] for w, k in zip(self.words, self.label.tolist())}


def _stem(path: str | Path) -> str:
    return Path(path).name.split(".")[0]
