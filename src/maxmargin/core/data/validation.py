"""Checks that data from outside must pass before compiled loops see them.

Compiled loops do not check bounds: an index that is too large reads or writes foreign
memory. So everything that comes from a file, and everything that a user passes in, is
checked once, where it enters:

    check_types(thing)      fields of a dataclass or named tuple against its annotations
    thing.validate()        what only the class knows: sizes, ranges, pointers

`validate` raises ValueError with a sentence that says what is wrong. The best check is
to compute derived fields again and compare (`same_fields`).
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import (
    Any,
    Literal,
    Protocol,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

LARGEST = 2**62  # integers: sums of two still fit into 64 bits


@runtime_checkable
class Validated(Protocol):
    """A class whose objects can check themselves."""

    def validate(self) -> None:
        """Raise ValueError unless loops can use the object without leaving its arrays."""


@runtime_checkable
class FeatureMap(Protocol):
    """A map of input rows to rows of `width` features."""

    @property
    def width(self) -> int:
        """Length of the mapped rows."""

    @property
    def sparse(self) -> bool:
        """Whether mapped rows leave out zeros."""

    @property
    def inputs(self) -> int | None:
        """Length of the rows to be mapped; None if it does not matter."""

    def __call__(self, X: Any) -> Any:
        """Map each row."""


def require(condition: Any, message: str) -> None:
    """Raise ValueError unless the condition holds."""
    if not condition:
        raise ValueError(message)


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or NA and NaT of pandas.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, False, False)
    """
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # NA of pandas is neither equal to itself nor unequal
        return True
    except ValueError:  # an array
        return False


def refuse_fractions(labels: Iterable[Any]) -> None:
    """Refuse numbers such as 0.37 as labels: they are quantities, and no classes.

    Examples
    --------
    >>> refuse_fractions(["a", 1, 2.0])
    >>> refuse_fractions([0.37, 1.2])
    Traceback (most recent call last):
    ValueError: y holds numbers with fractions, such as 0.37: labels are classes. ...
    """
    for label in labels:
        if isinstance(label, float | np.floating) and not float(label).is_integer():
            raise ValueError(
                f"y holds numbers with fractions, such as {label:.6g}: labels are classes. "
                "Cut quantities into ranges (numpy.digitize), or give names as text"
            )


def check_own(thing: Any, methods: Sequence[str], what: str) -> None:
    """Refuse what cannot be an object of the user's: it has methods, and is not of ours.

    Model files name such objects, and `load` is given them; a file that puts something
    else in their place is refused.

    Examples
    --------
    >>> check_own(7, ["argmax"], "the structure")
    Traceback (most recent call last):
    ValueError: the structure is of type int: an object with argmax is needed
    >>> check_own(dict, ["get"], "the owner")
    Traceback (most recent call last):
    ValueError: the owner is the class dict: an object of it is needed, as made by dict()
    """
    made = type(thing)
    if isinstance(thing, type):
        raise ValueError(
            f"{what} is the class {thing.__name__}: an object of it is needed, "
            f"as made by {thing.__name__}()"
        )
    own = not made.__module__.startswith("maxmargin.")
    if not own or not all(callable(getattr(thing, name, None)) for name in methods):
        wanted = "a function" if "__call__" in methods else "an object with "
        wanted += ", ".join(m for m in methods if m != "__call__")
        raise ValueError(f"{what} is of type {made.__name__}: {wanted} is needed")


def check_types(thing: Any) -> None:
    """Compare the fields of a dataclass or named tuple with their annotations.

    Arrays must have the dtype of the annotation, be contiguous and in the byte order
    of the machine, as compiled loops expect. Types that are not known here pass.

    Examples
    --------
    >>> from maxmargin.core.data.arrays import Ragged
    >>> check_types(Ragged(np.array([0, 1]), np.array([5])))
    Traceback (most recent call last):
    ValueError: Ragged.data is an array of int64, not of int32
    """
    made = type(thing)
    for name, hint in field_types(made).items():
        wrong = mismatch(getattr(thing, name), hint)
        if wrong:
            raise ValueError(f"{made.__name__}.{name} is {wrong}")


def field_types(made: type) -> dict[str, Any]:
    """Annotations of the fields of a dataclass or named tuple."""
    if made not in _KNOWN:
        _KNOWN[made] = _hints(made)
    return _KNOWN[made]


_KNOWN: dict[type, dict[str, Any]] = {}


def _hints(made: type) -> dict[str, Any]:
    if dataclasses.is_dataclass(made):
        names = [f.name for f in dataclasses.fields(made)]
    else:
        names = list(getattr(made, "_fields", ()))
    hints = get_type_hints(made)
    return {name: hints[name] for name in names if name in hints}


