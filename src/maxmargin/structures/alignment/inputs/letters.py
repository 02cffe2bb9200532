"""Which letters a track has, and what happens to all others.

Files of proteins hold letters that are none of the twenty amino acids (X, B, Z, U, *) and
soft-masked stretches in lower case. A rule, `unknown`, says what to do with them:

    "warn"      they are one more symbol, "?", and a warning counts them
    "ignore"    the same without the warning
    "error"     they are refused, and training takes every letter as it comes
    {"U": "C"}  some are read as others; the rest as with "warn"

Unless it is "error", a letter that is known in the other case only is read in that case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Ints
from maxmargin.core.data.foreign.biopython_records import from_biopython
from maxmargin.core.data.warned import warn

ALPHABETS = {"protein": "ACDEFGHIKLMNPQRSTVWY", "dna": "ACGT", "rna": "ACGU"}
# Codes that stand for several residues, and * for a stop.
AMBIGUOUS = {"protein": "BJOUXZ*", "dna": "NRYSWKMBDHVX", "rna": "NRYSWKMBDHVX"}
ENOUGH = {"protein": 15, "dna": 4, "rna": 4}  # letters that show which alphabet it is
RARE = 0.05  # share of the ambiguous codes, at most
RULES = ("warn", "ignore", "error")
GAP = "-.~"  # gaps in rows of alignments

UnknownRule = str | Mapping[str, str]


class UnknownLetterWarning(UserWarning):
    """Sequences have letters that the model does not know."""


def check_rule(unknown: UnknownRule) -> None:
    """Refuse rules that are not known."""
    if isinstance(unknown, Mapping) or unknown in RULES:
        return
    names = ", ".join(map(repr, RULES))
    raise ValueError(
        f"unknown={unknown!r} is not known: choose from {names}, or give a mapping of "
        "letters to letters"
    )


def named_alphabets(given: Any) -> Mapping[str, Sequence[Any]] | None:
    """A mapping from tracks to letters, from one or from the name of an alphabet.

    Examples
    --------
    >>> named_alphabets("dna")
    {'residue': 'ACGT'}
    """
    if given is None or isinstance(given, Mapping):
        return given
    if given not in ALPHABETS:
        names = ", ".join(map(repr, ALPHABETS))
        raise ValueError(
            f"alphabets={given!r} is not known: choose from {names}, or give a mapping "
            "from tracks to letters"
        )
    return {"residue": ALPHABETS[given]}


def recognise_alphabet(counts: Mapping[Any, int]) -> tuple[str, ...] | None:
    """The letters of proteins, DNA or RNA, if these are what was counted.

    Codes for several residues must be rare.

    Examples
    --------
    >>> "".join(recognise_alphabet(Counter(4 * "ACDEFGHIKLMNPQRstvwy" + "X")))
    'ACDEFGHIKLMNPQRSTVWY'
    >>> recognise_alphabet(Counter("ABBA")) is None
    True
    """
    if not all(isinstance(v, str) for v in counts):
        return None
    upper: Counter[str] = Counter()
    for letter, count in counts.items():
        upper[letter.upper()] += count
    for name, plain in ALPHABETS.items():
        rare = sum(upper[v] for v in AMBIGUOUS[name]) <= RARE * upper.total()
        known = len(set(upper) & set(plain)) >= ENOUGH[name]
        if rare and known and set(upper) <= set(plain) | set(AMBIGUOUS[name]):
            return tuple(plain)
    return None


def refuse_gaps(values: Any, where: str) -> None:
    """Sequences come without gaps: "-" would be learnt as a letter."""
    if isinstance(values, str) and "-" in values:
        raise ValueError(
            f"{where}, position {values.index('-')}: '-' is a gap, and sequences come "
            "without gaps; the alignment goes into y"
        )


def are_string_pairs(X: Sequence[Any]) -> bool:
    """Whether all examples are pairs of plain strings.

    Examples
    --------
    >>> are_string_pairs([("HEAG", "PAW"), ["E", "A"]]), are_string_pairs([("HEAG",)])
    (True, False)
    """
    if not set(map(type, X)) <= {tuple, list} or not set(map(len, X)) <= {2}:
        return False
    return set(map(type, chain.from_iterable(X))) <= {str}


class LetterReader:
    """Reads letters as the rule says, and counts what is not in the alphabet.

    Parameters
    ----------
    letters : mapping from track to letters
    unknown : {"warn", "ignore", "error"} or mapping
    """

    def __init__(
        self, letters: Mapping[str, Sequence[Any]], unknown: UnknownRule
    ) -> None:
        self.letters = letters
        self.unknown = unknown
        self.strange: dict[str, Counter[Any]] = {}
        self.first: dict[str, str] = {}
        self.places: dict[str, int] = {}
        self.folded = 0
        self._known = {name: set(known) for name, known in letters.items()}
        self._read: dict[int, tuple[Any, Any]] = {}  # by id; the original is kept alive

    def pairs(self, X: Sequence[Any]) -> Sequence[Any]:
        """Pairs of sequences with their letters read by the rule."""
        if self.unknown == "error" or self._all_known(X):
            return X
        out = []
        for pair in X:
            two = isinstance(pair, tuple | list) and len(pair) == 2
            out.append(tuple(map(self.sequence, pair)) if two else pair)
        return out

    def _all_known(self, X: Sequence[Any]) -> bool:
        """Whether all are pairs of strings without a letter that has to be looked at."""
        if not are_string_pairs(X):
            return False
        known, strings = self._known.get("residue"), set(chain.from_iterable(X))
        return known is None or _letters_of("".join(strings)) <= known

    def sequence(self, given: Any) -> Any:
        """One sequence; the same object where there is nothing to change."""
        if id(given) not in self._read:
            plain = from_biopython(given)
            if isinstance(plain, str):
                read: Any = self._track(plain, "residue")
            elif isinstance(plain, Mapping):
                read = {k: self._track(v, k) for k, v in plain.items()}
                if all(read[k] is v for k, v in plain.items()):
                    read = plain
            else:
                read = plain
            self._read[id(given)] = given, read
        return self._read[id(given)][1]

    def _track(self, values: Any, track: str) -> Any:
        known = self._known.get(track)
        if known is None or not isinstance(values, str | list | tuple):
            return values
        try:
            others = set(values) - known
        except TypeError:  # vectors
            return values
        swap: dict[Any, Any] = {
            v: w for v in others if (w := self._swap(v, known)) != v
        }
        if not swap:
            return values
        swaps = self.unknown if isinstance(self.unknown, Mapping) else {}
        self.folded += sum(v in swap and v not in swaps for v in values)
        read: list[Any] = [swap.get(v, v) for v in values]
        return "".join(read) if isinstance(values, str) else read

    def _swap(self, letter: Any, known: set[Any]) -> Any:
        """What a letter is read as: by the mapping, or in the other case."""
        if isinstance(self.unknown, Mapping) and letter in self.unknown:
            return self.unknown[letter]
        for other in (
            (letter.upper(), letter.lower()) if isinstance(letter, str) else ()
        ):
            if other in known:
                return other
            if isinstance(self.unknown, Mapping) and other in self.unknown:
                return self.unknown[other]
        return letter

    def codes(self, parts: Sequence[Any], names: Sequence[str], track: str) -> Ints:
        """Numbers of the letters of all sequences; one past the last if unknown."""
        letters = self.letters[track]
        number = {letter: k for k, letter in enumerate(letters)}
        quick = _text_codes(parts, number)
        if quick is not None and not (len(quick) and quick.min() < 0):
            return quick
        out = []
        for values, where in zip(parts, names, strict=True):
            row = [number.get(v, -1) for v in values]
            if -1 in row:
                k = row.index(-1)
                if self.unknown == "error":
                    raise ValueError(
                        f"{where}, position {k}: {values[k]!r} is not a letter of track "
                        f"{track!r} ({''.join(map(str, letters))})"
                    )
                self._count(values, row, track, f"{where}, position {k}")
            out.append(np.array(row, np.int64))
        codes: Ints = np.concatenate(out)
        codes[codes < 0] = len(letters)
        return codes

    def _count(self, values: Any, row: list[int], track: str, where: str) -> None:
        strange = [v for v, code in zip(values, row, strict=True) if code < 0]
        self.strange.setdefault(track, Counter()).update(strange)
        self.first.setdefault(track, where)
        self.places[track] = self.places.get(track, 0) + 1

    def warn(self) -> None:
        """Say once what was not in the alphabet."""
        if self.unknown in ("ignore", "error"):
            return
        said = []
        for track, counted in self.strange.items():
            each = ", ".join(f"{v} {n}" for v, n in counted.most_common(8))
            said.append(
                f"track {track!r}: {sum(counted.values())} unknown letters ({each}) in "
                f"{self.places[track]} sequences, the first in {self.first[track]}; they "
                f"count as one symbol, '?', beside "
                f"{''.join(map(str, self.letters[track]))}"
            )
        if self.folded:
            said.append(f"{self.folded} letters were read in the other case")
        if said:
            advice = " (unknown='ignore' is silent, unknown='error' refuses them)"
            warn("; ".join(said) + advice, UnknownLetterWarning)


def _points(text: str) -> NDArray[Any]:
    """Code points of a text."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _letters_of(text: str) -> set[str]:
    """Letters that occur in a text."""
    points = _points(text)
    if points.dtype == np.uint8:
        return {chr(k) for k in np.flatnonzero(np.bincount(points, minlength=1))}
    return set(text)


def _text_codes(parts: Sequence[Any], number: Mapping[Any, int]) -> Ints | None:
    """Numbers of the letters of strings laid end to end, -1 if unknown, by one table.

    None if some parts are not strings.

    Examples
    --------
    >>> _text_codes(["AC", "CA?"], {"A": 0, "C": 1}).tolist()
    [0, 1, 1, 0, -1]
    """
    if not set(map(type, parts)) <= {str}:
        return None
    points = _points("".join(parts))
    table = np.full(int(points.max(initial=0)) + 1, -1, np.int64)
    for letter, k in number.items():
        if isinstance(letter, str) and len(letter) == 1 and ord(letter) < len(table):
            table[ord(letter)] = k
    return table[points]
