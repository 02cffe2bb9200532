"""Mutation trials: small faults put into the source; do the tests notice?

    python tests/mutation.py metrics --most 20 --seed 0

    python tests/mutation.py known

The first takes the Python files of a folder of the package (or one file), makes one fault at a
time in a copy of the source and runs the tests that mention most of what the file defines,
and the examples in the docstrings of the file. A mutant that no test notices survives; the
script prints it, to be killed by a test or to be explained. Where a file has loops, all
loops run without Numba, so that a fault costs no compilation. Each trial is a fork of this
process, which has the other packages loaded: Linux and macOS only. The second makes the
faults of `KNOWN`, all of which the tests must notice.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":  # before Numba is loaded, here and in children
    given = Path(__file__).parents[1] / "src" / "maxmargin" / sys.argv[1]
    parts = [given] if given.is_file() else list(given.rglob("*.py"))
    if any("core.jit import" in part.read_text(encoding="utf8") for part in parts):
        os.environ["NUMBA_DISABLE_JIT"] = "1"

import numba  # noqa: F401
import pytest
import scipy.sparse  # noqa: F401
import sklearn.utils.estimator_checks  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "maxmargin"
ALWAYS = {  # tests that are about a file without mentioning its names
    "core/formulations.py": ["tests/contracts/test_formulations.py"],
    "core/problem.py": ["tests/contracts/test_formulations.py"],
    "losses": ["tests/contracts/test_formulations.py"],
    "estimators/fitting": ["tests/unit/estimators/test_estimators_trials.py"],
    "estimators": ["tests/unit/estimators/test_estimators_mistakes.py"],
    "cli": ["tests/unit/cli/test_cli.py", "tests/unit/cli/test_cli_mistakes.py"],
}
# Faults by hand: what is wrong, the file, its text and the faulty text, and the tests.
TRIALS = "tests/unit/estimators/test_estimators_trials.py::"
BASIC = "tests/unit/estimators/test_estimators.py::"
KNOWN = [
    ("the gap is halved", "solvers/base.py",
     "return max(self.primal - self.dual, 0.0) /",
     "return 0.5 * max(self.primal - self.dual, 0.0) /",
     f"{TRIALS}test_primal_and_gap_are_those_of_the_formulas"),
    ("squared slacks cost twice as much", "core/formulations.py",
     "return 0.5 * C * slack**2", "return C * slack**2",
     f"{TRIALS}test_primal_and_gap_are_those_of_the_formulas"),
    ("sample weights are ignored", "estimators/fitting/inputs.py",
     "return float(C) * weight", "return np.full(n, float(C))",
     f"{BASIC}test_sample_weights_are_copies"),
    ("a warm start takes the dual of other data", "estimators/fitting/base.py",
     'same = mark is not None and mark == self.__dict__.get("_mark")',
     "same = self.warm_start",
     f"{BASIC}test_warm_start_goes_on_and_never_mixes_data"),
    ("a broken oracle is accepted", "core/oracle.py",
     "if slack.min(initial=0.0) >= -1e-6:", "if True:",
     f"{BASIC}test_an_argmax_worse_than_the_truth_is_named"),
    ("random_state is ignored", "estimators/fitting/inputs.py",
     "        return int(random_state)", "        return 0",
     f"{TRIALS}test_the_seed_is_used"),
]  # fmt: skip
CHOSEN = 4  # test files per file, at most
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


class Mutant(NamedTuple):
    """A fault: where it is, and the text of the file with it."""

    path: Path
    line: int
    what: str
    text: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All faults of one file."""
    source = path.read_text(encoding="utf8")
    tree = ast.parse(source)
    for node in ast.walk(tree):
        yield from _operators(path, tree, node)
        yield from _constants(path, tree, node)


def _operators(path: Path, tree: ast.AST, node: ast.AST) -> Iterator[Mutant]:
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            other = SWAPS.get(type(op))
            if other is not None:
                node.ops[k] = other()
                yield _made(path, tree, node, f"{_name(op)} -> {other.__name__}")
                node.ops[k] = op
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        op, other = node.op, SWAPS.get(type(node.op))
        if other is not None:
            node.op = other()
            yield _made(path, tree, node, f"{_name(op)} -> {other.__name__}")
            node.op = op


def _constants(path: Path, tree: ast.AST, node: ast.AST) -> Iterator[Mutant]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        node.value = not value
    elif isinstance(value, int | float):
        node.value = value + 1
    else:
        return
    yield _made(path, tree, node, f"{value!r} -> {node.value!r}")
    node.value = value


def _name(op: ast.AST) -> str:
    return type(op).__name__


