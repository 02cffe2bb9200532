"""Checks of what comes from outside."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.core import Ragged, Rows, Vectors
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.validation import (
    check_pointers,
    check_sparse,
    check_types,
    mismatch,
)


class Record(NamedTuple):
    count: int
    share: float
    names: dict[str, int] | None
    pair: tuple[int, str]
    many: tuple[int, ...]
    values: Floats
    anything: Any = None


GOOD = Record(3, 0.5, {"a": 1}, (1, "x"), (1, 2, 3), np.zeros(2))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("count", 1.5), ("count", True), ("count", "3"), ("count", 2**70),
        ("share", "0.5"), ("share", None), ("names", {1: 1}), ("names", {"a": "b"}),
        ("names", [("a", 1)]), ("pair", (1,)), ("pair", (1, 2)), ("many", (1, "2")),
        ("many", [1]), ("values", np.zeros(2, np.float32)), ("values", [0.0]),
        ("values", np.zeros(4)[::2]), ("values", np.zeros(2, ">f8")),
    ],
)  # fmt: skip
def test_fields_have_the_types_that_they_name(field, value):
    check_types(GOOD)
    with pytest.raises(ValueError, match=rf"Record\.{field} is "):
        check_types(GOOD._replace(**{field: value}))


def test_numbers_of_numpy_are_numbers():
    check_types(GOOD._replace(count=np.int64(2), share=np.float32(0.5), names=None))
    assert not mismatch(np.zeros(3, np.int64), Ints)


@pytest.mark.parametrize(
    "ptr", [[], [1, 2], [0, 3], [0, 5, 2], [0, -1, 2], [0, 2**62, -(2**62), 2]]
)
def test_pointers(ptr):
    check_pointers(np.array([0, 1, 1, 2]), 2, "rows")
    with pytest.raises(ValueError, match="rows"):
        check_pointers(np.array(ptr, np.int64), 2, "rows")


def test_shapes_of_arrays():
    rows = Rows.from_dense([[1.0, 0.0], [2.0, 3.0]])
    rows.validate()
    Ragged.pack([[1], [2, 3]]).validate()
    for sparse in (False, True):
        Vectors.of(np.eye(3), sparse).validate()
    vectors = Vectors.of(sp.eye_array(3, format="csr"), True)
    bad = [
        rows._replace(idx=np.array([0, 5, -1], np.int32)),
        rows._replace(val=np.array([1.0, np.nan, 2.0])),
        rows._replace(val=np.ones(2)),
        Ragged(np.array([0, 4]), np.zeros(3, np.int32)),
        vectors._replace(width=2),
        Vectors.of(np.eye(3), False)._replace(width=4),
    ]
    for thing in bad:
        with pytest.raises(ValueError):
            thing.validate()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_matrices(form):
    good = sp.csr_array(np.eye(4) + np.eye(4, k=1)).asformat(form)
    check_sparse(good, "X")
    if form == "coo":
        good.coords[0][1] = 4
    elif form == "dia":
        good.offsets = good.offsets[:1]
    else:
        good.indices[1] = 7
    with pytest.raises(ValueError, match="X is a broken sparse matrix"):
        check_sparse(good, "X")
