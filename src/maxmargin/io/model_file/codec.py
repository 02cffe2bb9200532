"""Objects as JSON with typed nodes, from a closed list of types.

None, booleans, integers, finite floats, text and lists are written as they are; all
else is a JSON object whose key "!" names its type:

    tuple set frozenset   {"!": "tuple", "v": [..]}
    dict                  {"!": "dict", "v": [[key, value], ..]}     keys of any type
    float                 {"!": "float", "v": "inf" | "-inf" | "nan"}
    bytes, dtype          {"!": "bytes", "v": base64}, {"!": "dtype", "v": ..}
    scalar                {"!": "scalar", "type": "<f8", "v": ..}    of NumPy
    array, objects        {"!": "array", "v": number of the .npy},
                          {"!": "objects", "shape": [..], "v": [..]}
    scattered             {"!": "scattered", "size": .., "v": {"places": .., "values": ..}}
                          a long vector of floats that are mostly zero
    sparse                {"!": "sparse", "format": "csr", "array": true, "shape": ..,
                           "v": {"data": .., "indices": .., "indptr": ..}}
    new, enum, estimator  an instance of a class of OURS, by its name in a table
    own                   an object of a class, or a function, of the USER's

Every object of ours is validated when it is made: types of its fields against their
annotations, and what its method `validate` checks. Only classes in the table that the
reader holds are made, and own objects only from the
classes that the caller hands over: a name in a file is looked up, never imported.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import types
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import PurePath
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.validation import Validated, check_sparse, check_types
from maxmargin.io.model_file.archive import ModelFileError, plain

DEEPEST = 100
EMPTY = 2**24  # rows and columns of a sparse matrix without entries
LONG, RARE = 10_000, 8  # vectors this long are scattered if one in RARE is not zero
HERE_ONLY = ("callbacks", "engine", "checkpoint")  # parameters that stay behind
# Fields that stay behind: completed training outputs, which may be pickles of users.
LEFT_OUT = {"solvers.cccp.LatentResult": ("truth",)}
SPARSE = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
COLLECTIONS = {"tuple": tuple, "set": set, "frozenset": frozenset}


class Encoder:
    """Turns objects into nodes, and puts arrays aside.

    Parameters
    ----------
    tag : callable from class to name
        Of classes of ours; None for others.
    """

    def __init__(self, tag: Callable[[type], str | None]) -> None:
        self.tag = tag
        self.arrays: list[np.ndarray] = []
        self._seen: dict[int, int] = {}
        self._parts: dict[int, dict[str, np.ndarray]] = {}  # of scattered vectors
        self._alive: list[Any] = []  # ids are those of living objects only

    def node(self, value: Any, where: str = "the model", depth: int = 0) -> Any:
        """The node of a value; an error says where in the model it stands."""
        if depth > DEEPEST:
            raise ModelFileError(f"{where} is nested too deeply to be stored")
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"!": "float", "v": repr(value)}
        if kind is list:
            return self._items(value, where, depth)
        if kind in (tuple, set, frozenset):
            items = self._items(list(value), where, depth)
            if kind is not tuple:
                items.sort(key=repr)  # the order of a set is no part of it
            return {"!": kind.__name__, "v": items}
        if kind in (dict, types.MappingProxyType):
            keys = self._items(list(value), where, depth)
            values = [
                self.node(v, f"{where}[{k!r}]", depth + 1) for k, v in value.items()
            ]
            return {"!": "dict", "v": [list(pair) for pair in zip(keys, values)]}
        if kind is bytes:
            return {"!": "bytes", "v": base64.b64encode(value).decode()}
        if isinstance(value, PurePath):
            return str(value)
        if isinstance(value, np.ndarray | np.generic | np.dtype) or sp.issparse(value):
            return self._numbers(value, where, depth)
        return self._object(value, where, depth)

    def _items(self, values: Sequence[Any], where: str, depth: int) -> list[Any]:
        return [self.node(v, f"{where}[{k}]", depth + 1) for k, v in enumerate(values)]

    def _fields(self, fields: Mapping[str, Any], where: str, depth: int) -> Any:
        return {k: self.node(v, f"{where}.{k}", depth + 1) for k, v in fields.items()}

    def _numbers(self, value: Any, where: str, depth: int) -> Any:
        if isinstance(value, np.dtype):
            return {"!": "dtype", "v": self.node(_descr(value), where, depth)}
        if sp.issparse(value):
            if value.format not in SPARSE:
                value = value.tocsr()
            parts = {name: getattr(value, name) for name in SPARSE[value.format]}
            return {
                "!": "sparse", "format": value.format, "shape": list(value.shape),
                "array": isinstance(value, sp.sparray),
                "v": self._fields(parts, where, depth),
            }  # fmt: skip
        if isinstance(value, np.generic):
            if value.dtype.kind not in "biufU":
                raise ModelFileError(f"{where} is a {value.dtype}: it cannot be stored")
            item = self.node(value.item(), where, depth)
            return {"!": "scalar", "type": value.dtype.str, "v": item}
        if value.dtype == object:
            items = self._items(value.ravel().tolist(), where, depth)
            return {"!": "objects", "shape": list(value.shape), "v": items}
        if not plain(value.dtype):
            raise ModelFileError(f"{where} has dtype {value.dtype}: it is not stored")
        if _mostly_zero(value):
            return self._scattered(value, where, depth)
        if id(value) not in self._seen:
            self._seen[id(value)] = len(self.arrays)
            self._alive.append(value)
            self.arrays.append(np.asarray(value))
        return {"!": "array", "v": self._seen[id(value)]}

    def _scattered(self, value: np.ndarray, where: str, depth: int) -> Any:
        """Places and values of what is not zero, once for each vector."""
        if id(value) not in self._parts:
            places = np.flatnonzero(value)
            self._parts[id(value)] = {"places": places, "values": value[places]}
            self._alive.append(value)
        parts = self._fields(self._parts[id(value)], where, depth)
        return {"!": "scattered", "size": len(value), "v": parts}

    def _object(self, value: Any, where: str, depth: int) -> Any:
        tag = self.tag(type(value))
        if tag is None:
            return self._own(value, where, depth)
        if isinstance(value, Enum):
            return {"!": "enum", "class": tag, "v": value.name}
        if hasattr(value, "get_params"):
            given = value.get_params(deep=False)
            kept = {k: v for k, v in given.items() if k not in HERE_ONLY}
            learnt = {k: v for k, v in vars(value).items() if learned(k)}
            return {
                "!": "estimator", "class": tag,
                "params": self._fields(kept, where, depth),
                "fitted": self._fields(learnt, where, depth),
            }  # fmt: skip
        left_out = LEFT_OUT.get(tag, ())
        kept = {
            k: _by_rows(v) for k, v in fields_of(value).items() if k not in left_out
        }
        return {"!": "new", "class": tag, "v": self._fields(kept, where, depth)}

    def _own(self, value: Any, where: str, depth: int) -> Any:
        """An object of the user's class: its attributes; a function: its name."""
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | type):
            if value.__name__ == "<lambda>":
                raise ModelFileError(
                    f"{where} is a lambda, which a model file cannot name: use a "
                    "function with a name"
                )
            return {"!": "own", "name": value.__name__, "v": None}
        try:
            state = self.node(dict(vars(value)), where, depth + 1)
        except (TypeError, ModelFileError) as error:
            raise ModelFileError(
                f"{where} is a {type(value).__qualname__}, which a model file cannot "
                f"hold ({error})"
            ) from error
        return {"!": "own", "name": type(value).__name__, "v": state}


