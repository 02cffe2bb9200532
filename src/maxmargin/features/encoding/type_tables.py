"""What the types of each source turn into: values, jumps, and rows of features.

A *type* is a distinct string of a source. Types are numbered: first those outside of
sentences, then those of the training sentences, then those that are met later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels, Ragged, pointers
from maxmargin.features.encoding import loops
from maxmargin.features.encoding.plan import CODES, KindPlan, TemplatePlan
from maxmargin.features.steps import Values

_NUMBER = re.compile(r"\s*([+-]?\d{1,9})")


class KeyTable(NamedTuple):
    """Keys of the features of one kind, and their hash table."""

    table: Ints
    ptr: Ints
    data: Labels

    @staticmethod
    def of(keys: Ragged) -> KeyTable:
        """The table of keys that all differ."""
        table, double = loops.key_table(keys.ptr, keys.data)
        if double >= 0:
            raise ValueError("two features have the same key")
        return KeyTable(table, keys.ptr, keys.data)


class TypeTables(NamedTuple):
    """What types turn into; for unigrams and bigrams where there are two."""

    sizes: Ints  # number of types of each source
    value_at: Ints  # value of type x under atom a: values[value_at[a] + x]
    values: Labels  # number of a string, or -1
    jumps: tuple[tuple[Ints, Ints], ...]  # as values, by place
    rows: tuple[tuple[Ints, Ints, Labels], ...]  # see `loops.type_rows`


def type_strings(
    plan: TemplatePlan, columns: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Strings of the known types of each source; first those outside."""
    return [
        [*plan.symbols, *(CODES if source.gazetteer else columns[source.column])]
        for source in plan.sources
    ]


def type_values(
    plan: TemplatePlan,
    strings: Sequence[list[str]],
    outside: int,
    known: Sequence[Mapping[str, int]],
) -> tuple[Ints, Labels]:
    """(first entry of each atom, values): numbers of strings in `known`, or -1.

    The first `outside` strings of each source lie outside of sentences. `known` has
    the strings of each atom, or of all atoms.
    """
    ends, parts = [0], [np.empty(0, np.int32)]
    for found, numbers in zip(_atom_values(plan, strings, outside), known):
        number: Callable[[Any, int], int] = numbers.get  # None is not a key
        if found:
            ids = map(number, found, repeat(-1))
            parts.append(np.fromiter(ids, np.int32, len(found)))
        ends.append(ends[-1] + len(found))
    return np.array(ends, np.int64), np.concatenate(parts)


def atom_numbers(
    ends: Ints, values: Labels, strings: Sequence[str]
) -> list[dict[str, int]]:
    """Numbers of the strings that each atom makes of known types.

    What an atom has not made before has no feature. These tables are much smaller
    than the one of all strings, so that they stay in the cache of the processor.
    """
    every = [np.unique(values[a:b]).tolist() for a, b in pairwise(ends.tolist())]
    return [{strings[v]: v for v in some if v >= 0} for some in every]


def learn_values(
    plan: TemplatePlan, strings: Sequence[list[str]]
) -> tuple[Ints, Labels, dict[str, int]]:
    """The same for all strings that there are, and their numbers (with gaps)."""
    known: dict[Any, int] = {None: -1}
    ends, parts = [0], [np.empty(0, np.int32)]
    for found in _atom_values(plan, strings, len(plan.symbols)):
        ids = map(known.setdefault, found, count(ends[-1]))
        parts.append(np.fromiter(ids, np.int32, len(found)))
        ends.append(ends[-1] + len(found))
    del known[None]
    return np.array(ends, np.int64), np.concatenate(parts), known


def _atom_values(
    plan: TemplatePlan, strings: Sequence[list[str]], outside: int
) -> Iterator[Values]:
    for atom in plan.atoms:
        some = strings[atom.source]
        coded = plan.sources[atom.source].gazetteer is not None
        yield atom.values(some, outside, coded) if some else []


def type_jumps(
    plan: TemplatePlan, kind: KindPlan, strings: Sequence[list[str]]
) -> tuple[Ints, Ints]:
    """(first entry of each place, jumps): the number at the beginning of a string."""
    if loops.JUMP not in kind.place_mode:
        return np.zeros(len(kind.place_mode) + 1, np.int64), np.empty(0, np.int64)
    parts = []
    for mode, via in zip(kind.place_mode, kind.place_via):
        texts = strings[via] if mode == loops.JUMP else []
        found = map(_NUMBER.match, texts)
        parts.append([0 if m is None else int(m.group(1)) for m in found])
    flat = np.array([jump for part in parts for jump in part], np.int64)
    return pointers([len(part) for part in parts]), flat


def tables_of(
    plan: TemplatePlan,
    strings: Sequence[list[str]],
    values: tuple[Ints, Labels],
    keys: Sequence[KeyTable],
) -> TypeTables:
    """All tables for types with these strings and values."""
    sizes = np.array([len(some) for some in strings], np.int64)
    rows = [
        loops.type_rows(
            sizes, kind.block_source, kind.block_ptr, kind.single_skeleton,
            kind.single_atom, *values, *table,
        )
        for kind, table in zip(plan.kinds, keys)
    ]  # fmt: skip
    jumps = [type_jumps(plan, kind, strings) for kind in plan.kinds]
    return TypeTables(sizes, *values, tuple(jumps), tuple(rows))


def padded_types(
    plan: TemplatePlan,
    ptr: Ints,
    flat: Mapping[int, Labels],
    words: Mapping[int, Labels],
) -> Labels:
    """Types of the tokens under each source (sources, padded tokens).

    Parameters
    ----------
    plan : TemplatePlan
    ptr : array (n + 1,)
        First token of each sentence.
    flat : mapping from column to array
        Type of each token.
    words : mapping from source to array
        Of a gazetteer: number of each type (but those outside) among its words.
    """
    outside = len(plan.symbols)
    padded = int(ptr[-1]) + outside * (len(ptr) - 1)
    out = np.empty((len(plan.sources), padded), np.int32)
    for s, source in enumerate(plan.sources):
        types = flat[source.column]
        if source.gazetteer is not None:
            codes = source.gazetteer.trie.codes(ptr, words[s][types - outside])
            types = codes + np.int32(outside)
        loops.pad(ptr, types, plan.reach, out[s])
    return out
