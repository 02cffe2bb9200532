"""Where machine code comes from: packs that fit, the user's cache, or the compiler."""

import ast
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest

from maxmargin.core import compile_count, compile_seconds, loop, working_time
from maxmargin.core.compiled import (
    Listing,
    Pack,
    Stores,
    Target,
    UserCache,
    code_stamp,
    every_loop,
    packs,
    type_of,
    type_text,
)
from maxmargin.core.compiled.levels import LEVELS

TESTS = Path(__file__).parents[3]
posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")


def named_by_python():
    """Names that Python code of the package uses, outside compiled functions."""
    names = set()
    for path in (TESTS.parent / "src").rglob("*.py"):
        for top in ast.parse(path.read_text(encoding="utf8")).body:
            decorators = {ast.unparse(d) for d in getattr(top, "decorator_list", ())}
            if decorators.isdisjoint({"loop", "inner_loop", "dense_loop"}):
                for node in ast.walk(top):
                    names |= {getattr(node, "id", None), getattr(node, "attr", None)}
    return names


def test_every_loop_has_a_listed_signature():
    """But for dense loops that only loops call."""
    listed, python = set(Listing.read().loops), named_by_python()
    called = [name for name in every_loop() if name.rpartition(".")[2] in python]
    assert len(called) > 100
    missing = {name.removeprefix("maxmargin.") for name in called} - listed
    advice = "add a run to tests/signature_runs.py and run it"
    assert not missing, f"{sorted(missing)} have no signature: {advice}"


def test_every_listed_loop_is_there():
    loops = {name.removeprefix("maxmargin.") for name in every_loop()}
    gone = set(Listing.read().loops) - loops
    assert not gone, f"{sorted(gone)} are gone: run tests/signature_runs.py"


def test_tables_are_passed_row_by_row():
    """Loops go along rows: a table in column order made one of them 2.5 times slower."""
    turned = [
        name
        for name, rows in Listing.read().loops.items()
        if any(text.endswith(("d F", "2d A")) for row in rows for text in flat(row))
    ]
    assert turned == []


def flat(row):
    """The types of a signature, those of the fields of tuples included."""
    for entry in row:
        yield from [entry] if isinstance(entry, str) else flat(entry)


@pytest.mark.timeout(900)  # compiles all loops where the cache is empty
def test_small_runs_use_listed_signatures_only():
    """In a process of its own, where no loop has been called before."""
    code = (
        "import signature_runs as s; from maxmargin.core.compiled import Listing;"
        "print(Listing.read().missing(s.uses_of(s.RUNS)))"
    )
    assert run(code, PYTHONPATH=str(TESTS)).strip() == "[]"


def run(code, **env):
    """What a Python process prints; settings of None are taken away."""
    here = {k: v for k, v in (os.environ | env).items() if v is not None}
    source = str(TESTS.parent / "src")
    here["PYTHONPATH"] = os.pathsep.join(filter(None, (source, env.get("PYTHONPATH"))))
    command = [sys.executable, "-W", "ignore", "-c", code]
    ended = subprocess.run(command, env=here, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_types_survive_writing():
    for rows in Listing.read().loops.values():
        for row in rows:
            assert [type_text(type_of(text)) for text in row] == row
    with pytest.raises(TypeError, match="no text for this type"):
        type_text(numba.types.List(numba.int64))


def test_an_unknown_estimator_is_named():
    with pytest.raises(
        ValueError, match="NoSVM is not an estimator; there are Alignment"
    ):
        Listing.read().uses(["NoSVM"])


def made(body, **names):
    exec(body, names)
    return names["f"]


def test_a_stamp_covers_what_is_called_and_constants():
    inner = made("def f(x): return x + 1")
    calls = made("def f(x): return g(x) * K", g=inner, K=2)
    stamp = code_stamp(calls)
    docs = [f"def f(x):\n  '{doc}'\n  return g(x) * K" for doc in ("Some.", "Other.")]
    assert len({code_stamp(made(doc, g=inner, K=2)) for doc in docs}) == 1
    assert stamp != code_stamp(made("def f(x): return g(x) * K", g=inner, K=3))
    other = made("def f(x): return x + 2")
    assert stamp != code_stamp(made("def f(x): return g(x) * K", g=other, K=2))
    table = made("def f(x): return x + T[0]", T=np.zeros(2))
    assert code_stamp(table) != code_stamp(
        made("def f(x): return x + T[0]", T=np.ones(2))
    )
    fast = numba.njit(fastmath={"contract", "nsz"})(calls)
    assert code_stamp(fast) != code_stamp(numba.njit(calls))


def test_a_stamp_is_the_same_in_every_process():
    code = (
        "from maxmargin.core.compiled import code_stamp, every_loop;"
        "print({k: code_stamp(v) for k, v in sorted(every_loop().items())})"
    )
    assert run(code, PYTHONHASHSEED="1") == run(code, PYTHONHASHSEED="2")


@pytest.fixture
def pack(tmp_path):
    target = replace(Target.here("native"), cpu="here", features="+some")
    Pack.write(tmp_path / "native.code", target, [("b", b"two"), ("a", b"one")])
    return Pack(tmp_path / "native.code")


def test_a_pack_holds_what_was_written(pack):
    assert (pack.load("a"), pack.load("b"), pack.load("c")) == (b"one", b"two", None)
    assert (
        pack.target.misfit(replace(Target.here(), cpu="here", features="+some")) is None
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"numba": "0.1"}, "made for numba .*, this is 0.1"),
        ({"python": "cpython-39"}, "this is cpython-39"),
        ({"platform": "beos-x86_64"}, "this is beos"),
        ({"settings": ("BOUNDSCHECK=1",)}, "settings of Numba differ: BOUNDSCHECK=1"),
        ({"cpu": "z80"}, "made for the processor here, this is z80"),
    ],
)
def test_a_pack_for_something_else_says_why_it_is_not_used(pack, change, why):
    import re

    here = replace(pack.target, **change)
    assert re.search(why, pack.target.misfit(here))


