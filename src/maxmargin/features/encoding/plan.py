"""Templates taken apart: which columns, places and strings they need, as arrays.

source   a column, or the part of its tokens in the names of a gazetteer
place    where a slot reads: offset from the token, in the sentence, or by a jump
atom     a source with the steps of a slot: what the types of a source turn into
block    all templates with one slot that read one source at one place
joint    a template of several slots (or none)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, pointers
from maxmargin.features.encoding.phrases import PhraseTrie
from maxmargin.features.slots import OutsideMode, Place, Slot, Template
from maxmargin.features.steps import Step, Values, run_steps
from maxmargin.features.tables import Gazetteer

CODES = ("", "B", "I", "E", "S")  # types of the part in a name of a gazetteer
FAR_JUMP = 5  # distance from which symbols of the outside are all the same


class Source(NamedTuple):
    """A column, or the part of its tokens in the names of a gazetteer."""

    column: int
    gazetteer: Gazetteer | None


class Atom(NamedTuple):
    """What the types of a source turn into."""

    source: int
    steps: tuple[Step, ...]
    outside: OutsideMode

    def values(self, types: list[str], outside: int, coded: bool) -> Values:
        """The string of each type, or None; the first `outside` types lie outside."""
        if self.outside is OutsideMode.ONLY:
            return [""] * outside + [None] * (len(types) - outside)
        skipped = outside if self.outside is OutsideMode.NOTHING else 0
        inside = types[skipped:] if skipped else types
        if coded:
            found: Values = [value or None for value in inside]
        else:
            found = run_steps(self.steps, inside)
        nothing: Values = [None] * skipped
        return nothing + found if skipped else found


@dataclass(frozen=True)
class KindPlan:
    """Templates of one kind (unigrams or bigrams) as arrays of integers."""

    templates: list[Template]  # one for each skeleton (literal text)
    place_mode: Ints
    place_offset: Ints
    place_via: Ints  # source of the column that a jump reads
    block_source: Ints
    block_place: Ints
    block_ptr: Ints
    single_skeleton: Ints
    single_atom: Ints
    joint_ptr: Ints
    joint_skeleton: Ints
    slot_source: Ints
    slot_place: Ints
    slot_atom: Ints


class TemplatePlan:
    """All templates taken apart.

    Parameters
    ----------
    unigrams, bigrams : sequences of Template
    symbol : str
        "_B" or "_x", see `Templates`.
    """

    def __init__(
        self, unigrams: Sequence[Template], bigrams: Sequence[Template], symbol: str
    ) -> None:
        self.sources: list[Source] = []
        self.atoms: list[Atom] = []
        slots = [s for t in (*unigrams, *bigrams) for s in t.slots]
        far = [FAR_JUMP if s.place is Place.JUMP else abs(s.offset) for s in slots]
        self.reach = max(far, default=0)
        self.symbols = _symbols(symbol, self.reach)
        self.kinds = self._kind(unigrams), self._kind(bigrams)

    @property
    def columns(self) -> list[int]:
        """Columns that are read."""
        return sorted({source.column for source in self.sources})

    def trie(self, source: int) -> PhraseTrie:
        """Names of the gazetteer of a source."""
        gazetteer = self.sources[source].gazetteer
        assert gazetteer is not None
        return gazetteer.trie

    def _source(self, column: int, gazetteer: Gazetteer | None) -> int:
        return _number(self.sources, Source(column, gazetteer))

    def _kind(self, templates: Sequence[Template]) -> KindPlan:
        skeletons: dict[tuple[str, ...], Template] = {}
        places: list[tuple[int, int, int]] = []
        blocks: dict[tuple[int, int], list[tuple[int, int]]] = {}
        joints: list[tuple[int, list[tuple[int, int, int]]]] = []
        for template in templates:
            skeletons.setdefault(template.literals, template)
            skeleton = list(skeletons).index(template.literals)
            read = [self._slot(slot, places) for slot in template.slots]
            if len(read) == 1:
                source, place, atom = read[0]
                blocks.setdefault((source, place), []).append((skeleton, atom))
            else:
                joints.append((skeleton, read))
        singles = [pair for some in blocks.values() for pair in some]
        slots = [slot for _, some in joints for slot in some]
        mode, offset, via = _columns(places, 3)
        block_source, block_place = _columns(list(blocks), 2)
        single_skeleton, single_atom = _columns(singles, 2)
        slot_source, slot_place, slot_atom = _columns(slots, 3)
        return KindPlan(
            templates=list(skeletons.values()),
            place_mode=mode,
            place_offset=offset,
            place_via=via,
            block_source=block_source,
            block_place=block_place,
            block_ptr=pointers([len(some) for some in blocks.values()]),
            single_skeleton=single_skeleton,
            single_atom=single_atom,
            joint_ptr=pointers([len(some) for _, some in joints]),
            joint_skeleton=np.array([skeleton for skeleton, _ in joints], np.int64),
            slot_source=slot_source,
            slot_place=slot_place,
            slot_atom=slot_atom,
        )

    def _slot(
        self, slot: Slot, places: list[tuple[int, int, int]]
    ) -> tuple[int, int, int]:
        """Numbers of the source, the place and the atom of a slot."""
        source = self._source(slot.column, slot.gazetteer)
        atom = _number(self.atoms, Atom(source, slot.steps, slot.outside))
        offset, via = slot.offset, 0
        if slot.place is Place.JUMP:
            offset, via = 0, self._source(slot.offset, None)
        place = _number(places, (slot.place.value, offset, via))
        return source, place, atom


def _symbols(symbol: str, reach: int) -> list[str]:
    """Strings of the types outside, as they lie around a padded sentence."""

    def named(distance: int) -> str:
        if symbol == "_x" and abs(distance) >= FAR_JUMP:
            return f"_x{'-' if distance < 0 else '+'}#"
        return f"{symbol}{distance:+d}"

    far = range(1, reach + 1)
    return [named(-d) for d in reversed(far)] + [named(d) for d in far]


def _number(known: list[Any], item: Any) -> int:
    """Place of an item in a list, to which it is added if it is not there."""
    if item not in known:
        known.append(item)
    return known.index(item)


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> tuple[Ints, ...]:
    table = np.array(rows, np.int64).reshape(-1, width)
    return tuple(np.ascontiguousarray(table[:, j]) for j in range(width))
