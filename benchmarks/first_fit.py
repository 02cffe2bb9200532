"""Seconds of the first fit and predict of each estimator, by where machine code comes from.

    python benchmarks/first_fit.py --python NEW/bin/python [--before OLD] [--only ChainSVM ..]
        [--kinds wheel] [--level x86-64] [--json FILE]

`NEW` is an environment with the wheel to be measured (and its dependencies). Each figure is
from a process of its own with an empty home:

    wheel       machine code of the wheel
    compiled    without it, empty cache: Numba compiles
    cached      the same again: the user's cache has it
    warmup      a fit after 'maxmargin warmup ESTIMATOR' into an empty cache, and what
                that took, from start to end
    level       without it, empty cache: Numba compiles for a level of the wheel; says
                whether weights and predictions have the same bits as with that level
    before      version 0.1.0, whose sources are in OLD (git worktree add OLD fb05be3),
                with the dependencies of NEW and an empty cache
    before, 2nd the same again

Times are wall clock, and processor seconds in brackets, which say more on a busy machine.
With the kind "wheel", two lines follow: a new process that imports the package, loads a
`ChainSVM` and tags one sentence, the least of five, and `maxmargin demo`, from start to
picture. With --json, the kinds that are measured take the place of earlier ones in the file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
MODELS = {
    "MulticlassSVM": "multiclass",
    "MultilabelSVM": "multilabel",
    "KernelSVM": "kernel",
    "ChainSVM": "chain",
    "SegmentSVM": "segment",
    "DependencySVM": "dependency",
    "GrammarSVM": "grammar",
    "AlignmentSVM": "alignment",
    "HomologySVM": "homology",
    "NetworkSVM": "network",
    "MotifSVM": "motif",
    "RankingSVM": "ranking",
    "CoreferenceSVM": "coreference",
    "StructuralSVM": "structural",
}
PLAIN = ("compiled", "warmup", "cached", "wheel")
KINDS = ("before", "before, 2nd", *PLAIN, "level")
FIT = """
import json, sys, time
begin = time.perf_counter()
sys.path.append({tests!r})
import maxmargin as mm
from maxmargin import {estimator}
from small.models import {model}
from maxmargin.core.compiled import USES
ready, used = time.perf_counter(), time.process_time()
model, X = {model}()
predicted = model.predict(X)
taken = time.perf_counter() - ready, time.process_time() - used
import hashlib
bits = model.result_.w.tobytes() + repr(predicted).encode()
print(json.dumps(dict(imports=ready - begin, seconds=taken[0], cpu=taken[1],
                      bits=hashlib.sha256(bits).hexdigest()[:16], **USES.counts())))
"""
# 0.1.0 has not all that the small models import: what is missing is left out.
FIT_BEFORE = """
import ast, json, sys, time
begin = time.perf_counter()
import maxmargin as mm
from maxmargin import {estimator}
tests, names = {tests!r}, {{}}
sys.path.append(tests)
for step in ast.parse(open(tests + "/small/models.py").read()).body:
    try:
        exec(compile(ast.Module([step], []), "models", "exec"), names)
    except (ImportError, NameError):
        pass
ready, used = time.perf_counter(), time.process_time()
model, X = names[{model!r}]()
model.predict(X)
print(json.dumps(dict(imports=ready - begin, seconds=time.perf_counter() - ready,
                      cpu=time.process_time() - used)))
