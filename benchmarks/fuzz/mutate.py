"""Mutants of JSON documents and arrays: one leaf or entry is changed, or a few."""

import copy
import hashlib
import io
import json
import marshal
import zipfile
from functools import cache

import numpy as np

INTEGERS = [-1, 0, 1, 2, 3, 7, 200, 10**5, 10**9, 2**31 - 1, 2**31, 2**40, 2**62, 2**70]
FLOATS = [0.0, -1.0, 1e-300, 1e140, 1e300, -1e300, 1.7e308, 1.5]
SPECIAL = [{"!": "float", "v": v} for v in ("nan", "inf", "-inf")]
OTHERS = [
    None, True, "x", "", "A" * 1000, [], {}, [[]], {"!": "tuple", "v": []},
    {"!": "dict", "v": []}, {"!": "set", "v": [1, 2]}, {"!": "array", "v": 0},
    {"!": "scalar", "type": "<U500000000", "v": "x"},
    {"!": "scalar", "type": "<i8", "v": 3}, {"!": "new", "class": "chain.Chain", "v": {}},
    {"!": "new", "class": "motif.Motif", "v": {"order": 100000}},
    {"!": "bytes", "v": "AAAA"}, {"!": "dtype", "v": "<f8"},
]  # fmt: skip


def mutated_json(root, rng):
    """A copy with one or two leaves, items or keys changed."""
    root = marshal.loads(marshal.dumps([root]))  # the quickest copy of plain values
    for _ in range(1 + int(rng.random() < 0.2)):
        places = list(_places(root))
        holder, key = places[int(rng.integers(len(places)))]
        _change(holder, key, rng)
    return root[0]


def _places(node):
    """Every (holder, key) of a document."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield node, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _change(holder, key, rng):
    value, way = holder[key], rng.random()
    if isinstance(holder, list) and way < 0.15 and len(holder) > 1:
        other = int(rng.integers(len(holder)))
        holder[key], holder[other] = holder[other], value
    elif isinstance(holder, list) and way < 0.25 and len(holder) > 1:
        del holder[key]
    elif isinstance(holder, list) and way < 0.3:
        holder.insert(key, copy.deepcopy(value))
    elif isinstance(holder, dict) and way < 0.05:
        del holder[key]
    elif way < 0.85 and isinstance(value, bool):
        holder[key] = not value
    elif way < 0.85 and isinstance(value, int):
        near = [value - 1, value + 1, 2 * value + 1, -value]
        holder[key] = _one_of([*near, *INTEGERS], rng)
    elif way < 0.85 and isinstance(value, float):
        holder[key] = _one_of([*FLOATS, *SPECIAL, -value, 2 * value], rng)
    elif way < 0.85 and isinstance(value, str):
        words = [
            value + "x",
            value[:-1],
            value.upper(),
            "",
            "\x00",
            "bio",
            "trws",
            "lp",
        ]
        holder[key] = _one_of(words, rng)
    else:
        holder[key] = copy.deepcopy(
            _one_of([*OTHERS, *INTEGERS, *FLOATS, *SPECIAL], rng)
        )


def _one_of(items, rng):
    return items[int(rng.integers(len(items)))]


def mutated_array(array, rng):
    """A copy with entries, shape or type changed."""
    array, way = np.array(array), rng.random()
    if way < 0.7 and array.size and array.dtype.names is None:
        flat = array.reshape(-1)
        for _ in range(1 + int(rng.integers(2))):
            flat[int(rng.integers(array.size))] = _entry(array.dtype, flat, rng)
        return array
    if way < 0.75 and array.ndim:
        return array[: len(array) // 2].copy()
    if way < 0.8 and array.ndim and array.size:
        return np.concatenate([array, array[:1]])
    if way < 0.85:
        return array.reshape(-1)[::-1].reshape(array.shape).copy()
    if way < 0.9 and array.dtype.names is None and array.dtype.kind != "U":
        return array.astype(_one_of(["<i4", "<i8", "<f8", "<f4", ">f8", "?"], rng))
    if way < 0.95:
        return np.empty((0, *array.shape[1:]), array.dtype)
    return array.reshape(-1) if array.ndim != 1 else array.reshape(1, -1)


def _entry(dtype, flat, rng):
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        near = int(flat[int(rng.integers(len(flat)))]) + int(rng.integers(-2, 3))
        values = [near, *INTEGERS, -1000000, int(info.max), int(info.min)]
        return min(max(_one_of(values, rng), int(info.min)), int(info.max))
    if dtype.kind == "f":
        return _one_of([*FLOATS, np.nan, np.inf, -np.inf], rng)
    if dtype.kind == "b":
        return bool(rng.integers(2))
    return "x"


def mutated_archive(data, rng):
    """A model file with a node of its manifest or an array changed, checksums right."""
    parts, head = (dict(part) for part in _members(data))
    arrays = len(parts) - 2
    if rng.random() < 0.6 or arrays == 0:
        head["root"] = mutated_json(head["root"], rng)
    else:
        name = f"arrays/{int(rng.integers(arrays))}.npy"
        array = np.load(io.BytesIO(parts[name]))
        out = io.BytesIO()
        np.save(out, mutated_array(array, rng))
        parts[name] = out.getvalue()
    return sealed(parts, head)


@cache
def _members(data):
    """The members of a file and its manifest, read once."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return parts, json.loads(parts["manifest.json"])


def sealed(parts, head):
    """The file of these members, with all checksums computed again."""
    head["arrays"] = [
        {"size": len(parts[name]), "sha256": hashlib.sha256(parts[name]).hexdigest()}
        for name in (f"arrays/{k}.npy" for k in range(len(parts) - 2))
    ]
    text = json.dumps(head).encode()
    seal = hashlib.sha256(text).hexdigest().encode()
    parts = {**parts, "manifest.json": text, "manifest.sha256": seal}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return out.getvalue()
