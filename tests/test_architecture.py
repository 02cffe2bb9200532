"""Who may import whom, how long files are, and what is kept in one place only."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from draw_rooms import DRAWN, PICTURES, STEPS

SOURCE = Path(__file__).parents[1] / "src" / "maxmargin"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(path.relative_to(SOURCE)) for path in FILES]
every_file = pytest.mark.parametrize("path", FILES, ids=NAMES)

LEAVES = {"core.data", "core.compiled", "core.jit"}
# What each room may import beside itself. Single modules (`solvers.base`,
# those of core) are named where no more than those is allowed.
MAY = {
    "core": {"inference.graph", "inference.marginals"},  # types of the factored dual
    "inference": LEAVES,
    "losses": LEAVES | {"core.loss", "inference"},
    "engines": LEAVES | {"core.engine"},
    "kernels": LEAVES,
    "metrics": LEAVES,
    "io": LEAVES,
    "features": LEAVES | {"io.text"},
    "calibration": LEAVES | {"metrics"},
    "structures": LEAVES
    | {"core.factored", "core.formulations", "core.structure", "core.loss"}
    | {"losses", "inference", "features"},
    "solvers": LEAVES
    | {"core.factored"}
    | {"core.cuts", "core.formulations", "core.oracle", "core.problem"}
    | {"inference", "kernels", "core.structure"},
    "bounds": LEAVES
    | {"core.formulations", "core.problem", "core.structure", "core.loss"}
    | {"solvers", "structures"},
    "baselines": LEAVES
    | {"core.structure", "losses", "datasets", "inference", "io", "structures"}
    | {"metrics"},
    "datasets": LEAVES | {"io"},
    "reports": LEAVES | {"solvers.base", "datasets", "metrics", "calibration"},
    "plots": {"reports"},
    "decode": LEAVES
    | {"core.engine", "core.formulations", "engines", "inference"}
    | {"structures.chain", "structures.classes"},
    "torch": LEAVES | {"core.formulations", "decode", "estimators", "structures.chain"},
    "jax": LEAVES | {"core.formulations", "decode"},
    "estimators": {
        "bounds",
        "core",
        "losses",
        "engines",
        "kernels",
        "metrics",
        "reports",
    }
    | {"solvers", "structures", "io", "inference", "features", "calibration"},
}
# Rooms at the top: anything goes there, and nobody else imports them.
TOP = {"cli", "serve", "runtime", "__main__", "__init__"}
# Packages that are at home in some rooms only.
HOMES = {
    "numba": {"core"},
    "sklearn": {"estimators", "datasets", "baselines"},
    "joblib": {"estimators", "engines"},
    "cloudpickle": {"engines"},
    "matplotlib": {"reports", "cli"},
    "rich": {"reports", "cli"},
    "pandas": {"reports", "cli", "io"},
    "torch": {"torch"},
    "jax": {"jax"},
    "starlette": {"serve"},
    "uvicorn": {"serve"},
    "threading": {"engines"},
    "multiprocessing": {"engines"},
    "concurrent": {"engines"},
    "dask": {"engines"},
    "distributed": {"engines"},
}
LONGEST = 600
MOST_FILES = 9
UNIT_TESTS = Path(__file__).parent / "unit"
# Rooms without a folder of unit tests, and where they are tested.
TESTED_ELSEWHERE = {
    "plots": "unit/reports",
    "runtime": "unit/cli",
}


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf8"))


def room(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def inside(path):
    return path.is_relative_to(SOURCE)


def imports(path, fallbacks=True):
    """Modules imported anywhere in the file, or not after `except`, by full name."""
    tree = parsed(path)
    handlers = [n for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler)]
    left_out = {n for handler in handlers for n in ast.walk(handler) if not fallbacks}
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or not inside(path), f"{path}: relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


@every_file
def test_dependencies_point_one_way(path):
    here = room(path)
    if here in TOP:
        return
    assert here in MAY, f"{here} is not a room of docs/architecture.md"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "maxmargin" or len(parts) < 2:
            continue
        there, inner = parts[1], ".".join(parts[1:3])
        allowed = there == here or there in MAY[here] or inner in MAY[here]
        assert allowed, f"{here} imports {name}"


@pytest.mark.parametrize(
    "folder", ["src", "tests", "benchmarks", "experiments", "docs"]
)
def test_imported_modules_exist(folder):
    """Imports inside functions, too: a module that has moved is found before a run."""
    for path in SOURCE.parents[1].joinpath(folder).rglob("*.py"):
        for name in imports(path, fallbacks=False):
            parts = name.split(".")
            home = SOURCE.joinpath(*parts[1:-1])
            found = home.is_dir() or home.with_suffix(".py").exists()
            assert parts[0] != "maxmargin" or found, f"{path} imports {name}"


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in FILES}), ids=lambda p: p.name
)
def test_folders_are_small(folder):
    files = [path.name for path in folder.glob("*.py") if path.name[:2] != "__"]
    assert len(files) <= MOST_FILES, f"{folder.name} has {len(files)} files"


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_show_the_code_as_it_is(name):
    drawn = (PICTURES / name).read_text(encoding="utf8")
    assert drawn == DRAWN[name](), "draw it again: python tests/draw_rooms.py"


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.text)
def test_the_steps_of_the_picture_exist(step):
    file, name = step.where.split(":")
    tree = ast.parse((SOURCE / file).read_text(encoding="utf8"))
    defined = {getattr(node, "name", None) for node in ast.walk(tree)}
    assert name in defined, f"{file} has no {name}"


def test_files_and_folders_of_the_architecture_page_exist():
    text = (PICTURES.parent / "architecture.md").read_text(encoding="utf8")
    files = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", text)
    roots = [SOURCE, SOURCE.parents[1]]
    missing = [f for f in files if not any((root / f).exists() for root in roots)]
    folders = re.findall(r"^\| `maxmargin\.([a-z_.]+)` \|", text, re.M)
    missing += [f for f in folders if not SOURCE.joinpath(*f.split(".")).is_dir()]
    assert len(files) > 20 and len(folders) > 20 and not missing, missing


def test_unit_tests_mirror_the_rooms():
    """Every room has a folder of tests, and every folder of tests has a room."""
    rooms = set(map(room, FILES)) - {"__init__", "__main__"} - set(TESTED_ELSEWHERE)
    assert {
        path.name for path in UNIT_TESTS.iterdir() if any(path.glob("*.py"))
    } == rooms
    assert not list(UNIT_TESTS.glob("*.py")), "unit tests go to the folder of a room"


@pytest.mark.parametrize(
    "path",
    sorted(UNIT_TESTS.rglob("*.py")),
    ids=lambda p: p.relative_to(UNIT_TESTS).as_posix(),
)
def test_unit_tests_are_named_after_what_they_test(path):
    """`test_chain.py` tests a file or folder `chain` of its room, or the whole room."""
    folder = SOURCE / path.parent.relative_to(UNIT_TESTS)
    subjects = {path.parent.name} | {inner.stem for inner in folder.rglob("*")}
    name = path.stem.removeprefix("test_")
    begins = {"_".join(name.split("_")[:k]) for k in range(1, name.count("_") + 2)}
    assert begins & subjects, f"{path.parent.name} has nothing called {name}"


@every_file
def test_packages_stay_at_home(path):
    for name in imports(path):
        home = HOMES.get(name.split(".")[0])
        assert home is None or room(path) in home, f"{name} in {room(path)}"


@every_file
def test_files_are_short(path):
    name = str(path.relative_to(SOURCE))
    lines = len(path.read_text().splitlines())
    assert lines <= LONGEST, f"{name} has {lines} lines"


@every_file
def test_only_the_command_line_and_reports_print(path):
    if room(path) in ("cli", "reports"):
        return
    calls = [
        node
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    ]
    assert not calls


@every_file
def test_files_say_what_they_are(path):
    tree = parsed(path)
    assert ast.get_docstring(tree), "no module docstring"
    assert path.stem not in ("utils", "util", "helpers", "common", "misc")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name.lstrip("_")
            if name == "get_metadata_routing":  # scikit-learn calls it by this name
                continue
            assert not name.startswith(("get_", "compute_", "do_")), node.name


@every_file
def test_functions_other_than_loops_have_types(path):
    for node in ast.walk(parsed(path)):
        if not isinstance(node, ast.FunctionDef) or compiled(node):
            continue
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        bare = [a.arg for a in given if a.annotation is None]
        assert set(bare) <= {"self", "cls"}, f"{node.name} has no types for {bare}"
        assert node.returns is not None, f"{node.name} does not say what it returns"


# Loops that other files may call.
LEAF_LOOPS = {
    "core.data.arrays", "solvers.planes.steps", "solvers.planes.coordinates",
    "solvers.planes.store", "inference.alignment.best_path",
    "structures.alignment.features", "inference.chain.viterbi",
    "inference.chain.semi_markov",
    "solvers.lanes.groups", "solvers.lanes.scores",
}  # fmt: skip


@every_file
def test_loops_call_loops_of_their_own_or_a_leaf_file(path):
    """Numba's cache looks at the calling file only."""
    tree = parsed(path)
    foreign = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("maxmargin."):
            for alias in node.names:
                foreign[alias.asname or alias.name] = node.module
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not compiled(node):
            continue
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                home = foreign.get(call.func.id, "maxmargin.core.data.arrays")
                home = home.removeprefix("maxmargin.")
                assert home in LEAF_LOOPS, f"{node.name} calls {call.func.id} of {home}"