def _made(path: Path, tree: ast.AST, node: ast.AST, what: str) -> Mutant:
    return Mutant(path, getattr(node, "lineno", 0), what, ast.unparse(tree))


def tests_of(path: Path) -> list[str]:
    """The test files that mention the public names of a file most often."""
    body = ast.parse(path.read_text(encoding="utf8")).body
    kinds = ast.FunctionDef | ast.ClassDef
    names = [n.name for n in body if isinstance(n, kinds) and n.name[0] != "_"]
    named = re.compile(r"\b(" + "|".join(names or [path.stem]) + r")\b")
    where, room = path.relative_to(SOURCE), path.relative_to(SOURCE).parts[0]
    count = {}
    for test in sorted((ROOT / "tests" / "unit").rglob("test_*.py")):
        found = len(named.findall(test.read_text(encoding="utf8")))
        count[str(test)] = found * (3 if test.parent.name == room else 1)
    best = sorted(count, key=lambda test: -count[test])[:CHOSEN]
    out = [test for test in best if count[test] > 0]
    for part, tests in ALWAYS.items():
        if str(where).startswith(part):
            out += [str(ROOT / test) for test in tests]
    return list(dict.fromkeys(out))


def outcome(mutant: Mutant, tests: list[str], seconds: float) -> str:
    """Whether the tests notice the fault: "killed", "survived", or "out of time".

    `seconds` are those of the processor: a fault may make a loop endless.
    """
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        place = Path(folder) / mutant.path.relative_to(ROOT)
        place.write_text(mutant.text, encoding="utf8")
        examples = [] if "::" in tests[0] else [str(place)]
        child = multiprocessing.get_context("fork").Process(
            target=_run_tests, args=(folder, [*examples, *tests], seconds)
        )
        child.start()
        child.join()
        if child.exitcode == -signal.SIGXCPU:
            return "out of time"
        return "survived" if child.exitcode == 0 else "killed"


def _run_tests(folder: str, tests: list[str], seconds: float) -> None:
    """In a process of its own, which has the other packages loaded already."""
    spent = int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent, spent + 10))
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    os.chdir(ROOT)
    sys.path[:0] = [f"{folder}/src", str(ROOT / "tests")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])  # of further processes
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    settings += ["-W", "ignore:overflow encountered:RuntimeWarning"]  # hashes, unjitted
    sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *settings, *tests]))


def try_known(seconds: float) -> None:
    """Make the faults of `KNOWN`."""
    for what, file, right, wrong, test in KNOWN:
        path = SOURCE / file
        text = path.read_text(encoding="utf8")
        if text.count(right) != 1:
            sys.exit(f"{file}: {right!r} is not there once")
        line = text[: text.index(right)].count("\n") + 1
        mutant = Mutant(path, line, what, text.replace(right, wrong))
        sys.stdout.write(f"{outcome(mutant, [test], seconds)}: {what}\n")
        sys.stdout.flush()


def main() -> None:
    """Sample faults of a folder, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", help="folder or file below src/maxmargin, or known")
    parser.add_argument("--most", type=int, default=20, help="faults to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="CPU seconds for the tests"
    )
    parser.add_argument("--tests", nargs="*", help="instead of those found")
    args = parser.parse_args()
    if args.part == "known":
        try_known(args.seconds)
        return
    where = SOURCE / args.part
    files = [where] if where.is_file() else sorted(where.rglob("*.py"))
    known = [m for path in files for m in mutants_of(path)]
    some = random.Random(args.seed).sample(known, min(args.most, len(known)))
    sound: dict[Path, bool] = {}  # whether the tests pass without a fault
    count = {"killed": 0, "survived": 0, "out of time": 0}
    for mutant in some:
        tests = args.tests or tests_of(mutant.path)
        if mutant.path not in sound:
            text = mutant.path.read_text(encoding="utf8")
            whole = Mutant(mutant.path, 0, "none", text)
            sound[mutant.path] = outcome(whole, tests, args.seconds) == "survived"
        if not sound[mutant.path]:
            name = mutant.path.relative_to(SOURCE)
            sys.stdout.write(f"left out: {name}, whose tests fail without a fault\n")
            continue
        found = outcome(mutant, tests, args.seconds)
        count[found] += 1
        if found != "killed":
            name = mutant.path.relative_to(SOURCE)
            sys.stdout.write(f"{found}: {name}, line {mutant.line}: {mutant.what}\n")
            sys.stdout.flush()
    told = ", ".join(f"{n} {what}" for what, n in count.items())
    sys.stdout.write(f"{args.part}: {told} ({len(known)} faults known)\n")


if __name__ == "__main__":
    main()