def test_a_level_needs_its_features(monkeypatch):
    made_for = replace(Target.here("x86-64-v3"), cpu="x86-64-v3", features="")
    here = replace(made_for, cpu="any", features="+any")
    monkeypatch.setitem(packs.config, "CPU_NAME", None)
    monkeypatch.setattr(
        packs, "host_features", lambda: set(LEVELS["x86-64-v3"].features)
    )
    assert made_for.misfit(here) is None
    monkeypatch.setattr(packs, "host_features", lambda: {"avx", "popcnt"})
    assert "this processor has no avx2, bmi" in made_for.misfit(here)
    monkeypatch.setitem(packs.config, "CPU_NAME", "generic")
    assert made_for.misfit(here) == "NUMBA_CPU_NAME asks for generic"


def test_a_better_level_for_some_loops_comes_first(tmp_path, monkeypatch, caplog):
    """Loops that it does not have come from the next pack that fits."""
    for level, codes in (
        ("x86-64-v3", [("a", b"narrow"), ("b", b"all")]),
        ("x86-64-v4", [("a", b"wide")]),
        ("x86-64", [("a", b"plain a"), ("b", b"plain b")]),
    ):
        target = replace(
            Target.here(level), cpu=LEVELS[level].cpu, features=LEVELS[level].tuning
        )
        Pack.write(tmp_path / f"{level}.code", target, codes)
    monkeypatch.setitem(packs.config, "CPU_NAME", None)
    monkeypatch.setitem(packs.config, "CPU_FEATURES", None)

    def found(level):
        features = frozenset(LEVELS[level].features)
        monkeypatch.setattr(packs, "host_features", lambda: features)
        stores = Stores.found(tmp_path)
        return stores.shipped("a"), stores.shipped("b")

    assert found("x86-64-v4") == (b"wide", b"all")
    assert found("x86-64-v3") == (b"narrow", b"all")
    assert found("x86-64") == (b"plain a", b"plain b")
    monkeypatch.setenv("MAXMARGIN_MACHINE_CODE", "x86-64")
    assert found("x86-64-v4") == (b"plain a", b"plain b")
    monkeypatch.setenv("MAXMARGIN_MACHINE_CODE", "x86-64-v3")
    assert found("x86-64-v4") == (b"narrow", b"all")
    whys = [why for _, why in Stores.found(tmp_path).packs]
    asked = "MAXMARGIN_MACHINE_CODE asks for x86-64-v3"
    assert whys == [asked, None, asked]
    monkeypatch.setenv("MAXMARGIN_MACHINE_CODE", "x86-64-v5")
    assert found("x86-64-v4") == (b"wide", b"all")
    assert "MAXMARGIN_MACHINE_CODE=x86-64-v5 is ignored" in caplog.text
    whys = [why for _, why in Stores.found(tmp_path).packs]
    assert whys == [None, None, "a better level has its loops"]


