"""Mutation trials: small faults put into the source; do the tests notice?

    python tests/mutation.py record
    python tests/mutation.py try metrics io --most 50 --seed 0 [--keep]
    python tests/mutation.py again
    python tests/mutation.py known
    python tests/mutation.py figures

`record` runs tests once and adds to a file of the temporary folder which functions of
the package each of them enters and how long it takes. `try` makes one fault at a time in
the Python files of a folder of the package (or of one file) and runs the tests that enter
the function with the fault, the shortest first, until one fails. A mutant that no test
notices survives; the script prints it, to be killed by a test or to be explained. With
`--keep` counts and survivors go to `benchmarks/results/mutation.json`, and `again` tries
the survivors of that file once more (record new tests first). `known` makes the faults of
`KNOWN`, all of which the tests must notice. `figures` prints what is kept: counts, and why
a survivor need not be killed. Survivors that are explained have a "why" in the file.

Each trial is a fork of this process, which has the package and the tests loaded: Linux and
macOS only. A fault inside a function replaces the code of that function. Faults elsewhere
(defaults, tables, loops) are made in a copy of the source, which the fork loads anew.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import importlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "maxmargin"
RECORD = Path(tempfile.gettempdir()) / "maxmargin-mutation.jsonl"
RESULTS = ROOT / "benchmarks" / "results" / "mutation.json"
# What `record` runs, if nothing else is named.
TESTS = [
    "tests/unit/metrics", "tests/unit/io", "tests/unit/cli", "tests/unit/estimators",
    "tests/unit/calibration", "tests/unit/core", "tests/unit/losses",
    "tests/unit/engines/test_engines.py", "tests/contracts/test_formulations.py",
    "tests/contracts/test_mistakes.py", "tests/contracts/test_estimator_table.py",
    *(f"src/maxmargin/{room}" for room in ("metrics", "io", "losses", "estimators")),
]  # fmt: skip
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
    function: str  # the outermost function around it, as "name" or "Class.name"
    what: str
    text: str


# ---- faults ---------------------------------------------------------------------------


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All faults of one file."""
    tree = ast.parse(path.read_text(encoding="utf8"))
    yield from _inside(path, tree, tree, "", "")


def _inside(
    path: Path, tree: ast.AST, node: ast.AST, kind: str, name: str
) -> Iterator[Mutant]:
    """The faults below `node`; `kind` and `name` are of the class or function around."""
    for child in ast.iter_child_nodes(node):
        below, called = kind, name
        if isinstance(child, ast.ClassDef | ast.FunctionDef) and kind != "function":
            below = "class" if isinstance(child, ast.ClassDef) else "function"
            called = f"{name}.{child.name}" if name else child.name
        around = called if below == "function" else ""
        for what in _faults(child):
            line = getattr(child, "lineno", 0)
            yield Mutant(path, line, around, what, ast.unparse(tree))
        yield from _inside(path, tree, child, below, called)


def _faults(node: ast.AST) -> Iterator[str]:
    """Put each fault of a node into it, say what it is, and take it out again."""
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            if type(op) in SWAPS:
                node.ops[k] = SWAPS[type(op)]()
                yield f"{_name(op)} -> {_name(node.ops[k])} in {ast.unparse(node)}"
                node.ops[k] = op
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        op, node.op = node.op, SWAPS[type(node.op)]()
        yield f"{_name(op)} -> {_name(node.op)} in {ast.unparse(node)}"
        node.op = op
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1
        yield f"{value!r} -> {node.value!r}"
        node.value = value
    elif isinstance(node, ast.If | ast.IfExp):
        test, node.test = node.test, ast.UnaryOp(ast.Not(), node.test)
        yield f"not: if {ast.unparse(node.test)}"
        node.test = test
    elif isinstance(node, ast.Call):
        yield from _without_arguments(node)
    elif isinstance(node, ast.Return) and node.value and not _is_none(node.value):
        value, node.value = node.value, ast.Constant(None)
        yield f"return None, not {ast.unparse(value)}"
        node.value = value


