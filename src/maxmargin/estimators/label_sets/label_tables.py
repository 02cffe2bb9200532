"""Sets of labels as tables of zeros and ones, and back in the form they were given.

Columns of a table are in the order that users see (`names`). The structure wants labels
after their parents: label `names[c]` is its label number `place[c]`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Ints
from maxmargin.core.data.validation import (
    check_range,
    check_types,
    is_missing,
    refuse_fractions,
    require,
)
from maxmargin.estimators.fitting.inputs import object_array
from maxmargin.structures.classes.taxonomy import Taxonomy

Name = Hashable


@dataclass(frozen=True)
class LabelTable:
    """The labels, what lies above each, and whether outputs are sets or tables."""

    names: tuple[Name, ...]
    parents: tuple[tuple[int, ...], ...]  # of the labels of the structure; (): none
    place: Ints  # (k,) number in the structure of each label
    as_sets: bool
    tops: tuple[Name, ...] = ()  # nodes above all others, which are no labels

    def validate(self) -> None:
        """Every label has a place of its own."""
        check_types(self)
        k = len(self.names)
        require(len(self.place) == k, "a label has no place")
        check_range(self.place, 0, max(k, 1), "place")
        require(len(set(self.place.tolist())) == k, "two labels have one place")
        require(len(self.parents) in (0, k), "a label lacks its parents")
        for z, above in enumerate(self.parents):
            require(all(0 <= p < z for p in above), f"label {z} is before a parent")

    @classmethod
    def of(cls, y: Any, taxonomy: Any = None) -> LabelTable:
        """The labels of outputs and of the taxonomy above them."""
        tree = None if taxonomy is None else Taxonomy.of(taxonomy)
        nodes, parents = _labels_of(tree) if tree is not None else ((), ())
        tops = (
            tuple(z for z in tree.nodes if z not in nodes) if tree is not None else ()
        )
        if not _is_table(y):
            rows = _read_sets(y)
            if tree is None:
                refuse_fractions(label for row in rows for label in row)
                _check_one_type(rows)
                nodes = tuple(_sorted({label for row in rows for label in row}))
                if not nodes:
                    raise ValueError("y has no labels: all sets are empty")
            made = cls(tuple(nodes), parents, np.arange(len(nodes)), True, tops)
            made._check_known(
                rows, "in the taxonomy: give a label without a parent as {label: None}"
            )
            return made
        _matrix(y)
        columns = _column_names(y)
        for c, name in enumerate(columns):
            if name in columns[:c]:
                raise ValueError(f"y has two columns {name!r}: give each label one")
        if tree is None:
            return cls(columns, (), np.arange(len(columns)), False, tops)
        missing = [n for n in nodes if n not in columns]
        strange = [c for c in columns if c not in nodes]
        if strange:
            _refuse_top(strange[0], tops)
            raise ValueError(
                f"column {strange[0]!r} of y has no node in the taxonomy (name the columns "
                "of y by a data frame, or give sets of labels)"
            )
        if missing:
            raise ValueError(
                f"node {missing[0]!r} of the taxonomy has no column in y: add a column for "
                "each node, or give sets of labels"
            )
        places = {node: z for z, node in enumerate(nodes)}
        place = np.array([places[c] for c in columns], np.int64)
        return cls(columns, parents, place, False, tops)

    def table(self, y: Any, strange: bool = False) -> Ints:
        """Zeros and ones (n, k), with all labels above those given.

        With `strange`, labels that training has not shown are left out; else refused.
        """
        if _is_table(y):
            return self._complete(self._in_order(y))
        return self.table_of_sets(_read_sets(y), strange)

    def table_of_sets(self, rows: Sequence[Iterable[Name]], strange: bool) -> Ints:
        """As `table`, of sets of labels, which may be the numbers 0 and 1."""
        if not strange:
            self._check_known(rows, "among the labels of training")
        known = {name: c for c, name in enumerate(self.names)}
        out = np.zeros((len(rows), len(self.names)), np.int64)
        for i, row in enumerate(rows):
            for label in row:
                if label in known:
                    out[i, known[label]] = 1
        return self._complete(out)

    def _in_order(self, y: Any) -> Ints:
        """The columns of a table, which have names in a data frame, as in `names`."""
        out = _matrix(y)
        if out.shape[1] != len(self.names):
            for name in _column_names(y):
                _refuse_top(name, self.tops)
            raise ValueError(
                f"y has {out.shape[1]} columns, but there are {len(self.names)} labels"
            )
        named = hasattr(y, "columns") and self.names != tuple(range(len(self.names)))
        if not named:
            return out
        columns = _column_names(y)
        strange = [c for c in columns if c not in self.names]
        if strange:
            raise ValueError(
                f"column {strange[0]!r} of y is not a label of training; the labels are "
                f"{', '.join(map(repr, self.names)):.200}"
            )
        return out[:, [columns.index(name) for name in self.names]]

    def _check_known(self, rows: Sequence[Iterable[Name]], where: str) -> None:
        known = {*self.names, *self.tops}
        for i, row in enumerate(rows):
            for label in row:
                if label not in known:
                    raise ValueError(
                        f"y[{i}] has the label {label!r}, which is not {where}"
                    )

    def labels_of(self, y: Any) -> set[Name]:
        """The labels of sets; none of a table, whose columns are those of training."""
        return set() if _is_table(y) else set().union(*_read_sets(y))

    def strangers(self, y: Any) -> int:
        """How many labels of y training has not shown."""
        if _is_table(y):
            return 0
        known = {*self.names, *self.tops}
        return sum(label not in known for row in _read_sets(y) for label in set(row))

    def closed(self, y: Any) -> Ints:
        """As `table`, with columns in the order of the structure."""
        found = self.table(y)
        out = np.zeros_like(found)
        out[:, self.place] = found
        return out

    def _complete(self, table: Ints) -> Ints:
        """Add what lies above each label."""
        out = table.copy()
        for c in reversed(self.order()):
            for parent in self.above(c):
                out[:, parent] |= out[:, c]
        return out

    def with_parents(self, chosen: np.ndarray) -> np.ndarray:
        """Leave out labels without all that lies above them."""
        out = chosen.copy()
        for c in self.order():
            for parent in self.above(c):
                out[:, c] &= out[:, parent]
        return out

    def order(self) -> list[int]:
        """Columns from the top down."""
        order: list[int] = np.argsort(self.place).tolist()
        return order

    def above(self, column: int) -> list[int]:
        """Columns right above one."""
        if not self.parents:
            return []
        column_of = np.argsort(self.place)
        return [int(column_of[p]) for p in self.parents[int(self.place[column])]]

    def sets(self, table: Any) -> list[tuple[Name, ...]]:
        """Rows of zeros and ones as tuples of labels."""
        return [tuple(self.names[c] for c in np.flatnonzero(row)) for row in table]

    def given(self, table: np.ndarray) -> np.ndarray:
        """Predictions in the form that y had."""
        return object_array(self.sets(table)) if self.as_sets else table


def _labels_of(tree: Taxonomy) -> tuple[tuple[Name, ...], tuple[tuple[int, ...], ...]]:
    """Nodes and parents without nodes that lie above all others."""
    kept = np.flatnonzero(~tree.above().all(axis=0))
    if len(kept) == 0:
        kept = np.arange(len(tree.nodes))
    number = {int(z): c for c, z in enumerate(kept)}
    parents = tuple(
        tuple(number[p] for p in tree.parents[z] if p in number) for z in kept
    )
    return tuple(tree.nodes[z] for z in kept), parents


def _refuse_top(column: Name, tops: Sequence[Name]) -> None:
    """Say so where a column is a node above all others, which is no label."""
    if column in tops:
        raise ValueError(
            f"column {column!r} of y is above all labels in the taxonomy, so it holds for "
            "every example and is not a label: leave the column out"
        )


def _is_table(y: Any) -> bool:
    """Whether y is a matrix: an array of two dimensions, sparse, a data frame, or rows."""
    if sp.issparse(y) or hasattr(y, "columns"):
        return True
    if isinstance(y, np.ndarray) and y.ndim == 2:
        return True
    rows = _rows(y) if hasattr(y, "__len__") else []
    if not rows or not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return False
    bits = all(
        isinstance(v, int | bool | np.integer | np.bool_) and 0 <= v <= 1
        for row in rows for v in row
    )  # fmt: skip
    if not bits or len({len(row) for row in rows}) > 1 or len(rows[0]) == 0:
        return False
    if any(len(set(row)) < len(row) for row in rows):  # no set has a label twice
        return True
    raise ValueError(
        "y has rows of zeros and ones that may be a table or sets of the labels 0 and 1: "
        "give a table as numpy.array(y), or sets of other names"
    )


def _matrix(y: Any) -> Ints:
    """Zeros and ones as integers."""
    if sp.issparse(y):
        table = sp.csr_array(y).toarray()
    elif hasattr(y, "column_names"):  # Arrow
        table = np.column_stack([np.asarray(column) for column in y.columns])
    elif hasattr(y, "columns"):  # pandas, polars
        table = y.to_numpy()
    else:
        table = np.array(_rows(y))
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"y has shape {table.shape}, not (examples, labels)")
    wrong = np.argwhere((table != 0) & (table != 1))
    if len(wrong):
        i, c = wrong[0]
        value = np.asarray(table[i, c]).item()
        raise ValueError(
            f"y, row {i}, column {c}: {value!r} is neither 0 nor 1; give a table of zeros "
            "and ones, or sets of labels"
        )
    out: Ints = table.astype(np.int64)
    return out


def _rows(y: Any) -> list[Any]:
    """One object per example, by position; lists in columns of polars and Arrow as lists."""
    if hasattr(y, "to_pylist"):
        return list(y.to_pylist())
    return [row.to_list() if hasattr(row, "to_list") else row for row in list(y)]


def _column_names(y: Any) -> tuple[Name, ...]:
    if hasattr(y, "column_names"):  # Arrow
        return tuple(y.column_names)
    if hasattr(y, "columns"):
        return tuple(y.columns)
    return tuple(range(_matrix(y).shape[1]))


def _read_sets(y: Any) -> list[Sequence[Name]]:
    out: list[Sequence[Name]] = []
    for i, row in enumerate(_rows(y)):
        if isinstance(row, str | bytes | Mapping) or not isinstance(row, Iterable):
            raise ValueError(
                f"y[{i}] is {row!r:.40}: give the labels of each example as a list or set, "
                "as in [['cat', 'pet'], []], or a table of zeros and ones"
            )
        labels = list(row)
        for label in labels:
            if is_missing(label) or not isinstance(label, Hashable):
                hint = (
                    "; paths become labels by join_paths of maxmargin.structures.classes"
                    if isinstance(label, list | tuple)
                    else ""
                )
                raise ValueError(
                    f"y[{i}] has the label {label!r:.40}: it is not a name{hint}"
                )
        out.append(labels)
    return out


def _check_one_type(rows: list[Sequence[Name]]) -> None:
    """Refuse text beside labels that are not text: 1 and "1" would be two labels."""
    first: dict[bool, tuple[int, Name]] = {}
    for i, row in enumerate(rows):
        for label in row:
            first.setdefault(isinstance(label, str), (i, label))
    if len(first) == 2:
        (i, one), (j, two) = sorted(first.values(), key=lambda found: found[0])
        raise ValueError(
            f"labels are of several types: y[{i}] has {one!r:.40}, y[{j}] has "
            f"{two!r:.40}; use one type"
        )


def _sorted(labels: Iterable[Name]) -> list[Name]:
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=str)