def mismatch(value: Any, hint: Any) -> str:
    """What a value is, in words, if it is not what the annotation says; else ""."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return ""
    if origin in (Union, types.UnionType):
        wrong = [mismatch(value, arg) for arg in args]
        return "" if "" in wrong else wrong[0]
    if origin is np.ndarray:
        return _array_mismatch(value, np.dtype(get_args(args[1])[0]))
    if origin is NDArray:  # an alias of its own in later versions of NumPy
        return _array_mismatch(value, np.dtype(args[0]))
    if origin is Literal:
        return "" if value in args else f"{value!r:.40}"
    if origin in _COLLECTIONS:
        return _collection_mismatch(value, origin, args)
    if hint in _SCALARS:
        return "" if _SCALARS[hint](value) else f"{value!r:.40}, not {_name(hint)}"
    protocol = getattr(hint, "_is_protocol", False)
    if protocol and not getattr(hint, "_is_runtime_protocol", False):
        return ""
    if isinstance(hint, type):
        right = isinstance(value, hint)
        return "" if right else f"of type {type(value).__name__}, not {_name(hint)}"
    return ""


def _array_mismatch(value: Any, dtype: np.dtype[Any]) -> str:
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}, not an array"
    if value.dtype != dtype or not value.dtype.isnative:
        return f"an array of {value.dtype}, not of {dtype}"
    if not (value.flags.c_contiguous and value.flags.aligned):
        return "an array that is not contiguous"
    return ""


def _collection_mismatch(value: Any, origin: Any, args: tuple[Any, ...]) -> str:
    if not isinstance(value, origin):
        return f"a {type(value).__name__}, not a {_name(origin)}"
    if isinstance(value, Mapping):
        keys = (mismatch(k, args[0]) for k in value)
        values = (mismatch(v, args[1]) for v in value.values())
        return next(filter(None, keys), "") or next(filter(None, values), "")
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        if len(value) != len(args):
            return f"a tuple of {len(value)} items, not {len(args)}"
        return next(filter(None, map(mismatch, value, args)), "")
    return next(filter(None, (mismatch(item, args[0]) for item in value)), "")


def _is_int(value: Any) -> bool:
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    return whole and -LARGEST < int(value) < LARGEST


def _is_float(value: Any) -> bool:
    return isinstance(value, float | np.floating) or _is_int(value)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


_COLLECTIONS = (tuple, list, set, frozenset, dict, Mapping, Sequence)
_SCALARS: dict[Any, Callable[[Any], bool]] = {
    int: _is_int,
    float: _is_float,
    bool: lambda value: isinstance(value, bool | np.bool_),
    str: lambda value: isinstance(value, str),
    type(None): lambda value: value is None,
    Hashable: _is_hashable,
    Callable: callable,
}


def _name(hint: Any) -> str:
    return getattr(hint, "__name__", str(hint))


def check_pointers(ptr: np.ndarray, total: int, what: str) -> None:
    """Row pointers run from 0 to `total` and never fall.

    Examples
    --------
    >>> check_pointers(np.array([0, 3, 2]), 2, "sentences")
    Traceback (most recent call last):
    ValueError: sentences: row 1 ends before it begins
    """
    require(ptr.ndim == 1 and len(ptr) > 0, f"{what}: there are no row pointers")
    falls = np.flatnonzero(ptr[1:] < ptr[:-1])  # a difference could overflow
    require(len(falls) == 0, f"{what}: row {int((*falls, 0)[0])} ends before it begins")
    require(
        ptr[0] == 0 and ptr[-1] == total,
        f"{what}: rows run from {ptr[0]} to {ptr[-1]}, not from 0 to {total}",
    )


def check_range(values: np.ndarray, low: int, high: int, what: str) -> None:
    """All integers lie in low .. high - 1."""
    if values.size and not (values.min() >= low and values.max() < high):
        bad = values[(values < low) | (values >= high)].ravel()[0]
        raise ValueError(f"{what}: {bad} is not one of {low} .. {high - 1}")


def check_shape(array: np.ndarray, shape: Sequence[int], what: str) -> None:
    """An array of this shape."""
    require(
        array.shape == tuple(shape),
        f"{what}: its shape is {array.shape}, not {tuple(shape)}",
    )


def check_finite(values: Any, what: str) -> None:
    """Numbers without NaN and infinity."""
    require(np.isfinite(values).all(), f"{what}: a number is not finite")


def check_positive(value: float, what: str) -> None:
    """A finite number greater than zero."""
    require(
        math.isfinite(value) and value > 0, f"{what}={value!r} is not greater than zero"
    )


def check_distinct(items: Iterable[Hashable], what: str) -> None:
    """No item occurs twice."""
    known = list(items)
    require(len(set(known)) == len(known), f"{what}: something occurs twice")


def check_matrix(matrix: Any, rows: int, what: str) -> None:
    """A dense or sparse matrix of finite numbers with so many rows."""
    if sp.issparse(matrix):
        check_sparse(matrix, what)
        check_finite(matrix.data, what)
    else:
        plain = isinstance(matrix, np.ndarray) and matrix.dtype.kind in "biuf"
        require(plain, f"{what} is not a matrix of numbers")
        check_finite(matrix, what)
    require(
        matrix.ndim == 2 and matrix.shape[0] == rows,
        f"{what}: its shape is {matrix.shape}, but there must be {rows} rows",
    )


def check_sparse(matrix: Any, what: str) -> None:
    """A sparse matrix whose indices lie within its shape.

    scipy does not look when a matrix is made from its parts, and neither it nor
    compiled loops look when it is read.

    Examples
    --------
    >>> bad = sp.csr_array((np.ones(1), np.array([7]), np.array([0, 1])), shape=(1, 9))
    >>> bad.indices[0] = 9
    >>> check_sparse(bad, "X")
    Traceback (most recent call last):
    ValueError: X is a broken sparse matrix: column: 9 is not one of 0 .. 8
    """
    try:
        if matrix.format in ("csr", "csc", "bsr"):
            _check_compressed(matrix)
        elif matrix.format == "coo":
            for axis, size in zip(matrix.coords, matrix.shape, strict=True):
                check_shape(axis, matrix.data.shape, "coordinates")
                check_range(axis, 0, size, "coordinate")
        elif matrix.format == "dia":
            check_shape(matrix.offsets, matrix.data.shape[:1], "offsets")
    except ValueError as error:
        raise ValueError(f"{what} is a broken sparse matrix: {error}") from None


def _check_compressed(matrix: Any) -> None:
    rows, columns = matrix.shape
    if matrix.format == "csc":
        rows, columns = columns, rows
    if matrix.format == "bsr":
        high, wide = matrix.blocksize
        rows, columns = rows // high, columns // wide
    require(matrix.indptr.dtype.kind == "i", "its pointers are not integers")
    require(matrix.indices.dtype.kind == "i", "its indices are not integers")
    require(matrix.indptr.shape == (rows + 1,), f"{rows + 1} pointers are needed")
    # scipy allows room behind the last entry.
    used = int(matrix.indptr[-1])
    require(
        0 <= used <= min(len(matrix.indices), len(matrix.data)),
        f"the last pointer is {used}, but there are {len(matrix.indices)} indices",
    )
    check_pointers(matrix.indptr, used, "pointers")
    check_range(matrix.indices[:used], 0, columns, "column")


def same_fields(stored: Any, computed: Any, what: str) -> None:
    """Two named tuples or dataclasses of one class agree in every field.

    Examples
    --------
    >>> from maxmargin.core.data.arrays import Ragged
    >>> same_fields(Ragged.pack([[1]]), Ragged.pack([[2]]), "truth")
    Traceback (most recent call last):
    ValueError: truth: field 'data' does not fit the rest
    """
    for name in field_types(type(computed)):
        a, b = getattr(stored, name), getattr(computed, name)
        if isinstance(b, np.ndarray):
            same = isinstance(a, np.ndarray) and a.dtype == b.dtype
            same = same and np.array_equal(a, b)
        else:
            same = type(a) is type(b) and a == b
        require(same, f"{what}: field {name!r} does not fit the rest")


def check_heads(heads: Sequence[int], where: str) -> None:
    """Refuse heads that go round in a circle: all words hang on the root, which is 0.

    Examples
    --------
    >>> check_heads([2, 3, 2], "sentence 7")
    Traceback (most recent call last):
    ValueError: sentence 7: heads go round in a circle, 2 -> 3 -> 2 (words count from 1)
    """
    rooted = {0}
    for word in range(1, len(heads) + 1):
        path: dict[int, None] = {}  # in the order of the way up
        at = word
        while at not in rooted and at not in path:
            path[at] = None
            at = int(heads[at - 1])
        if at in path:
            way = list(path)
            circle = [*way[way.index(at) :], at]
            raise ValueError(
                f"{where}: heads go round in a circle, {' -> '.join(map(str, circle))} "
                "(words count from 1)"
            )
        rooted |= path.keys()