def test_levels_of_some_loops_name_folders_that_there_are():
    names = {use.loop for use in Listing.read().uses(())}
    for level in LEVELS.values():
        for folder in level.only:
            assert any(name.startswith(folder) for name in names), folder


def test_a_pack_that_is_damaged_or_switched_off_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "x86-64.code").write_bytes(b"something else\n{}\n")
    target = Target.here()
    Pack.write(tmp_path / "native.code", target, [("a", b"one")])
    found = Stores.found(tmp_path)
    assert len(found.packs) == 1 and found.shipped("a") == b"one"
    monkeypatch.setenv("MAXMARGIN_MACHINE_CODE", "off")
    assert Stores.found(tmp_path).shipped("a") is None


def test_a_cache_keeps_and_checks(tmp_path):
    cache = UserCache([tmp_path / "cache"])
    assert cache.load("loop") is None and cache.save("loop", b"code")
    assert cache.load("loop") == b"code" and cache.count() == 1
    path = tmp_path / "cache" / "loop.loop"
    path.write_bytes(path.read_bytes()[:-1] + b"X")  # damaged
    assert cache.load("loop") is None


@posix
def test_a_cache_is_for_its_owner_alone(tmp_path):
    cache = UserCache([tmp_path / "cache"])
    cache.save("loop", b"code")
    assert cache.folder.stat().st_mode & 0o077 == 0
    path = tmp_path / "cache" / "loop.loop"
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o666)  # someone else may have written it
    assert cache.load("loop") is None
    cache.folder.chmod(0o777)
    again = UserCache([cache.folder])
    assert again.folder is None and "others may write it" in again.problem
    assert not again.save("loop", b"code") and again.load("loop") is None


@posix
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root"
)
def test_a_cache_of_someone_else_is_not_read(tmp_path):
    cache = UserCache([tmp_path / "cache"])
    cache.save("loop", b"code")
    os.chown(tmp_path / "cache" / "loop.loop", 12345, 12345)
    assert cache.load("loop") is None
    os.chown(tmp_path / "cache", 12345, 12345)
    assert "belongs to user 12345" in UserCache([tmp_path / "cache"]).problem


def test_a_cache_that_cannot_be_written_is_still_read(tmp_path, monkeypatch):
    cache = UserCache([tmp_path])
    cache.save("loop", b"code")

    def full(*args, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not cache.save("other", b"code")
    assert cache.load("loop") == b"code" and "No space left" in cache.problem
    assert [p.name for p in tmp_path.iterdir()] == ["loop.loop"]


def test_old_code_of_a_read_only_cache_is_used(tmp_path, monkeypatch):
    UserCache([tmp_path]).save("loop", b"code")
    last_week = time.time() - 7 * 86400
    os.utime(tmp_path / "loop.loop", (last_week, last_week))

    def read_only(*args, **more):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", read_only)
    assert UserCache([tmp_path]).load("loop") == b"code"


def test_code_that_is_not_used_any_more_is_removed(tmp_path):
    UserCache([tmp_path]).save("old", b"code")
    os.utime(tmp_path / "old.loop", (0, 0))
    UserCache([tmp_path]).save("new", b"code")
    assert [p.name for p in tmp_path.iterdir()] == ["new.loop"]


CALL = """
import json, numpy as np
from maxmargin.core.compiled import USES, stores
from maxmargin.core.data.arrays import inner
assert inner(np.ones({n}), np.ones({n})) == {n}
print(json.dumps([USES.counts(), stores().user.problem]))
"""
NO_HOME = {
    "HOME": "/dev/null", "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None,
    "MAXMARGIN_CACHE_DIR": None,
}  # fmt: skip


@posix
def test_loops_run_without_a_home():
    counts, problem = json.loads(run(CALL.format(n=3), **NO_HOME))
    assert counts["compiled"] == 1
    assert "/dev/null" in problem and "MAXMARGIN_CACHE_DIR" in problem


def test_a_second_process_finds_what_the_first_has_compiled(tmp_path):
    def call(checked):
        here = str(tmp_path)
        told = run(
            CALL.format(n=3), MAXMARGIN_CACHE_DIR=here, NUMBA_BOUNDSCHECK=checked
        )
        return json.loads(told)

    for kind in ("compiled", "cached"):
        counts, problem = call(checked="0")
        assert (counts[kind], sum(counts.values()), problem) == (1, 1, None)
    counts, _ = call(checked="1")
    assert counts["compiled"] == 1  # other code, hence another entry


def test_two_processes_may_compile_at_once(tmp_path):
    env = os.environ | {"MAXMARGIN_CACHE_DIR": str(tmp_path)}
    env["PYTHONPATH"] = str(TESTS.parent / "src")
    command = [sys.executable, "-c", CALL.format(n=3)]
    both = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE) for _ in range(2)
    ]
    for one in both:
        assert one.communicate()[0] and one.returncode == 0
    counts, _ = json.loads(run(CALL.format(n=3), MAXMARGIN_CACHE_DIR=str(tmp_path)))
    assert counts["cached"] == 1


