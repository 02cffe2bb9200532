"""Seconds of the first fit and predict of each estimator, by where machine code comes from.

    python benchmarks/first_fit.py --python NEW/bin/python [--only ChainSVM ..]
        [--kinds wheel] [--json FILE]

`NEW` is an environment with the wheel to be measured (and its dependencies). Each figure is
from a process of its own with an empty home:

    wheel     machine code of the wheel
    compiled  without it, empty cache: Numba compiles
    cached    the same again: the user's cache has it
    warmup    'maxmargin warmup ESTIMATOR' into an empty cache, and then a fit

Times are wall clock, and processor seconds in brackets, which say more on a busy machine.
Two lines follow: a new process that imports the package, loads a `ChainSVM` and tags one
sentence, the least of five, and `maxmargin demo`, from start to picture. With --json, the
kinds that are measured take the place of earlier ones in the file.
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
KINDS = ("wheel", "compiled", "cached", "warmup")
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
model.predict(X)
print(json.dumps([ready - begin, time.perf_counter() - ready,
                  time.process_time() - used, USES.counts()]))
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
    imports, seconds, cpu, counts = json.loads(out.stdout)
    return {"imports": imports, "seconds": seconds, "cpu": cpu, **counts}


def warmed(python, estimator, home, **more):
    begin = time.perf_counter()
    command = [python, "-m", "maxmargin", "warmup", estimator]
    subprocess.run(
        command, env=environment(home, **more), stdout=subprocess.PIPE, check=True,
        cwd=home,
    )  # fmt: skip
    return time.perf_counter() - begin


def measured(python, estimator, kinds):
    off = {"MAXMARGIN_MACHINE_CODE": "off"}
    row = {}
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        if "wheel" in kinds:
            row["wheel"] = fitted(python, estimator, one)
        if "compiled" in kinds or "cached" in kinds:
            row["compiled"] = fitted(python, estimator, one, **off)
            row["cached"] = fitted(python, estimator, one, **off)
        if "warmup" in kinds:
            row["warmup seconds"] = warmed(python, estimator, two, **off)
            row["warmup"] = fitted(python, estimator, two, **off)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    kinds = [kind for kind in KINDS if kind in args.kinds]
    rows = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    print("| estimator | " + " | ".join(kinds) + " | loops |")
    print("|---" * (len(kinds) + 2) + "|")
    for name in args.only:
        row = measured(args.python, name, kinds)
        rows[name] = rows.get(name, {}) | row
        cells = [f"{row[k]['seconds']:.2f} ({row[k]['cpu']:.2f})" for k in kinds]
        first = row.get("wheel", row[kinds[0]])
        cells.append(f"{first['shipped']} hits, {first['compiled']} misses")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    rows["load and predict"] = row = loaded(args.python)
    print("\na new process:", ", ".join(f"{name} {s:.2f} s" for name, s in row.items()))
    rows["demo"] = demo(args.python)
    print(f"demo: {rows['demo']:.2f} s")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