"""

SAVE = """
import sys
sys.path.append({tests!r})
from small.models import chain
chain()[0].save("model.mm")
"""
LOAD = """
import json, time
begin, used = time.perf_counter(), time.process_time()
import maxmargin as mm
model = mm.load("model.mm")
sentence = [[dict(w=w, cap=w[0].isupper()) for w in "Ana vive en Lima .".split()]]
ready = time.perf_counter()
model.predict(sentence)
print(json.dumps([ready - begin, time.perf_counter() - ready, time.process_time() - used]))
"""


def environment(home, **more):
    gone = ("PYTHONPATH", "NUMBA_CACHE_DIR", "MAXMARGIN_CACHE_DIR", "XDG_CACHE_HOME")
    here = {k: v for k, v in os.environ.items() if k not in gone}
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return here | one | {"HOME": str(home)} | more


def fitted(python, estimator, home, **more):
    code = FIT.format(tests=str(TESTS), estimator=estimator, model=MODELS[estimator])
    command = [python, "-W", "ignore", "-c", code]
    out = subprocess.run(
        command, env=environment(home, **more), stdout=subprocess.PIPE, check=True,
        cwd=home,
    )  # fmt: skip
    return json.loads(out.stdout)


def fitted_before(python, estimator, home, sources):
    """The same in 0.1.0; None where it does not have the estimator or a parameter."""
    code = FIT_BEFORE.format(
        tests=str(TESTS), estimator=estimator, model=MODELS[estimator]
    )
    here = environment(home, PYTHONPATH=str(sources / "src"), NUMBA_CACHE_DIR=str(home))
    command = [python, "-W", "ignore", "-c", code]
    out = subprocess.run(command, env=here, capture_output=True, text=True, cwd=home)
    missing = ("ImportError", "NameError", "TypeError", "ModuleNotFoundError")
    if out.returncode and out.stderr.splitlines()[-1].split(":")[0] in missing:
        return None
    if out.returncode:
        raise SystemExit(out.stderr)
    return json.loads(out.stdout)


def warmed(python, estimator, home, **more):
    begin, used = time.perf_counter(), processor_seconds()
    command = [python, "-m", "maxmargin", "warmup", estimator]
    subprocess.run(
        command, env=environment(home, **more), stdout=subprocess.PIPE, check=True,
        cwd=home,
    )  # fmt: skip
    return {"seconds": time.perf_counter() - begin, "cpu": processor_seconds() - used}


def processor_seconds():
    """Of all processes that were waited for."""
    used = os.times()
    return used.children_user + used.children_system


def level_of(python):
    """The level of the wheel that is used here for all loops."""
    code = "import json; from maxmargin import runtime; print(json.dumps(runtime.describe()))"
    out = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, check=True)
    used = [p for p in json.loads(out.stdout)["packs"] if p["used"]]
    return max(used, key=lambda pack: pack["loops"])["level"]


def measured(python, estimator, kinds, sources, level):
    off = {"MAXMARGIN_MACHINE_CODE": "off"}
    row = {}
    with tempfile.TemporaryDirectory() as base:
        homes = [Path(base) / name for name in ("wheel", "own", "level", "before")]
        for home in homes:
            home.mkdir()
        wheel, own, same, before = homes
        if "wheel" in kinds:
            row["wheel"] = fitted(python, estimator, wheel)
        if "compiled" in kinds or "cached" in kinds:
            row["compiled"] = fitted(python, estimator, own, **off)
            row["cached"] = fitted(python, estimator, own, **off)
        if "warmup" in kinds:
            warm = wheel / "warm"
            warm.mkdir()
            command = warmed(python, estimator, warm, **off)
            row["warmup"] = fitted(python, estimator, warm, **off) | {
                "command": command
            }
        if "level" in kinds:
            name = {"aarch64": "generic"}.get(level, level)
            cpu = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}
            row["level"] = fitted(python, estimator, same, **off, **cpu)
            only = {"MAXMARGIN_MACHINE_CODE": level}
            shipped = fitted(python, estimator, wheel, **only)
            assert shipped["compiled"] == row["level"]["shipped"] == 0
            row["same bits"] = row["level"]["bits"] == shipped["bits"]
        if "before" in kinds or "before, 2nd" in kinds:
            for kind in ("before", "before, 2nd"):
                row[kind] = fitted_before(python, estimator, before, sources)
    return row


def loaded(python):
    """A saved model in new processes: seconds to import and load, to tag a sentence."""
    with tempfile.TemporaryDirectory() as home:
        here = {"env": environment(home), "cwd": home, "check": True}
        subprocess.run(
            [python, "-W", "ignore", "-c", SAVE.format(tests=str(TESTS))], **here
        )
        runs = []
        for _ in range(5):
            begin = time.perf_counter()
            out = subprocess.run([python, "-c", LOAD], stdout=subprocess.PIPE, **here)
            load, predict, cpu = json.loads(out.stdout)
            runs.append([time.perf_counter() - begin, load, predict, cpu])
    names = ("process", "import and load", "predict", "cpu")
    return dict(zip(names, min(runs), strict=True))


def demo(python):
    """Seconds of `maxmargin demo` in an empty home."""
    with tempfile.TemporaryDirectory() as home:
        begin = time.perf_counter()
        command = [python, "-m", "maxmargin", "demo"]
        subprocess.run(
            command, env=environment(home), cwd=home, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return time.perf_counter() - begin


def cell(row, kind):
    found = row.get(kind)
    if found is None:
        return "-"
    text = f"{found['seconds']:.2f} ({found['cpu']:.2f})"
    if kind == "warmup":
        text += " after {seconds:.1f} ({cpu:.1f})".format(**found["command"])
    if kind == "level":
        text += ", same bits" if row["same bits"] else ", OTHER BITS"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--before", type=Path, help="sources of 0.1.0")
    parser.add_argument("--only", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--kinds", nargs="+", default=PLAIN, choices=KINDS)
    parser.add_argument("--level", help="default: the one that is used for all loops")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    kinds = [kind for kind in KINDS if kind in args.kinds]
    if args.before is None and any(kind.startswith("before") for kind in kinds):
        parser.error("the kind 'before' needs --before with the sources of 0.1.0")
    level = args.level
    if "level" in kinds and level is None:
        level = level_of(args.python)
    print("| estimator | " + " | ".join(kinds) + " | loops |")
    print("|---" * (len(kinds) + 2) + "|")
    for name in args.only:
        row = measured(args.python, name, kinds, args.before, level)
        cells = [cell(row, kind) for kind in kinds]
        first = row.get("wheel") or row.get("compiled")
        if first is not None:
            cells.append(f"{first['shipped']} hits, {first['compiled']} misses")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        keep(args.json, name, row)
    if "wheel" in kinds:
        row = loaded(args.python)
        keep(args.json, "load and predict", row)
        told = ", ".join(f"{name} {s:.2f} s" for name, s in row.items())
        print(f"\na new process: {told}")
        seconds = demo(args.python)
        keep(args.json, "demo", {"seconds": seconds})
        print(f"demo: {seconds:.2f} s")


def keep(path, name, row):
    """Put a row into the file, beside kinds measured earlier."""
    if path is not None:
        rows = json.loads(path.read_text()) if path.exists() else {}
        rows[name] = rows.get(name, {}) | row
        path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
