"""Slots and templates: literal text with places that are read from a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from maxmargin.features.steps import Step
from maxmargin.features.tables import Gazetteer

FARTHEST = 100  # tokens between the current one and what a slot reads


class Place(Enum):
    """What the offset of a slot counts from."""

    TOKEN = 0  # the current token
    SENTENCE = 1  # 1 is the first token of the sentence, -1 the last
    JUMP = 2  # the offset is a column: the number in it counts from the current token


class OutsideMode(Enum):
    """What a slot reads before and after the sentence."""

    SYMBOL = 0  # a symbol, say _B-1, as if it were a token
    NOTHING = 1  # nothing: there is no such feature
    ONLY = 2  # the slot holds outside only, and reads the empty string there


@dataclass(frozen=True)
class Slot:
    """What a template reads at one place.

    Parameters
    ----------
    column : int
        Column of the token, from 0.
    offset : int
        Where the token is, see `Place`.
    steps : tuple of Step
        What happens to the string.
    place : Place
    outside : OutsideMode
    gazetteer : Gazetteer, optional
        Read the tokens' part in its names (B, I, E, S) instead of their strings.
    """

    column: int
    offset: int = 0
    steps: tuple[Step, ...] = ()
    place: Place = Place.TOKEN
    outside: OutsideMode = OutsideMode.SYMBOL
    gazetteer: Gazetteer | None = None

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Columns and offsets are whole numbers in their ranges."""
        if type(self.column) is not int or self.column < 0:
            raise ValueError(f"a column is a number from 0, not {self.column!r}")
        if type(self.offset) is not int or abs(self.offset) > FARTHEST:
            raise ValueError(
                f"offset {self.offset!r}: a whole number of at most {FARTHEST} tokens "
                "before or after is expected"
            )
        if self.place is Place.JUMP and self.offset < 0:
            raise ValueError(f"a column is a number from 0, not {self.offset}")

    @property
    def widest(self) -> int:
        """Highest number of a column that is read."""
        via = self.offset if self.place is Place.JUMP else 0
        return max(self.column, via)


@dataclass(frozen=True)
class Template:
    """Literal text with slots between its pieces.

    Parameters
    ----------
    literals : tuple of str
        One more than there are slots.
    slots : tuple of Slot
    source : str
        Where it was written, for error messages.

    Examples
    --------
    >>> Template(("w=", ""), (Slot(0),)).name(["Ana"])
    'w=Ana'
    """

    literals: tuple[str, ...]
    slots: tuple[Slot, ...] = ()
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """There is one literal more than there are slots."""
        if len(self.literals) != len(self.slots) + 1:
            raise ValueError("a template has one literal more than it has slots")

    def name(self, values: Sequence[str]) -> str:
        """Name of the feature whose slots have these values."""
        parts = [self.literals[0]]
        for value, literal in zip(values, self.literals[1:], strict=True):
            parts += [value, literal]
        return "".join(parts)