@every_file
def test_dense_loops_sum_in_local_variables(path):
    """A sum in memory has bits that depend on addresses (see `jit.py`)."""
    for node in ast.walk(parsed(path)):
        if compiled(node, ("dense_loop",)):
            for line in sums_in_memory(node):
                raise AssertionError(f"{path}: {node.name} sums in memory: {line}")


def sums_in_memory(function):
    """Lines of innermost loops that add to one place of an array, or sum and write."""
    for loop in ast.walk(function):
        if not isinstance(loop, ast.For | ast.While):
            continue
        inside = [node for child in loop.body for node in ast.walk(child)]
        if any(isinstance(node, ast.For | ast.While) for node in inside):
            continue
        target = loop.target if isinstance(loop, ast.For) else ast.Tuple([])
        steps = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        added = [node for node in inside if isinstance(node, ast.AugAssign)]
        written = [
            t for node in inside if isinstance(node, ast.Assign) for t in node.targets
        ] + [node.target for node in added]
        writes = any(isinstance(target, ast.Subscript) for target in written)
        for node in added:
            names = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            local = isinstance(node.target, ast.Name)
            if (local and writes) or (not local and not names.intersection(steps)):
                yield ast.unparse(node)


@pytest.mark.parametrize(
    "body, found",
    [
        ("for i in u:\n  for p in v:\n   out[i] += p", 1),
        ("for i in u:\n  s += i\n  out[i] = s", 1),
        ("for i in u:\n  s = 0.0\n  for p in v:\n   s += p\n  out[i] = s", 0),
        ("for i in u:\n  out[i] += v[i]", 0),
    ],
)
def test_sums_in_memory_are_found(body, found):
    assert len(list(sums_in_memory(ast.parse(body)))) == found


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "experiments"])
def test_inner_loops_are_called_by_loops_only(folder):
    """They have no entry for Python (see `jit.py`): a call would end the process."""
    for path in SOURCE.parents[1].joinpath(folder).rglob("*.py"):
        used = inner_loops_of_python(path)
        assert not used, f"{path}: Python calls {used}"