def _without_arguments(node: ast.Call) -> Iterator[str]:
    """Each named argument is left out, so that the default takes its place."""
    whole = node.keywords
    for k, keyword in enumerate(whole):
        if keyword.arg is not None:
            node.keywords = whole[:k] + whole[k + 1 :]
            yield f"without {ast.unparse(keyword)} in {ast.unparse(node.func)}(...)"
    node.keywords = whole


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _name(op: ast.AST) -> str:
    return type(op).__name__


# ---- which test enters which function -------------------------------------------------


class Recorder:
    """Notes what each test enters: a plug-in of pytest."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("a", encoding="utf8")
        self.passed = True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        entered: set[CodeType] = set()

        def enter(frame: FrameType, event: str, value: object) -> None:
            entered.add(frame.f_code)

        self.passed = True
        start = time.process_time()
        threading.settrace(enter)
        sys.settrace(enter)
        yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        spent = time.process_time() - start
        if self.passed:
            places = sorted({p for p in map(place_of, entered) if p is not None})
            row = {"test": item.nodeid, "seconds": spent, "places": places}
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.passed &= report.passed


@functools.cache
def place_of(code: CodeType) -> str | None:
    """A function as "file:name", or None if it is none of the package."""
    path = Path(code.co_filename)
    if SOURCE not in path.parents:
        return None
    return f"{path.relative_to(SOURCE)}:{code.co_qualname.split('.<locals>')[0]}"


class Tests:
    """The tests that were recorded."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            sys.exit("nothing is recorded: python tests/mutation.py record")
        found = [json.loads(line) for line in path.open(encoding="utf8")]
        rows = list({row["test"]: row for row in found}.values())  # the last of each
        rows.sort(key=lambda row: row["seconds"])
        self.seconds = {row["test"]: row["seconds"] for row in rows}
        self.of: dict[str, list[str]] = {}
        for row in rows:
            files = {place.split(":")[0] for place in row["places"]}
            for place in [*row["places"], *files]:
                self.of.setdefault(place, []).append(row["test"])

    def entering(self, mutant: Mutant, seconds: float) -> list[str]:
        """Tests that enter the function of a fault: some that take `seconds` in all."""
        place = str(mutant.path.relative_to(SOURCE))
        if mutant.function:
            place += f":{mutant.function}"
        out, spent = [], 0.0
        for test in self.of.get(place, []):
            spent += self.seconds[test]
            if spent > seconds and out:
                break
            out.append(test)
        return out


# ---- trials ---------------------------------------------------------------------------


def outcome(mutant: Mutant, tests: list[str], seconds: float) -> str:
    """Whether the tests notice the fault: "killed", "survived", or "out of time".

    `seconds` are those of the processor: a fault may make a loop endless.
    """
    if not tests:
        return "not entered"
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        child = multiprocessing.get_context("fork").Process(
            target=_run_tests, args=(mutant, folder, tests, seconds)
        )
        child.start()
        child.join()
    if child.exitcode == -signal.SIGXCPU:
        return "out of time"
    return "survived" if child.exitcode == 0 else "killed"


def _run_tests(mutant: Mutant, folder: str, tests: list[str], seconds: float) -> None:
    """In a process of its own, which has packages and tests loaded already."""
    spent = int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent, spent + 10))
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if not _replace_code(mutant):
        _load_copy(mutant, Path(folder))
    for kept in gc.get_objects():
        if isinstance(kept, functools._lru_cache_wrapper):
            kept.cache_clear()
    sys.exit(run_pytest(["-x", *tests]))


def run_pytest(arguments: list[str], plugins: list[object] | None = None) -> int:
    """Pytest with the settings of the project."""
    settings = ["-q", "-p", "no:xdist", "-p", "no:anyio", "--rootdir", str(ROOT)]
    settings += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # loaded already
    return int(pytest.main([*settings, *arguments], plugins=plugins))


