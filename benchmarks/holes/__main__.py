"""Run them: `python -m benchmarks.holes`."""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from benchmarks.holes.cases import CASES

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300  # the first fit in a tree compiles


def outcome(tree, name):
    """What a case leads to with the package of a tree."""
    paths = os.pathsep.join((str(Path(tree).resolve() / "src"), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.holes", "--case", name]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=SECONDS,
            cwd=tempfile.gettempdir(),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"wrong: it takes more than {SECONDS} s"
    if done.returncode < 0:
        return f"wrong: {signal.Signals(-done.returncode).name}"
    if done.returncode:
        return f"failed: {done.stderr[-500:]}"
    return done.stdout.splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", help="the other checkout")
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--json")
    parser.add_argument("--case")
    args = parser.parse_args()
    if args.case:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        warnings.simplefilter("ignore")
        print(CASES[args.case][0]()[:300].replace("\n", " "))
        return 0
    rows = {}
    for name in args.only:
        row = rows[name] = {"test": CASES[name][1]}
        if args.before:
            row["before"] = outcome(args.before, name)
        row["now"] = outcome(ROOT, name)
        print(name, json.dumps(row, indent=1), flush=True)
        if args.json:
            Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    right = [row["now"].startswith("right") for row in rows.values()]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