def inner_loops_of_python(path):
    """Inner loops that the Python code of a file names."""
    tree = parsed(path)
    inner = inner_loops(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("maxmargin"):
            home = SOURCE.joinpath(*node.module.split(".")[1:])
            for alias in node.names:
                here = alias.asname or alias.name
                if alias.name in inner_loops(home.with_suffix(".py")):
                    inner |= {here}
                inner |= {f"{here}.{n}" for n in inner_loops(home / f"{alias.name}.py")}
    python = [node for node in tree.body if not compiled(node)] if inner else []
    names = (n for top in python for n in ast.walk(top))
    names = (n for n in names if isinstance(n, ast.Name | ast.Attribute))
    return inner.intersection(map(ast.unparse, names))


def compiled(node, by=("loop", "dense_loop", "inner_loop")):
    decorators = getattr(node, "decorator_list", [])
    return any(isinstance(d, ast.Name) and d.id in by for d in decorators)


@cache
def inner_loops(path):
    """Names of the inner loops of a file; none if there is no such file."""
    body = parsed(path).body if path.exists() else []
    return frozenset(node.name for node in body if compiled(node, ("inner_loop",)))


def test_one_name_for_one_class():
    """No public class has the name of another.

    `decode` and `torch` have structures and losses on plain scores, named as those that
    learn from features: a user sees one of the two.
    """
    homes = {}
    for path in FILES:
        if room(path) in ("decode", "torch"):
            continue
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert not {name: files for name, files in homes.items() if len(files) > 1}


@every_file
def test_the_memory_setting_is_in_one_place(path):
    """Defaults of `memory` come from `core/data/memory.py`."""
    for node in ast.walk(parsed(path)):
        defaults = []
        if isinstance(node, ast.FunctionDef):
            plain = node.args.args[len(node.args.args) - len(node.args.defaults) :]
            defaults = [*zip(plain, node.args.defaults)]
            defaults += zip(node.args.kwonlyargs, node.args.kw_defaults)
            defaults = [(arg.arg, value) for arg, value in defaults]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defaults = [(node.target.id, node.value)]
        for name, value in defaults:
            if name == "memory" and value is not None:
                assert ast.unparse(value) == "MEMORY", f"line {node.lineno}"


def test_importing_the_package_loads_nothing_heavy():
    import subprocess
    import sys

    heavy = "('numba', 'scipy', 'sklearn')"
    code = f"import maxmargin, sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


FACADES = [path for path in FILES if path.with_suffix(".pyi").exists()]


@pytest.mark.parametrize("path", FACADES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_names_of_facades_are_defined(path):
    """What `__init__.pyi` lists is in the module that it names."""
    for node in ast.parse(path.with_suffix(".pyi").read_text()).body:
        if not isinstance(node, ast.ImportFrom) or node.level != 1 or not node.module:
            continue
        home = path.parent.joinpath(*node.module.split("."))
        source = home / "__init__.pyi" if home.is_dir() else home.with_suffix(".py")
        words = set(re.findall(r"\w+", source.read_text()))
        assert words >= {alias.name for alias in node.names}, f"from .{node.module}"


def test_public_names_exist():
    import maxmargin

    for name in maxmargin.__all__:
        assert getattr(maxmargin, name) is not None
    assert set(maxmargin.__all__) <= set(dir(maxmargin))
    with pytest.raises(AttributeError, match="attribute Nothing"):
        _ = maxmargin.Nothing


@pytest.mark.parametrize(
    "init", [p for p in FILES if p.name == "__init__.py"], ids=lambda p: p.parent.name
)
def test_a_folder_lists_its_files(init):
    """The docstrings of folders are the map of the package."""
    text = ast.get_docstring(ast.parse(init.read_text(encoding="utf8"))) or ""
    inside = list(init.parent.iterdir())
    files = {p.name for p in inside if p.suffix == ".py" and p.name[:2] != "__"}
    folders = {p.name + "/" for p in inside if (p / "__init__.py").exists()}
    missing = {name for name in files | folders if name not in text}
    assert not missing, f"{init.parent.name}/__init__.py does not list {missing}"
    first = [line.split()[0] for line in text.splitlines() if line.strip()]
    gone = {word for word in first if word.endswith(".py")} - files
    assert not gone, f"{init.parent.name}/__init__.py lists {gone}"
