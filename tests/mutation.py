"""Mutation trials: small faults put into the source; do the tests notice?

    python tests/mutation.py metrics --most 20 --seed 0

takes the Python files of a folder of the package (or one file), makes one fault at a
time in a copy of the source and runs the tests that belong to it. A mutant that no test
notices survives; the script prints it, to be killed by a test or to be explained. Loops
run without Numba, so that a fault costs no compilation.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "maxmargin"
TESTS = {
    "metrics": ["tests/unit/metrics"],
    "io": ["tests/unit/io"],
    "losses": [
        "tests/unit/structures/test_chain.py",
        "tests/contracts/test_formulations.py",
    ],
    "core/formulations.py": ["tests/contracts/test_formulations.py"],
    "core/problem.py": ["tests/contracts/test_formulations.py"],
    "estimators": ["tests/unit/estimators", "tests/contracts/test_estimators.py"],
    "cli": ["tests/unit/cli"],
}
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


def survives(mutant: Mutant, tests: list[str], seconds: float) -> bool:
    """Whether all tests pass with the fault."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        place = Path(folder) / mutant.path.relative_to(ROOT)
        place.write_text(mutant.text, encoding="utf8")
        env = {
            **os.environ, "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join([f"{folder}/src", str(ROOT / "tests")]),
        }  # fmt: skip
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            *tests,
        ]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=env,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except (
            subprocess.TimeoutExpired
        ):  # a fault that makes a loop endless is noticed
            return False
        return done.returncode == 0


def main() -> None:
    """Sample faults of a folder, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", help="folder or file below src/maxmargin")
    parser.add_argument("--most", type=int, default=20, help="faults to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120.0, help="for the tests")
    parser.add_argument("--tests", nargs="*", help="instead of those of the table")
    args = parser.parse_args()
    where = SOURCE / args.part
    files = [where] if where.is_file() else sorted(where.rglob("*.py"))
    known = [m for path in files for m in mutants_of(path)]
    some = random.Random(args.seed).sample(known, min(args.most, len(known)))
    tests = args.tests or TESTS.get(args.part) or TESTS[args.part.split("/")[0]]
    alive = 0
    for mutant in some:
        if survives(mutant, tests, args.seconds):
            alive += 1
            name = mutant.path.relative_to(SOURCE)
            sys.stdout.write(f"survived: {name}, line {mutant.line}: {mutant.what}\n")
            sys.stdout.flush()
    sys.stdout.write(
        f"{args.part}: {alive} of {len(some)} faults survived ({len(known)} known)\n"
    )


if __name__ == "__main__":
    main()
