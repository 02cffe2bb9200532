"""Annotated sequences as arrays: letters checked, views turned into symbols.

A sequence is a string of residues, or a mapping from track names to strings, lists or,
for profiles, arrays (length, width); a key "name" names the record in messages. Each
view gets a table of the symbols that occur when it is bound; a symbol that never
occurred is coded as one past the last, `other`, whose weights stay zero. Letters outside of
the alphabet are handled by the rule of `letters.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    pointers,
    real_numbers,
    usable,
)
from maxmargin.core.data.foreign.biopython_records import from_biopython
from maxmargin.core.data.validation import (
    check_distinct,
    check_range,
    check_types,
    require,
)
from maxmargin.structures.alignment.inputs.letters import (
    LetterReader,
    are_string_pairs,
    recognise_alphabet,
    refuse_gaps,
)
from maxmargin.structures.alignment.inputs.views import View

LARGEST = 2**62  # symbols of a view are numbered in an int64


class Side(NamedTuple):
    """The distinct sequences on one side of all pairs."""

    ptr: Ints  # (sequences + 1,) positions; slots start at ptr + sequence
    codes: Labels  # (views, positions) symbol of each view
    slots: Labels  # (slot views, positions + sequences) symbol around each slot
    real: Floats  # (positions, widths of the real views together)
    joint: Labels  # (positions,) number of the combination of letters, no windows
    first: Ints  # (combinations,) a position that has it
    names: tuple[str, ...] = ()  # of the records, for messages


class MatchCells(NamedTuple):
    """Which two positions a match of (i, j) compares, each two positions once."""

    ptr: Ints  # (n + 1,) cells of each pair of sequences, row by row
    row: Labels  # (cells,) row of `vectors`
    vectors: Any  # (rows, width) both positions side by side, or a map of them


class SequencePairs(NamedTuple):
    """Encoded pairs of sequences; a sequence that occurs often is stored once."""

    left: Ints  # (n,) sequence of side s
    right: Ints  # (n,) sequence of side t
    s: Side
    t: Side
    cells: MatchCells | None = None

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.left)

    @property
    def sizes(self) -> tuple[Ints, Ints]:
        """Lengths of both sequences of each pair."""
        return np.diff(self.s.ptr)[self.left], np.diff(self.t.ptr)[self.right]

    def name(self, q: int) -> str:
        """Such as "pair 3 (1abc, 2xyz)", for messages."""
        both = [self.s.names[self.left[q]], self.t.names[self.right[q]]]
        known = ", ".join(name for name in both if name)
        return f"pair {q} ({known})" if known else f"pair {q}"


def own_name(sequence: Any) -> str:
    """Name that a record brings along, or nothing."""
    if type(sequence) is str or not isinstance(sequence, Mapping):
        return ""
    return str(sequence.get("name", ""))


def own_names(sequences: Sequence[Any]) -> tuple[str, ...]:
    """Names that records bring along, or nothing."""
    if set(map(type, sequences)) == {str}:
        return ("",) * len(sequences)
    return tuple(map(own_name, sequences))


def record_name(sequence: Any, otherwise: str) -> str:
    """Name of a record, for messages."""
    known = own_name(sequence)
    return f"{otherwise} ({known})" if known else otherwise


def tracks_of(sequence: Any, where: str) -> dict[str, Any]:
    """Tracks of a sequence by name; all must have one length, not zero."""
    sequence = from_biopython(sequence)
    if isinstance(sequence, Mapping):
        tracks = {
            k: _track(v, f"{where}: track {k!r}")
            for k, v in sequence.items()
            if k != "name"
        }
    else:
        tracks = {"residue": _track(sequence, f"{where}: track 'residue'")}
    if sequence is None:
        raise ValueError(f"{where}: there is no sequence, but None")
    if not tracks:
        raise ValueError(f"{where}: the sequence has no tracks")
    sizes = {name: len(values) for name, values in tracks.items()}
    first, size = next(iter(sizes.items()))
    for name, other in sizes.items():
        if other != size:
            raise ValueError(
                f"{where}: track {name!r} has {other} positions, {first!r} has {size}"
            )
    if size == 0:
        raise ValueError(f"{where}: the sequence is empty")
    return tracks


def _track(values: Any, where: str) -> Any:
    """Letters as they are; numbers with a fraction, and lists of numbers, as vectors."""
    if isinstance(values, str) or values is None or is_real(values):
        return values
    if not hasattr(values, "__len__") or isinstance(values, Mapping):
        raise ValueError(
            f"{where} is a {type(values).__name__}: a string, a list of letters or an "
            "array (length, width) is needed"
        )
    kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
    some = [v for v in values[:1]] if len(values) else []
    nested = any(isinstance(v, list | tuple | np.ndarray) for v in some)
    if not nested and kind != "f" and not any(isinstance(v, float) for v in values):
        return values
    try:
        numbers = real_numbers(values)
    except (TypeError, ValueError):
        raise ValueError(
            f"{where} is neither letters nor an array (length, width) of numbers"
        ) from None
    if numbers.ndim > 2:
        raise ValueError(f"{where} has {numbers.ndim} dimensions, not one or two")
    return numbers.reshape(len(numbers), -1)


class Places(Sequence[str]):
    """Where strings stand first among the pairs, in words that are made when asked for.

    Examples
    --------
    >>> Places(np.array([0, 2]), "second")[1]
    'pair 2, second sequence'
    """

    def __init__(self, pairs: Ints, side: str) -> None:
        self.pairs, self.side = pairs, side

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return Places(self.pairs[k], self.side)
        return f"pair {self.pairs[k]}, {self.side} sequence"


def _distinct_strings(strings: Sequence[str], side: str) -> tuple[Any, Ints]:
    """Distinct strings with their places, and which of them each pair has."""
    seen: dict[str, int] = {}
    which = np.array([seen.setdefault(s, len(seen)) for s in strings], np.int64)
    first = np.unique(which, return_index=True)[1]
    return (list(seen), Places(first, side)), which


def distinct_sequences(X: Sequence[Any]) -> tuple[Any, Any, tuple[Ints, Ints]]:
    """Distinct sequences on each side with names for messages; which each pair has."""
    if are_string_pairs(X):
        left, a = _distinct_strings([pair[0] for pair in X], "first")
        right, b = _distinct_strings([pair[1] for pair in X], "second")
        return left, right, (a, b)
    sides: list[tuple[list[Any], list[str]]] = [([], []), ([], [])]
    seen: list[dict[Any, int]] = [{}, {}]
    which = np.empty((2, len(X)), np.int64)
    for q, pair in enumerate(X):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"pair {q}: two sequences are needed")
        for side, given in enumerate(pair):
            sequence = given if type(given) is str else from_biopython(given)
            key = sequence if isinstance(sequence, str) else id(given)
            if key not in seen[side]:
                seen[side][key] = len(sides[side][0])
                where = f"pair {q}, {('first', 'second')[side]} sequence"
                sides[side][0].append(sequence)
                sides[side][1].append(record_name(sequence, where))
            which[side, q] = seen[side][key]
    return sides[0], sides[1], (which[0], which[1])


def is_real(values: Any) -> bool:
    """Whether a track holds vectors."""
    return isinstance(values, np.ndarray) and values.ndim == 2


@dataclass(frozen=True)
class Symbols:
    """Numbers the symbols of views; made by `learn_symbols`."""

    letters: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)
    keys: dict[tuple[View, bool], Ints] = field(default_factory=dict)
    unknown: bool = False  # whether letters outside of the alphabet have a symbol

    def validate(self) -> None:
        """Symbols of each view, ascending, within the combinations of its letters."""
        check_types(self)
        for name, letters in self.letters.items():
            check_distinct(letters, f"letters of track {name!r}")
        require(all(w >= 0 for w in self.widths.values()), "a track has no width")
        for (view, slot), keys in self.keys.items():
            missing = [t for t in view.tracks if t not in self.letters]
            require(not missing and not view.real, f"view {view.name!r} lacks letters")
            require(keys.ndim == 1, f"view {view.name!r}: symbols are not a list")
            require((keys[1:] > keys[:-1]).all(), "symbols are not in order")
            most, reach = 1 + view.ends, range(2 if slot else 2 * view.reach + 1)
            for track in view.tracks:
                size = len(self.letters[track] if view.bins is None else view.bins)
                for _ in reach:
                    most *= size + 1
                    require(most <= LARGEST, f"view {view.name!r} has too many symbols")
            check_range(keys, 0, most, f"symbols of view {view.name!r}")
            if self._is_letter(view, slot) and view.tracks:
                whole = len(keys) == len(self.letters[view.tracks[0]])
                require(whole, f"view {view.name!r} lacks a letter")
            least = 2 if view.ends else 1
            require(len(keys) >= least, f"view {view.name!r} has no symbols")

    def size(self, view: View, slot: bool = False) -> int:
        """Number of symbols, `other` included where there may be one."""
        if view.real:
            return self.widths[view.tracks[0]]
        known = len(self.keys[view, slot])
        return known + (0 if self._complete(view, slot) else 1)

    def names(self, view: View, slot: bool = False) -> list[str]:
        """A name for each symbol."""
        if view.real:
            return [f"{view.name}.{k}" for k in range(self.size(view))]
        if view.ends:
            return [view.name] * 2
        names = [
            f"{view.name}={self._spell(view, slot, int(key))}"
            for key in self.keys[view, slot]
        ]
        return names + [f"{view.name}=?"] * (self.size(view, slot) - len(names))

    def _is_letter(self, view: View, slot: bool) -> bool:
        """Whether the symbols are the letters of one track, or there is only one."""
        plain = view.reach == 0 and view.bins is None and not slot
        return plain and len(view.tracks) <= 1

    def _complete(self, view: View, slot: bool) -> bool:
        """Whether there is no symbol for what training did not have."""
        if view.ends:
            return True
        return self._is_letter(view, slot) and not (self.unknown and view.tracks)

    def _spell(self, view: View, slot: bool, key: int) -> str:
        """Letters of a symbol, `.` beyond the ends."""
        width = 2 if slot else 2 * view.reach + 1
        groups = [[str(v) for v in view.bins or self.letters[t]] for t in view.tracks]
        out: list[str] = []
        for group in reversed([g for g in groups for _ in range(width)]):
            key, code = divmod(key, len(group) + 1)
            out.append(group[code] if code < len(group) else ".")
        return ",".join(reversed(out)) or "*"


class LetterCodes(NamedTuple):
    """Sequences laid end to end: letter codes per track."""

    ptr: Ints
    letters: dict[str, Ints]
    real: dict[str, Floats]


def lay_out(
    sequences: Sequence[Any], names: Sequence[str], views: Sequence[View],
    reader: LetterReader, widths: Mapping[str, int],
) -> LetterCodes:  # fmt: skip
    """Letter codes of all tracks that the views use."""
    plain = {name for v in views for name in v.tracks} == {"residue"}
    if plain and set(map(type, sequences)) == {str} and all(sequences):
        ptr = pointers([len(s) for s in sequences])
        return LetterCodes(
            ptr, {"residue": reader.codes(sequences, names, "residue")}, {}
        )
    tracks = [tracks_of(s, name) for s, name in zip(sequences, names, strict=True)]
    ptr = pointers([len(next(iter(t.values()))) for t in tracks])
    real = {v.tracks[0] for v in views if v.real}
    used = sorted({name for v in views for name in v.tracks})
    for known, where in zip(tracks, names, strict=True):
        for name in used:
            if name not in known:
                raise ValueError(f"{where}: track {name!r} is missing")
            if is_real(known[name]) != (name in real):
                kind = "vectors" if name in real else "letters"
                raise ValueError(f"{where}: track {name!r} must hold {kind}")
    codes, vectors = {}, {}
    for name in used:
        parts = [t[name] for t in tracks]
        if name in real:
            vectors[name] = _stacked(parts, names, name, widths[name])
        else:
            codes[name] = reader.codes(parts, names, name)
    return LetterCodes(ptr, codes, vectors)


def learn_letters(
    sequences: Sequence[Any], names: Sequence[str],
    given: Mapping[str, Sequence[Any]] | None, as_they_come: bool = True,
) -> tuple[dict[str, tuple[Any, ...]], dict[str, int]]:  # fmt: skip
    """Letters of each track, and widths of real ones.

    Letters are those given or those that occur; unless they are taken as they come, the
    twenty where the residues are amino acids, and the four where they are nucleotides.
    """
    found: dict[str, Counter[Any]] = {}
    widths: dict[str, int] = {}
    for sequence, where in zip(sequences, names, strict=True):
        for name, values in tracks_of(sequence, where).items():
            if is_real(values):
                widths.setdefault(name, values.shape[1])
            else:
                found.setdefault(name, Counter()).update(values)
                if name == "residue" and name not in (given or {}) and not as_they_come:
                    refuse_gaps(values, where)
    letters = {name: tuple(sorted(seen)) for name, seen in found.items()}
    if not as_they_come:
        plain = recognise_alphabet(found.get("residue", {}))
        letters.update({} if plain is None else {"residue": plain})
    letters.update({k: tuple(v) for k, v in (given or {}).items()})
    return letters, widths


def symbol_keys(
    at: LetterCodes, view: View, slot: bool, letters: Mapping[str, Sequence[Any]]
) -> Ints:
    """Number of the combination of letters that each position or slot shows."""
    if not slot and view.reach == 0 and view.bins is None and len(view.tracks) < 2:
        if not view.tracks:
            return np.zeros(int(at.ptr[-1]), np.int64)
        return at.letters[view.tracks[0]]
    sizes = np.diff(at.ptr)
    if slot:
        where = np.repeat(at.ptr[:-1], sizes + 1)
        slots = pointers(sizes + 1)
        inside = np.arange(slots[-1]) - np.repeat(slots[:-1], sizes + 1)
        length, offsets = np.repeat(sizes, sizes + 1), range(-1, 1)
    else:
        where = np.repeat(at.ptr[:-1], sizes)
        inside = np.arange(at.ptr[-1]) - where
        length = np.repeat(sizes, sizes)
        offsets = range(-view.reach, view.reach + 1)
    if view.ends:  # 0: inside, 1: before the first or after the last letter
        return ((inside == 0) | (inside == length)).astype(np.int64)
    key = np.zeros(len(inside), np.int64)
    most = 1
    for track in view.tracks:
        codes, beyond = _binned(at.letters[track], letters[track], view.bins)
        for offset in offsets:
            most *= beyond + 1
            there = inside + offset
            valid = (there >= 0) & (there < length)
            shown = codes[where + np.clip(there, 0, length - 1)]
            key = key * (beyond + 1) + np.where(valid, shown, beyond)
    if most > LARGEST:
        raise ValueError(
            f"view {view.name!r} has {most:.1e} possible symbols: use bins, a smaller "
            "reach or fewer tracks"
        )
    return key


def learn_symbols(
    parts: Sequence[tuple[LetterCodes, Sequence[tuple[View, bool]]]],
    letters: dict[str, tuple[Any, ...]], widths: dict[str, int], unknown: bool = False,
) -> Symbols:  # fmt: skip
    """Tables of the symbols that occur on either side."""
    keys: dict[tuple[View, bool], Ints] = {}
    for at, views in parts:
        for view, slot in views:
            if view.real:
                continue
            if view.reach == 0 and len(view.tracks) == 1 and not (view.bins or slot):
                seen = np.arange(len(letters[view.tracks[0]]))
            elif view.ends:
                seen = np.arange(2)
            else:
                seen = np.unique(symbol_keys(at, view, slot, letters))
            known = keys.get((view, slot))
            keys[view, slot] = seen if known is None else np.union1d(known, seen)
    return Symbols(letters, widths, keys, unknown)


def encode_side(
    at: LetterCodes, symbols: Symbols, views: Sequence[View], slots: Sequence[View]
) -> Side:
    """Symbols of all views at all positions, and of the slot views at all slots."""
    rows = [_codes(at, v, False, symbols) for v in views if not v.real]
    plain = [v for v in views if not v.real]
    around = [_codes(at, v, True, symbols) for v in slots]
    total, n = int(at.ptr[-1]), len(at.ptr) - 1
    joint = np.zeros(total, np.int64)
    for row, view in zip(rows, plain, strict=True):
        if view.reach == 0 and view.bins is None:
            joint = _renumbered(joint * (row.max() + 1) + row)
    first = np.full(int(joint.max(initial=-1)) + 1, total)
    first[joint[::-1]] = np.arange(total)[::-1]  # of several the first, written last
    real = [at.real[v.tracks[0]] for v in views if v.real]
    return Side(
        at.ptr,
        np.array(rows, np.int32).reshape(len(rows), total),
        np.array(around, np.int32).reshape(len(around), total + n),
        np.concatenate(real, axis=1) if real else np.empty((total, 0)),
        joint.astype(np.int32),
        first.astype(np.int64),
    )


def shown_letters(
    symbols: Symbols, views: Sequence[View], side: Side, k: int
) -> list[str]:
    """Sequence k in letters: of its residues, or else of the first track of letters.

    Empty if no view shows single letters.
    """
    coded = [view for view in views if not view.real]
    plain = [v for v in coded if not v.reach and v.bins is None and len(v.tracks) == 1]
    plain.sort(key=lambda v: v.tracks != ("residue",))
    if not plain:
        return []
    known = [*map(str, symbols.letters[plain[0].tracks[0]]), "?"]
    codes = side.codes[coded.index(plain[0]), side.ptr[k] : side.ptr[k + 1]]
    return [known[min(int(c), len(known) - 1)] for c in codes]


def _renumbered(keys: Ints) -> Ints:
    """Keys numbered in ascending order, without gaps.

    Examples
    --------
    >>> _renumbered(np.array([7, 3, 7, 9])).tolist()
    [1, 0, 1, 2]
    """
    most = int(keys.max(initial=-1)) + 1
    if most > 4 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True)[1]
    seen = np.zeros(most, np.int64)
    seen[keys] = 1
    return (np.cumsum(seen) - 1)[keys]


def _codes(at: LetterCodes, view: View, slot: bool, symbols: Symbols) -> Ints:
    known = symbols.keys[view, slot]
    key = symbol_keys(at, view, slot, symbols.letters)
    if len(known) and known[-1] == len(known) - 1:  # 0, 1, 2, ..
        return np.minimum(key, len(known))
    code = np.searchsorted(known, key)
    missing = (code == len(known)) | (known[np.minimum(code, len(known) - 1)] != key)
    return np.where(missing, len(known), code)


def _binned(
    codes: Ints, letters: Sequence[Any], bins: Sequence[str] | None
) -> tuple[Ints, int]:
    if bins is None:
        return codes, len(letters)
    group = {letter: k for k, members in enumerate(bins) for letter in members}
    binned = [group.get(v, len(bins)) for v in letters] + [len(bins)]  # unknown letters
    return np.array(binned)[codes], len(bins)


def _stacked(
    parts: Sequence[Any], names: Sequence[str], track: str, width: int
) -> Floats:
    numbers = []
    for given, where in zip(parts, names, strict=True):
        try:
            values = real_numbers(given)
        except ValueError as wrong:
            raise ValueError(f"{where}: track {track!r}: {wrong}") from None
        if values.shape[1] != width:
            raise ValueError(
                f"{where}: track {track!r} has {values.shape[1]} numbers per position, "
                f"not {width}"
            )
        if not usable(values).all():
            k = int(np.argwhere(~usable(values))[0, 0])
            raise ValueError(
                f"{where}, position {k}: track {track!r} is not finite, or too large"
            )
        numbers.append(values)
    return np.concatenate(numbers)
