"""The features of arcs by name.

head word=saw, modifier word=dog, right, 2      modifier tag=NN, left : subject
"""

from __future__ import annotations

from collections.abc import Sequence

from maxmargin.core.data.arrays import Ints
from maxmargin.core.data.lazy_names import LazyNames
from maxmargin.structures.dependency.arc_features import BETWEEN, TEMPLATES
from maxmargin.structures.dependency.tokens import Vocabulary

SHIFTS = ((36, 18), (18, 18), (9, 9), (0, 9))  # of the fields a, b, c, d in a key
COLUMN = {"w": 0, "t": 1, "e": 2, "b": 1}
KIND = {"w": "word", "t": "tag", "e": "ending"}
END = {"h": "head", "m": "modifier"}
SIDE = {"+": "after ", "-": "before "}
DISTANCES = ("1", "2", "3", "4", "5-9", "10 or more")


def key_name(key: int, known: Vocabulary, distance: bool = True) -> str:
    """The name of a feature, from its key; features that meet labels have no distance."""
    template, way = key >> 58, (key >> 54) & 15
    parts = []
    fields = zip(TEMPLATES[template], SHIFTS, strict=False)
    for field, (shift, width) in fields:
        if field:
            number = (key >> shift) & ((1 << width) - 1)
            parts.append(f"{_what(field)}={known.name(COLUMN[field[0]], number)}")
    if way:
        parts.append("right" if way <= 6 else "left")
        if distance and template != BETWEEN:
            parts.append(DISTANCES[(way - 1) % 6])
    return ", ".join(parts)


def _what(field: str) -> str:
    if field == "between":
        return "tag between"
    side = SIDE[field[2]] if len(field) > 2 else ""
    return f"{KIND[field[0]]} {side}{END[field[1]]}" if side else (
        f"{END[field[1]]} {KIND[field[0]]}"
    )  # fmt: skip


class ArcWeightNames(LazyNames):
    """Names of all weights of a dependency parser."""

    def __init__(
        self, keys: Ints, label_keys: Ints, labels: Sequence[str], known: Vocabulary
    ) -> None:
        self.keys, self.label_keys = keys, label_keys
        self.labels, self.known = labels, known

    def __len__(self) -> int:
        return len(self.keys) + len(self.label_keys) * len(self.labels)

    def name_of(self, at: int) -> str:
        """Name of weight number `at`."""
        if at < len(self.keys):
            return key_name(int(self.keys[at]), self.known)
        which, label = divmod(at - len(self.keys), len(self.labels))
        name = key_name(int(self.label_keys[which]), self.known, distance=False)
        return f"{name} : {self.labels[label]}"