def _replace_code(mutant: Mutant) -> bool:
    """Put the fault into the loaded function, if it is a plain one."""
    if not mutant.function:
        return False
    codes = [
        code
        for code in _codes(compile(mutant.text, str(mutant.path), "exec"))
        if code.co_qualname == mutant.function
    ]
    function = _function(mutant)
    if len(codes) != 1 or function is None or _in_signature(mutant):
        return False
    if codes[0].co_freevars != function.__code__.co_freevars:
        return False
    old = function.__code__
    function.__code__ = codes[0].replace(co_firstlineno=old.co_firstlineno)
    return True


def _in_signature(mutant: Mutant) -> bool:
    """Whether a fault is in a default or a decorator, which the code does not hold."""

    def signatures(text: str) -> list[str]:
        return [
            ast.dump(part)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef)
            for part in (node.args, *node.decorator_list)
        ]

    return signatures(mutant.text) != signatures(mutant.path.read_text("utf8"))


def _codes(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _codes(part)


def _function(mutant: Mutant) -> FunctionType | None:
    """The loaded function that a fault is in, without its decorators."""
    found: Any = importlib.import_module(_module(mutant.path))
    for name in mutant.function.split("."):
        found = vars(found).get(name)
    for _ in range(5):
        if isinstance(found, FunctionType) and not hasattr(found, "__wrapped__"):
            break
        below = ("__wrapped__", "__func__", "fget", "func", "fn")
        inner = [getattr(found, key) for key in below if hasattr(found, key)]
        found = inner[0] if inner else found
    right = isinstance(found, FunctionType) and found.__qualname__ == mutant.function
    return found if right else None


def _module(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _load_copy(mutant: Mutant, folder: Path) -> None:
    """Have the package loaded anew, from a copy with the fault."""
    shutil.copytree(ROOT / "src", folder / "src")
    place = folder / mutant.path.relative_to(ROOT)
    place.write_text(mutant.text, encoding="utf8")
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name.split(".")[0] == "maxmargin" or file.startswith(str(ROOT / "tests")):
            del sys.modules[name]
    sys.path.insert(0, str(folder / "src"))
    os.environ["PYTHONPATH"] = str(folder / "src")  # of further processes


# ---- the commands ---------------------------------------------------------------------


def load_all() -> None:
    """Load the package, so that a fork need not."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.parts[len(SOURCE.parts)] not in ("torch", "jax", "__main__.py"):
            importlib.import_module(_module(path))


def try_known(seconds: float) -> None:
    """Make the faults of `KNOWN`."""
    for what, file, right, wrong, test in KNOWN:
        path = SOURCE / file
        text = path.read_text(encoding="utf8")
        if text.count(right) != 1:
            sys.exit(f"{file}: {right!r} is not there once")
        line = text[: text.index(right)].count("\n") + 1
        mutant = Mutant(path, line, "", what, text.replace(right, wrong))
        tell(f"{outcome(mutant, [test], seconds)}: {what}")


def try_sample(part: str, most: int, seed: int, seconds: float) -> dict[str, Any]:
    """Make some faults of a folder, and print those that survive."""
    where = SOURCE / part
    files = [where] if where.is_file() else sorted(where.rglob("*.py"))
    known = [m for path in files for m in mutants_of(path)]
    some = random.Random(seed).sample(known, min(most, len(known)))
    count: dict[str, int] = {}
    left = []
    for mutant, found, tests in outcomes(some, seconds):
        count[found] = count.get(found, 0) + 1
        if found != "killed":
            name = f"{mutant.path.relative_to(SOURCE)}:{mutant.line}"
            tell(f"{found}: {name} {mutant.function}: {mutant.what} ({tests} tests)")
            left.append(row_of(mutant) | {"found": found})
    told = ", ".join(f"{n} {what}" for what, n in sorted(count.items()))
    tell(f"{part}: {told} ({len(known)} faults known)")
    counts = {"faults": len(known), "tried": len(some), "seed": seed} | count
    return {"counts": counts, "survivors": left}


def outcomes(some: list[Mutant], seconds: float) -> Iterator[tuple[Mutant, str, int]]:
    """Each fault, what became of it, and the number of tests."""
    recorded = Tests(RECORD)
    used = {t.split("::")[0] for m in some for t in recorded.entering(m, seconds)}
    run_pytest(["--collect-only", "-qq", *sorted(used)])
    for mutant in some:
        tests = recorded.entering(mutant, seconds)
        limit = 30.0 + 5.0 * sum(recorded.seconds[test] for test in tests)
        yield mutant, outcome(mutant, tests, limit), len(tests)


def row_of(mutant: Mutant) -> dict[str, Any]:
    """Where and what a fault is, without its line, which moves."""
    file = mutant.path.relative_to(SOURCE).as_posix()
    return {"file": file, "function": mutant.function, "what": mutant.what}


def try_again(seconds: float) -> None:
    """Try the survivors that are kept, but for those that are explained."""
    kept = json.loads(RESULTS.read_text(encoding="utf8"))
    for part, found in kept.items():
        rows = [row for row in found["survivors"] if "why" not in row]
        open_ = [row for row in rows if row.get("now") != "killed"]
        paths = {SOURCE / row["file"] for row in open_}
        known = [m for path in sorted(paths) for m in mutants_of(path)]
        for row in open_:
            place = {key: row[key] for key in ("file", "function", "what")}
            same = [mutant for mutant in known if row_of(mutant) == place]
            ends = [end for _, end, _ in outcomes(same, seconds)]
            row["now"] = "killed" if set(ends) == {"killed"} else "survived"
            row["now"] = row["now"] if ends else "the line has changed"
            tell(f"{row['now']}: {row['file']} {row['function']}: {row['what']}")
        keep({part: found})


def keep(found: dict[str, Any]) -> None:
    """Write counts and survivors of parts into the file of results."""
    kept = json.loads(RESULTS.read_text(encoding="utf8")) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(kept | found, indent=1) + "\n", encoding="utf8")


def print_figures() -> None:
    """Print the counts of each part, its open survivors, and the explained ones."""
    kept = json.loads(RESULTS.read_text(encoding="utf8"))
    for part, found in kept.items():
        told = ", ".join(f"{name} {n}" for name, n in found["counts"].items())
        tell(f"{part}: {told}")
        for row in found["survivors"]:
            if "why" in row or row.get("now") != "killed":
                place = f"{row['file']} {row['function']}".rstrip()
                tell(f"    {place}: {row['what']}\n        {row.get('why', 'OPEN')}")


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record")
    record.add_argument("tests", nargs="*", default=TESTS)
    trial = commands.add_parser("try")
    trial.add_argument("parts", nargs="+", help="folders or files of src/maxmargin")
    trial.add_argument("--most", type=int, default=20, help="faults to try")
    trial.add_argument("--seed", type=int, default=0)
    trial.add_argument("--keep", action="store_true", help="into the file of results")
    commands.add_parser("known")
    commands.add_parser("figures")
    for command in (trial, commands.add_parser("again")):
        command.add_argument("--seconds", type=float, default=10.0, help="per fault")
    args = parser.parse_args()
    if args.command == "figures":
        print_figures()
        return
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])  # of further processes
    load_all()
    if args.command == "record":
        run_pytest(list(args.tests), [Recorder(RECORD)])
    elif args.command == "known":
        try_known(120.0)
    elif args.command == "again":
        try_again(args.seconds)
    else:
        for part in args.parts:
            found = try_sample(part, args.most, args.seed, args.seconds)
            if args.keep:
                seed = f", seed {args.seed}" if args.seed else ""
                keep({part + seed: found})


if __name__ == "__main__":
    main()
