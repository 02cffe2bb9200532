"""The walk of a call: which functions and files it goes through, and in which order.

    python tests/walk.py ChainSVM             # also GrammarSVM, KernelSVM, AlignmentSVM
    python tests/walk.py --all --summary      # one line per call
    python tests/walk.py ChainSVM --steps     # every function where it is first called

`fit` and `predict` run on tiny data, once to compile and import, then once under
`sys.setprofile`. Only functions of the package are counted, with the compiled loops that
Python calls; what a loop calls is not seen. A *room* is a top-level folder or module of `maxmargin`, and
each module of `core`, on whose arrays all rooms build. Two rooms call each other *both ways* when a function of each calls a function of the other,
directly or through a callback; the same is counted for files. What an object calls on
itself stays inside it, whichever of its classes holds the method.

Any tree that has these estimators can be measured: `PYTHONPATH=<tree>/src`.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import maxmargin

PACKAGE = Path(maxmargin.__file__).parent
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


@dataclass(frozen=True)
class Function:
    """A function of the package."""

    file: str  # below src/maxmargin
    name: str  # with its class
    line: int

    @property
    def room(self) -> str:
        """The top-level folder or module, or the module of `core`."""
        first, *rest = self.file.removesuffix(".py").split("/")
        return f"core.{rest[0]}" if first == "core" else first


@dataclass
class Walk:
    """What was called, in the order of first calls, and who called whom."""

    functions: dict[Function, int] = field(default_factory=dict)  # -> depth
    calls: Counter[tuple[Function, Function]] = field(default_factory=Counter)

    @property
    def files(self) -> dict[str, list[str]]:
        """Names of the functions called in each file."""
        out: dict[str, list[str]] = {}
        for function in self.functions:
            out.setdefault(function.file, []).append(function.name)
        return out

    def between(self, attribute: str) -> Counter[tuple[str, str]]:
        """Number of calls from one room (or file) to another."""
        out: Counter[tuple[str, str]] = Counter()
        for (caller, callee), count in self.calls.items():
            here, there = getattr(caller, attribute), getattr(callee, attribute)
            if here != there:
                out[here, there] += count
        return out

    def both_ways(self, attribute: str = "room") -> list[tuple[str, str]]:
        """Pairs of rooms (or files) that call each other."""
        calls = self.between(attribute)
        return sorted((a, b) for a, b in calls if a < b and (b, a) in calls)


def walk(call: Callable[[], Any]) -> Walk:
    """Run `call` and record the functions of the package that it goes through."""
    out = Walk()
    known: dict[CodeType, Function | None] = {}
    stack: list[tuple[FrameType, Function, object]] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "return":
            if stack and stack[-1][0] is frame:
                stack.pop()
        elif event == "call":
            code = frame.f_code
            if code not in known:
                known[code] = _function(code)
            function = known[code]
            if function is not None:
                out.functions.setdefault(function, len(stack))
                owner = _owner(frame)
                if stack and (owner is None or owner is not stack[-1][2]):
                    out.calls[stack[-1][1], function] += 1
                stack.append((frame, function, owner))

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return out


def _function(code: CodeType) -> Function | None:
    """The function of a code object; None for other packages and comprehensions."""
    path = Path(code.co_filename)
    if code.co_name in COMPREHENSIONS or PACKAGE not in path.parents:
        return None
    file = path.relative_to(PACKAGE).as_posix()
    return Function(file, code.co_qualname, code.co_firstlineno)


def _owner(frame: FrameType) -> object:
    """The object whose method runs, or None."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return frame.f_locals.get("self") if names[:1] == ("self",) else None


def chain() -> tuple[Any, Any, Any]:
    """Two label sequences."""
    X = [np.eye(3)[[0, 1, 2]], np.eye(3)[[1, 0]]]
    return maxmargin.ChainSVM(), X, [["a", "b", "c"], ["b", "a"]]


def grammar() -> tuple[Any, Any, Any]:
    """Two parse trees."""
    X = [["DT", "NN", "VBD"], ["PRP", "VBD", "DT", "NN"]]
    cat, dog = ("NP", ("DT", "the"), ("NN", "cat")), ("NP", ("DT", "a"), ("NN", "dog"))
    y = [
        ("S", cat, ("VP", ("VBD", "sat"))),
        ("S", ("NP", ("PRP", "I")), ("VP", ("VBD", "saw"), dog)),
    ]
    return maxmargin.GrammarSVM(), X, y


def kernel() -> tuple[Any, Any, Any]:
    """Two classes in the plane, by cutting-plane subspace pursuit."""
    X = np.random.default_rng(0).normal(size=(24, 2))
    model = maxmargin.KernelSVM(kernel="rbf", kernel_method="cpsp", n_basis=5)
    return model, X, (X[:, 0] > 0).astype(int)


def alignment() -> tuple[Any, Any, Any]:
    """Two aligned pairs, with a kernel between their positions."""
    rows = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("HEAGAW", "-EA-AW")]
    X = [tuple(row.replace("-", "") for row in pair) for pair in rows]
    return maxmargin.AlignmentSVM(kernel="rbf"), X, rows


MODELS = {
    "ChainSVM": chain,
    "GrammarSVM": grammar,
    "KernelSVM": kernel,
    "AlignmentSVM": alignment,
}


def walks(name: str) -> Iterator[tuple[str, Walk]]:
    """The walks of `fit` and of `predict` of one of `MODELS`."""
    model, X, y = MODELS[name]()
    model.fit(X, y)  # imports, compiles, fills caches
    model.predict(X)
    model, X, y = MODELS[name]()
    yield f"{name}.fit", walk(lambda: model.fit(X, y))
    yield f"{name}.predict", walk(lambda: model.predict(X))


def summary(title: str, found: Walk) -> str:
    """One line: functions, files, rooms, and what calls each other both ways."""
    pairs = ", ".join(f"{a} <-> {b}" for a, b in found.both_ways()) or "none"
    rooms = {function.room for function in found.functions}
    return (
        f"{title}: {len(found.functions)} functions, {len(found.files)} files, "
        f"{len(rooms)} rooms; rooms both ways: {pairs}; "
        f"files both ways: {len(found.both_ways('file'))}"
    )


def show(found: Walk, steps: bool) -> None:
    """Print the functions in order, then the rooms and the files both ways."""
    if steps:
        for function, depth in found.functions.items():
            print(f"{'  ' * depth}{function.name}  {function.file}:{function.line}")
    else:
        for file, names in found.files.items():
            print(f"  {file:42} {', '.join(names)}")
    print("calls between rooms:")
    for (here, there), count in found.between("room").most_common():
        print(f"  {here} -> {there}: {count}")
    for a, b in found.both_ways("file"):
        print(f"  files both ways: {a} <-> {b}")


def main() -> None:
    """Print the walks that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", choices=[*MODELS, []], metavar="MODEL")
    parser.add_argument(
        "--all", action="store_true", help="all of " + ", ".join(MODELS)
    )
    parser.add_argument("--summary", action="store_true", help="one line per call")
    parser.add_argument("--steps", action="store_true", help="one line per function")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # tiny data: gaps and unseen labels do not matter
    for name in MODELS if options.all else options.models or ["ChainSVM"]:
        for title, found in walks(name):
            print(summary(title, found))
            if not options.summary:
                show(found, options.steps)
                print()


if __name__ == "__main__":
    main()
