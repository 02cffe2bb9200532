"""Seconds of the first fit and predict of each estimator, by where machine code comes from.

    python benchmarks/first_fit.py --python NEW/bin/python [--only ChainSVM ..] [--json FILE]

`NEW` is an environment with the wheel to be measured (and its dependencies). Each figure is
from a process of its own with an empty home:

    wheel     machine code of the wheel
    compiled  without it, empty cache: Numba compiles
    cached    the same again: the user's cache has it
    warmup    'maxmargin warmup ESTIMATOR' into an empty cache, and then a fit

Times are wall clock, and processor seconds in brackets, which say more on a busy machine.
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
    "KernelSVM": "kernel",
    "ChainSVM": "chain",
    "GrammarSVM": "grammar",
    "AlignmentSVM": "alignment",
    "HomologySVM": "homology",
    "NetworkSVM": "network",
    "MotifSVM": "motif",
    "RankingSVM": "ranking",
    "CoreferenceSVM": "coreference",
    "StructuralSVM": "structural",
}
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


def measured(python, estimator):
    off = {"MAXMARGIN_MACHINE_CODE": "off"}
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        row = {"wheel": fitted(python, estimator, one)}
        row["compiled"] = fitted(python, estimator, one, **off)
        row["cached"] = fitted(python, estimator, one, **off)
        row["warmup seconds"] = warmed(python, estimator, two, **off)
        row["warmup"] = fitted(python, estimator, two, **off)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = {}
    kinds = ("wheel", "compiled", "cached", "warmup")
    print("| estimator | " + " | ".join(kinds) + " | warmup itself | loops |")
    print("|---" * (len(kinds) + 3) + "|")
    for name in args.only:
        rows[name] = row = measured(args.python, name)
        cells = [f"{row[k]['seconds']:.2f} ({row[k]['cpu']:.2f})" for k in kinds]
        first = row["wheel"]
        hits = f"{first['shipped']} hits, {first['compiled']} misses"
        took = f"{row['warmup seconds']:.0f}"
        print(f"| {name} | " + " | ".join([*cells, took, hits]) + " |", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
