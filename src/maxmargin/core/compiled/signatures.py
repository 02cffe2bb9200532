"""Which loops there are, and with which types the library calls them.

`signatures.json` lists, for each loop that Python calls, the types of its arguments, and
for each estimator the loops that it needs. The list is what a wheel's machine code is
compiled from (`precompile.py`) and what `maxmargin warmup` compiles. It is made by running
the small cases of the tests and never edited by hand:

    python tests/signature_runs.py

A type is written as "int64" or "float64 2d C"; a tuple as a list of types after "tuple",
or after "module:name" where it is a named tuple.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from numba import types

import maxmargin
from maxmargin.core.compiled.machine_code import RECORDERS
from maxmargin.core.jit import LOOPS

LISTING = Path(__file__).with_name("signatures.json")
PACKAGE = "maxmargin."
NOT_IMPORTED = ("maxmargin.__main__", "maxmargin.core.compiled.precompile")


class Use(NamedTuple):
    """A loop, by name, and the types it is called with."""

    loop: str
    types: tuple[Any, ...]


def type_text(kind: Any) -> Any:
    """A type of Numba as text, or as a list where it is a tuple.

    Examples
    --------
    >>> type_text(types.Array(types.float64, 2, "C"))
    'float64 2d C'
    >>> type_text(types.Tuple((types.int64, types.boolean)))
    ['tuple', 'int64', 'bool']
    """
    if isinstance(kind, types.Array):
        text = f"{kind.dtype} {kind.ndim}d {kind.layout}"
        return text if kind.mutable else f"{text} readonly"
    if isinstance(kind, types.BaseTuple):
        name, inner = "tuple", list(iter(kind))  # type: ignore[call-overload]
        if isinstance(kind, types.BaseNamedTuple):
            made = vars(kind)["instance_class"]
            name = f"{made.__module__}:{made.__qualname__}"
        return [name, *map(type_text, inner)]
    if isinstance(kind, types.NoneType):
        return "none"
    if getattr(types, str(kind), None) == kind:
        return str(kind)
    raise TypeError(f"{kind!r}: no text for this type; loops take arrays and numbers")


def type_of(text: Any) -> Any:
    """The type that `type_text` has written.

    Examples
    --------
    >>> type_of("int32 1d C readonly")
    Array(int32, 1, 'C', True, aligned=True)
    """
    if isinstance(text, str):
        name, *shape = text.split()
        scalar = getattr(types, name)
        if not shape:
            return scalar
        layout: Any = shape[1]
        return types.Array(scalar, int(shape[0][:-1]), layout, "readonly" in shape)
    inner = [type_of(one) for one in text[1:]]
    if text[0] == "tuple":
        return types.Tuple(inner)
    module, name = text[0].split(":")
    made = reduce(getattr, name.split("."), importlib.import_module(module))
    return types.BaseTuple.from_types(inner, made)


@dataclass
class Listing:
    """Loops with their signatures, and the uses that each estimator makes of them.

    Attributes
    ----------
    loops : dict
        From names of loops to lists of signatures, each a list of texts.
    estimators : dict
        From names of estimators to the uses of a plain fit and predict, as
        "name of the loop#number of the signature".
    """

    loops: dict[str, list[Any]] = field(default_factory=dict)
    estimators: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = LISTING) -> Listing:
        """The list that comes with the package."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path = LISTING) -> None:
        """Write the list, one line per signature."""
        lines = []
        for name in sorted(self.loops):
            rows = ",\n   ".join(sorted(map(json.dumps, self.loops[name])))
            lines.append(f"  {json.dumps(name)}: [\n   {rows}]")
        users = [
            f"  {json.dumps(name)}: {json.dumps(sorted(uses))}"
            for name, uses in sorted(self.estimators.items())
        ]
        text = (
            '{\n "loops": {\n' + ",\n".join(lines)
            + '\n },\n "estimators": {\n' + ",\n".join(users) + "\n }\n}\n"
        )  # fmt: skip
        path.write_text(text, encoding="utf-8")

    def uses(self, estimators: Iterable[str] = ()) -> list[Use]:
        """What is compiled ahead for these estimators; for all and any option if none.

        Loops that are no longer there are left out; a test sees to it that there are
        none in a release.
        """
        wanted = self._wanted(tuple(estimators))
        known = {name.removeprefix(PACKAGE) for name in every_loop()}
        return [
            Use(PACKAGE + name, tuple(type_of(t) for t in self.loops[name][number]))
            for name, number in wanted
            if name in known
        ]

    def _wanted(self, estimators: tuple[str, ...]) -> list[tuple[str, int]]:
        if not estimators:
            return [(n, k) for n, rows in self.loops.items() for k in range(len(rows))]
        unknown = sorted(set(estimators) - set(self.estimators))
        if unknown:
            names = ", ".join(sorted(self.estimators))
            raise ValueError(f"{unknown[0]} is not an estimator; there are {names}")
        texts = {text for name in estimators for text in self.estimators[name]}
        pairs = (text.rsplit("#", 1) for text in sorted(texts))
        return [(name, int(number)) for name, number in pairs]

    def missing(self, uses: Iterable[Use]) -> list[Use]:
        """Uses that are not listed."""
        return [use for use in uses if _row(use) not in self.loops.get(_short(use), [])]


def _short(use: Use) -> str:
    return use.loop.removeprefix(PACKAGE)


def _row(use: Use) -> list[Any]:
    return [type_text(kind) for kind in use.types]


def listing_of(plain: dict[str, set[Use]], more: set[Use]) -> Listing:
    """A list of what the runs of each estimator, and further runs, have used."""
    rows: dict[str, set[str]] = defaultdict(set)
    for use in more.union(*plain.values()):
        rows[_short(use)].add(json.dumps(_row(use)))
    ordered = {name: sorted(texts) for name, texts in rows.items()}
    estimators = {
        name: sorted(
            f"{_short(use)}#{ordered[_short(use)].index(json.dumps(_row(use)))}"
            for use in uses
        )
        for name, uses in plain.items()
    }
    loops = {name: [json.loads(t) for t in texts] for name, texts in ordered.items()}
    return Listing(loops, estimators)


def every_loop() -> dict[str, Any]:
    """All loops of the package that Python calls; imports every module of it.

    Modules whose optional packages are not installed are left out.
    """
    for module in pkgutil.walk_packages(maxmargin.__path__, PACKAGE):
        if module.name not in NOT_IMPORTED and module.name not in _tried:
            _tried.add(module.name)
            try:
                importlib.import_module(module.name)
            except ImportError:
                continue
    return {name: it for name, it in LOOPS.items() if name.startswith(PACKAGE)}


_tried: set[str] = set()


@contextmanager
def recorded() -> Iterator[set[Use]]:
    """The uses of loops of the package in the block, of those not loaded before it."""
    uses: set[Use] = set()

    def record(loop: str, kinds: tuple[Any, ...]) -> None:
        if loop.startswith(PACKAGE):
            uses.add(Use(loop, tuple(kinds)))

    RECORDERS.append(record)
    try:
        yield uses
    finally:
        RECORDERS.remove(record)