def test_the_clock_stands_still_while_loops_are_compiled():
    begin, seconds, count = working_time(), compile_seconds(), compile_count()
    assert numba.njit(lambda x: x * 2 + 1)(1) == 3
    compiled = compile_seconds() - seconds
    assert compiled > 0.0 and compile_count() == count + 1
    assert working_time() - begin < compiled


def test_a_terminal_hears_of_a_long_wait_once(monkeypatch):
    import io

    from maxmargin.core.compiled import compiling

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)
    monkeypatch.setattr(compiling._compilations, "announced", False)
    for k in range(2):
        numba.njit(lambda x, k=k: x + k)(1)
    assert screen.getvalue().count("compiling loops for this machine") == 1
    assert screen.getvalue().count("they are kept for later runs") == 1
    monkeypatch.setattr(compiling, "stores", lambda: Stores(user=UserCache([])))
    assert (
        compiling._later() == "later runs will compile again: there is no home folder"
    )


def test_compiling_is_logged(caplog):
    with caplog.at_level("INFO", logger="maxmargin"):
        numba.njit(lambda x: x * 3 + 1)(1)
    assert "compiled test_machine_code" in caplog.text


def test_a_loop_of_a_user_is_kept_too(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1] if len(sys.argv) > 1 else '.');"
        "from own_loop import twice; print(twice(4));"
        "from maxmargin.core.compiled import USES; print(USES.counts())"
    )
    (tmp_path / "own_loop.py").write_text(
        "from maxmargin.core import loop\n\n@loop\ndef twice(x):\n    return 2 * x\n"
    )
    env = {"PYTHONPATH": str(tmp_path), "MAXMARGIN_CACHE_DIR": str(tmp_path / "cache")}
    assert "'compiled': 1" in run(code, **env)
    assert "'cached': 1" in run(code, **env)


def test_loops_are_plain_functions_where_compiling_is_off():
    code = "from maxmargin.core.data.arrays import inner; print(type(inner).__name__)"
    assert run(code, NUMBA_DISABLE_JIT="1").strip() == "function"


def test_a_loop_is_compiled_where_its_code_cannot_be_used(monkeypatch):
    from maxmargin.core.compiled import USES, machine_code

    @loop
    def thrice(x):
        return 3 * x

    before = len(USES.compiled)
    store = machine_code.stores()
    monkeypatch.setattr(store, "shipped", lambda name: b"no pickle")
    assert thrice(2) == 6
    assert len(USES.compiled) + len(USES.cached) > before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_while_llvm_works_arrives(monkeypatch):
    from numba.core.registry import cpu_target

    def interrupted(*_):
        raise KeyboardInterrupt

    new = time.time_ns()

    @loop
    def shifted(x):
        return x + new

    engine = cpu_target.target_context.codegen()._engine._ee
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_object_cache_notify", interrupted)
        with pytest.raises(KeyboardInterrupt):
            shifted(1)
    assert shifted(1) == new + 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_compiling_does_not_count_against_max_time():
    from numba.core import event

    from maxmargin import MulticlassSVM
    from maxmargin.solvers import Status

    data = {"dispatcher": numba.njit(lambda x: x)}

    def compiles(row):
        with event.trigger_event("numba:compile", data=data):
            time.sleep(0.5)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    settings = {"tol": 0.0, "max_iter": 3, "max_time": 1.0, "solver": "one-slack"}
    MulticlassSVM(**settings).fit(X, y)  # what has to be compiled is compiled here
    model = MulticlassSVM(callbacks=compiles, **settings).fit(X, y)
    assert model.result_.status is Status.MAX_ITER
    assert model.result_.seconds < 1.0  # 1.5 s have passed
