"""A training run killed by SIGKILL at random moments, and resumed every time.

    python -m benchmarks.kill [--kills 100] [--seed 0] [--json FILE]

A chain model is trained on synthetic sequences with a checkpoint at every step. A child
process is killed after a random time within what its run would take, again and again,
then left to finish. The primal value at the end must equal that of a run that nobody
disturbed within the duality gap; since the dual state is restored whole, it is nearly
always the same to the last bit (`difference`).

Another child saves two models in turn under one name, and is killed as often: the file
must be one of the two, whole.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def child(path):
    from maxmargin import ChainSVM, Checkpoint

    rng = np.random.default_rng(0)
    weights = rng.normal(size=(12, 6))
    X = [rng.normal(size=(10, 12)) for _ in range(400)]
    y = [(x @ weights + 2.0 * rng.normal(size=(10, 6))).argmax(axis=1) for x in X]

    def watch(row):
        print("step", row["iteration"], flush=True)
        time.sleep(0.01)

    where = None if path == "-" else Checkpoint(path, every=0.0)
    model = ChainSVM(C=0.5, tol=1e-6, callbacks=watch, checkpoint=where).fit(X, y)
    result = model.result_
    print(
        "end", json.dumps([result.status.name, result.primal, result.dual]), flush=True
    )


def saver(path):
    """Save two models in turn, for ever."""
    from maxmargin import MulticlassSVM, save

    X = np.random.default_rng(0).normal(size=(60, 300))
    models = [MulticlassSVM(C=C).fit(X, np.arange(60) % 3) for C in (0.1, 1.0)]
    while True:
        for model in models:
            save(model, path)
            print("step 1", flush=True)


def killed_saves(kills, rng):
    """How many files could not be loaded, or were neither model; files left behind."""
    from maxmargin import load

    lost = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mm"
        for _ in range(kills):
            process = start(path, "--saver")
            process.stdout.readline()
            time.sleep(float(rng.uniform(0.0, 0.05)))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            try:
                lost += load(path).C not in (0.1, 1.0)
            except Exception as error:
                print(f"lost: {error}", file=sys.stderr)
                lost += 1
        load(path).save(path)  # clears away what killed ones left
        return lost, os.listdir(folder)


def start(path, what="--child"):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.kill", what, str(path)],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1],
    )  # fmt: skip


def finished(process):
    """Steps made and what the child says at its end; None if it did not come to that."""
    lines = process.communicate()[0].splitlines()
    words = [line.split() for line in lines]  # the last may be cut off
    steps = [int(w[1]) for w in words if len(w) == 2 and w[0] == "step"]
    ends = [json.loads(line[4:]) for line in lines if line.startswith("end")]
    return steps, ends[0] if ends else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json")
    parser.add_argument("--child")
    parser.add_argument("--saver")
    args = parser.parse_args()
    if args.saver:
        saver(args.saver)
    if args.child:
        child(args.child)
        return 0
    rng = np.random.default_rng(args.seed)
    start("-").communicate()  # compile
    steps, alone = finished(start("-"))
    print(f"undisturbed: {len(steps)} steps, {alone}")
    kills = runs = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ck"
        while kills < args.kills:
            process = start(path)
            process.stdout.readline()  # compiled code is loaded, the first step made
            time.sleep(float(rng.uniform(0.0, 0.01 * len(steps))))
            process.send_signal(signal.SIGKILL)
            _, end = finished(process)
            if process.returncode == -signal.SIGKILL:
                kills += 1
            if end is None:
                continue
            runs += 1  # it had come to its end before the signal
            wrong += [end] if end[1] != alone[1] else []
        _, end = finished(start(path))
        runs += 1
        wrong += [end] if end[1] != alone[1] else []
        left = os.listdir(folder)
    lost, beside = killed_saves(args.kills, rng)
    told = {
        "kills_of_save": args.kills, "saves_lost": lost, "files_after_saves": beside,
        "kills": kills, "runs_finished": runs, "steps_undisturbed": len(steps),
        "primal_undisturbed": alone[1], "primal_after_kills": end[1],
        "difference": end[1] - alone[1], "gap": 1.0 - alone[2] / alone[1],
        "not_equal": len(wrong), "files_left": left,
    }  # fmt: skip
    print(json.dumps(told, indent=1))
    if args.json:
        Path(args.json).write_text(json.dumps(told, indent=1) + "\n")
    return 1 if wrong or left or lost or len(beside) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