def _by_rows(value: Any) -> Any:
    """A field as loops take it, which is how it must be when it is loaded."""
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        return np.ascontiguousarray(value)
    return value


class Decoder:
    """Turns nodes back into objects.

    Parameters
    ----------
    classes : callable from name to class
        Classes of ours; raises KeyError for others.
    array : callable from number to array
    own : mapping from name to class, function or object
        What the caller hands over.
    later : callable from object to bool, optional
        Whether the caller validates this object, when all others are there.
    """

    def __init__(
        self,
        classes: Callable[[str], type],
        array: Callable[[int], np.ndarray],
        own: Mapping[str, Any],
        later: Callable[[Any], bool] = lambda value: False,
    ) -> None:
        self.classes, self.array, self.own = classes, array, own
        self.later = later
        self._arrays: dict[int, np.ndarray] = {}
        self._kinds: dict[str, Callable[[dict[str, Any], int], Any]] = {
            "dict": self._dict, "float": _float, "bytes": _bytes, "array": self._array,
            "scalar": self._scalar, "objects": self._objects, "sparse": self._sparse,
            "new": self._new, "enum": self._enum, "estimator": self._estimator,
            "own": self._own, "dtype": self._dtype, "scattered": self._scattered,
        }  # fmt: skip

    def value(self, node: Any, depth: int = 0) -> Any:
        """The object of a node."""
        if depth > DEEPEST:
            raise ModelFileError("the manifest is nested too deeply")
        if isinstance(node, list):
            return [self.value(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        kind = node.get("!")
        if kind in COLLECTIONS:
            return COLLECTIONS[kind](self.value(item, depth + 1) for item in node["v"])
        if kind not in self._kinds:
            raise ModelFileError(f"the manifest has a node of type {kind!r}")
        return self._kinds[kind](node, depth)

    def _named(self, fields: Any, depth: int) -> dict[str, Any]:
        return {k: self.value(v, depth + 1) for k, v in fields.items()}

    def _dict(self, node: dict[str, Any], depth: int) -> Any:
        pairs = [
            (self.value(k, depth + 1), self.value(v, depth + 1)) for k, v in node["v"]
        ]
        return dict(pairs)

    def _array(self, node: dict[str, Any], depth: int) -> np.ndarray:
        k = node["v"]
        if k not in self._arrays:
            self._arrays[k] = self.array(k)
        return self._arrays[k]

    def _scattered(self, node: dict[str, Any], depth: int) -> np.ndarray:
        size, parts = node["size"], self._named(node["v"], depth)
        if set(parts) != {"places", "values"} or type(size) is not int or size < 0:
            raise ModelFileError("a vector that is mostly zero is not whole")
        places, values = parts["places"], parts["values"]
        whole = all(isinstance(p, np.ndarray) and p.ndim == 1 for p in parts.values())
        if not whole or places.dtype != np.int64 or values.dtype != np.float64:
            raise ModelFileError("a vector that is mostly zero has wrong parts")
        if len(places) != len(values) or size > EMPTY + 64 * len(values):
            raise ModelFileError(
                f"a vector has {len(values)} values, and {size} places"
            )
        if len(places) and not (
            places[0] >= 0 and places[-1] < size and (np.diff(places) > 0).all()
        ):
            raise ModelFileError("the places of a vector are not in order, or outside")
        out = np.zeros(size)
        out[places] = values
        return out

    def _scalar(self, node: dict[str, Any], depth: int) -> Any:
        dtype, item = np.dtype(str(node["type"])), self.value(node["v"], depth + 1)
        if dtype.kind not in "biufU" or not isinstance(item, bool | int | float | str):
            raise ModelFileError(f"a scalar has the type {dtype}")
        size = 4 * len(item) if isinstance(item, str) else 16
        if dtype.itemsize > max(size, 16):
            raise ModelFileError(f"a scalar of type {dtype} is larger than its value")
        return np.array(item, dtype)[()]

    def _dtype(self, node: dict[str, Any], depth: int) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.value(node["v"], depth + 1))
        if not plain(dtype):
            raise ModelFileError(f"dtype {dtype} is not allowed")
        return dtype

    def _objects(self, node: dict[str, Any], depth: int) -> np.ndarray:
        items = self.value(node["v"], depth)
        shape = tuple(node["shape"])
        if any(type(s) is not int or s < 0 for s in shape):
            raise ModelFileError(f"an array of objects has the shape {shape}")
        if len(items) != math.prod(shape):
            raise ModelFileError(f"{len(items)} objects are not of shape {shape}")
        out = np.empty(len(items), dtype=object)
        for k, item in enumerate(items):
            out[k] = item
        return out.reshape(shape)

    def _sparse(self, node: dict[str, Any], depth: int) -> Any:
        kind, shape = node["format"], tuple(node["shape"])
        parts = self._named(node["v"], depth)
        if kind not in SPARSE or set(parts) != set(SPARSE[kind]):
            raise ModelFileError(f"a sparse matrix has the format {kind!r}")
        if not all(isinstance(p, np.ndarray) for p in parts.values()):
            raise ModelFileError("a sparse matrix is made of something else")
        if len(shape) != 2 or any(type(s) is not int or s < 0 for s in shape):
            raise ModelFileError(f"a sparse matrix has the shape {shape}")
        entries = sum(part.size for part in parts.values())
        if kind != "csr" and sum(shape) > EMPTY + 16 * entries:
            raise ModelFileError(f"a sparse matrix of {entries} entries is {shape}")
        first, *rest = (parts[name] for name in SPARSE[kind])
        made = getattr(sp, f"{kind}_{'array' if node['array'] else 'matrix'}")
        parts_of_it = (first, tuple(rest)) if kind == "coo" else (first, *rest)
        out = made(parts_of_it, shape=shape)
        check_sparse(out, "a matrix in the file")
        return out

    def _new(self, node: dict[str, Any], depth: int) -> Any:
        made = self.classes(node["class"])
        if issubclass(made, Enum) or hasattr(made, "get_params"):
            raise ModelFileError(f"{node['class']} is not made of fields")
        fields = self._named(node["v"], depth)
        if isinstance(made, Upgraded):
            fields = made.upgraded(fields)
        for name in LEFT_OUT.get(node["class"], ()):  # in files of version 0.1
            fields.pop(name, None)
        unknown = set(fields) - set(names_of(made))
        if unknown:
            raise ModelFileError(
                f"{node['class']} has {min(unknown)!r}, which this version does not know"
            )
        value = made(**fields)
        check_types(value)
        if isinstance(value, Validated) and not self.later(value):
            value.validate()
        return value

    def _enum(self, node: dict[str, Any], depth: int) -> Any:
        made = self.classes(node["class"])
        if not issubclass(made, Enum):
            raise ModelFileError(f"{node['class']} has no members")
        return made[node["v"]]

    def _estimator(self, node: dict[str, Any], depth: int) -> Any:
        made = self.classes(node["class"])
        fitted = self._named(node["fitted"], depth)
        if not all(map(learned, fitted)) or any(hasattr(made, k) for k in fitted):
            raise ModelFileError(f"{node['class']} does not learn {list(fitted)}")
        banned = sorted(set(node["params"]) & set(HERE_ONLY))
        if banned:  # an engine may be an address, whose answers are pickles
            raise ModelFileError(f"it sets {banned[0]!r}, which no model file may do")
        params = self._named(node["params"], depth)
        for name in getattr(made, "RETIRED", ()):  # of files of earlier versions
            params.pop(name, None)
        out = made(**params)
        vars(out).update(fitted)
        return out

    def _own(self, node: dict[str, Any], depth: int) -> Any:
        name = node["name"]
        if name not in self.own:
            raise ModelFileError(
                f"the model uses your own {name!r}, which a file cannot hold: hand it "
                f"over, load(path, own={name})"
            )
        given, state = self.own[name], node["v"]
        if state is None or not isinstance(given, type):
            return given
        out: Any = object.__new__(given)
        for key, item in self.value(state, depth + 1).items():
            if not isinstance(key, str) or key.startswith("__"):
                raise ModelFileError(f"{name} cannot have an attribute {key!r:.40}")
            object.__setattr__(out, key, item)
        return out


@runtime_checkable
class Upgraded(Protocol):
    """A class whose fields have changed since earlier versions wrote files."""

    def upgraded(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Fields found in a file, in the terms of this version (a classmethod)."""


def _mostly_zero(value: np.ndarray) -> bool:
    """Whether a vector is long and has few values, as weights after L1 training."""
    if value.dtype != np.float64 or value.ndim != 1 or len(value) < LONG:
        return False
    few = int(np.count_nonzero(value))
    return RARE * few <= len(value) <= EMPTY + 64 * few


def learned(name: str) -> bool:
    """Whether an attribute is one that `fit` sets, by scikit-learn's custom."""
    own = name.isidentifier() and name.endswith("_") and not name.startswith("_")
    return own and name != "provenance_"


def fields_of(value: Any) -> dict[str, Any]:
    """Fields of a dataclass or named tuple of ours, by name."""
    return {name: getattr(value, name) for name in names_of(type(value))}


def names_of(made: Any) -> Sequence[str]:
    """Names of the fields of a dataclass or named tuple."""
    if dataclasses.is_dataclass(made):
        return [f.name for f in dataclasses.fields(made) if f.init]
    fields: Sequence[str] = made._fields
    return fields


def _descr(dtype: np.dtype) -> Any:
    return dtype.descr if dtype.names is not None else dtype.str


def _float(node: dict[str, Any], depth: int) -> float:
    if node["v"] not in ("inf", "-inf", "nan"):
        raise ModelFileError(f"{node['v']!r} is not a special number")
    return float(node["v"])


def _bytes(node: dict[str, Any], depth: int) -> bytes:
    return base64.b64decode(node["v"], validate=True)
