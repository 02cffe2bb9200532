"""How much memory training takes beyond its data, under the bound `memory=`.

    python -m benchmarks.memory [--bounds 40 100 400] [--only NAME ..] [--json FILE]

Runs that FILE holds already are not done again.

What is counted: the peak of the resident memory of the process while it trains, less
what was resident when the data had been encoded and all loops were compiled (by the same
trainer on a small problem). So weights, planes, caches, temporary arrays of inference
and whatever the allocator keeps are all in it; the data are not.

Each run is a process of its own. Problems are so large that training without a bound
would take ten times as much. For trainers that hold planes this is measured: a run
without a bound on SMALL sequences says what one of them takes (`needs` is that times the
number of sequences), and the run ends when its peak has stood still for STILL steps.
Trainers that hold sums over all examples take ten times as many steps as sums fit into
the bound; they train SMALL sequences, with more features for larger bounds, and `needs`
is what all the sums made would take. For kernels it is the size of the Gram matrix.

A trainer may say in words that it needs more memory (MemoryError): it keeps the bound,
and `refused` has the words. It is then run on less, a tenth less at a time, until it
accepts: with the most examples that it takes, memory is tightest.
"""

import argparse
import ctypes
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from maxmargin import KernelSVM
from maxmargin.core import Formulation, Problem, Ragged, Vectors, pointers
from maxmargin.losses import Hamming
from maxmargin.solvers import OneSlack
from maxmargin.solvers.distributed import Cocoa
from maxmargin.solvers.frank_wolfe import BCFW
from maxmargin.solvers.lanes import Lanes
from maxmargin.solvers.n_slack import SDM, BlockDual, NSlack, NSlackBlock
from maxmargin.solvers.sparse import ProximalL1
from maxmargin.solvers.summed import SDCD, LSECuttingPlane, LSENSlack
from maxmargin.structures.chain import Chain, Tokens

LABELS, LENGTH, ACTIVE, WIDTH = 5, 12, 60, 3000
PLANE = 12 * 2 * LENGTH * ACTIVE  # bytes of a plane: most entries occur with two labels
SMALL = 1000  # sequences of the run without a bound
LEAST = 4000  # bytes per sequence where hardly anything is held
FREE = 150  # passes without a bound, in a minute at most
PASSES = 20
STILL = 5
SUMS = 33  # over all examples: so many fit into a bound

TRAINERS = {
    "block-dual": (BlockDual, {}, ("linear", "l2")),
    "lanes": (Lanes, {}, ("linear", "l2")),
    "sdm": (SDM, {}, ("linear", "l2")),
    "n-slack": (NSlack, {}, ("linear", "l2")),
    "n-slack-block": (NSlackBlock, {}, ("linear", "l2")),
    "one-slack": (OneSlack, {}, ("linear", "l2")),
    "bcfw": (BCFW, {}, ("linear", "l2")),
    "bcfw, cached": (BCFW, {"cache": 20}, ("linear", "l2")),
    "cocoa": (Cocoa, {}, ("linear", "l2")),
    "proximal-l1": (ProximalL1, {}, ("linear", "l1")),
    "sdcd": (SDCD, {}, ("summed", "l2")),
    "lse-cutting-plane": (LSECuttingPlane, {}, ("summed", "l2")),
    "lse-n-slack": (LSENSlack, {}, ("summed", "l2")),
}
OF_SUMS = ("one-slack", "lse-cutting-plane")
KERNELS = ("exact", "sampled", "cpsp", "nystroem", "cholesky")


def sequences(n, form, width=WIDTH, seed=0):
    """Encoded sequences with noisy labels, so that constraints do not run out."""
    rng = np.random.default_rng(seed)
    tokens = n * LENGTH
    idx = np.sort(rng.integers(width, size=(tokens, ACTIVE)), axis=1).astype(np.int32)
    vectors = Vectors(
        ACTIVE * np.arange(tokens + 1), idx.ravel(), np.ones(idx.size), width
    )
    labels = np.where(rng.random(tokens) < 0.6, idx[:, 0] % LABELS, 0)
    ptr = pointers(np.full(n, LENGTH))
    chain = Chain().sized(tuple(range(LABELS)), None, width, True)
    return Problem(
        chain, Hamming().bind(LABELS), Formulation("margin", *form),
        Tokens(vectors, ptr, np.empty(0, np.int32)),
        Ragged(ptr, labels.astype(np.int32)), np.full(n, 1.0),
    )  # fmt: skip


def resident(kind):
    """VmHWM (peak) or VmRSS (now), in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind):
            return 1024 * int(line.split()[1])
    raise OSError("this benchmark needs /proc")


def grown(call):
    """What `call` returns, and how far the peak rises above what is there now."""
    ctypes.CDLL(None).malloc_trim(0)  # what is free is not there
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = resident("VmRSS")
    out = call()
    return out, resident("VmHWM") - before


class Settled:
    """Ends training when the peak has stood still, within a thousandth of the bound."""

    def __init__(self, bound):
        self.slack, self.peak, self.still = bound / 1000, 0, 0

    def __call__(self, row, result):
        now = resident("VmHWM")
        self.still = self.still + 1 if now <= self.peak + self.slack else 0
        self.peak = max(self.peak, now)
        return self.still >= STILL


def accepted(train, n):
    """What training on n examples leads to, or on as many as the trainer accepts."""
    told = {}
    while True:
        try:
            row, more = train(n)
        except MemoryError as error:
            told = told or {"asked": n, "refused": str(error)}
            n = int(0.9 * n)
            continue
        return {**told, "examples": n, **row, "grown": more}


def trainer_run(name, bound):
    """Train sequences whose planes, or sums, would need ten times the bound."""
    kind, settings, (penalty, regularizer) = TRAINERS[name]
    form = ("linear", regularizer) if regularizer == "l1" else (penalty,)
    kind(tol=1e-9, max_iter=3, **settings).solve(sequences(50, form))
    bounded = {"tol": 1e-9, "max_time": 300.0, "memory": bound, **settings}
    if name in OF_SUMS:
        problem = sequences(SMALL, form, int(bound / (8 * LABELS * SUMS)))
        solver = kind(max_iter=10 * SUMS + 10, **bounded)
        (result, _), more = grown(lambda: solver.solve(problem))
        return {"examples": SMALL, "steps": result.iterations,
                "planes": result.planes, "needs": 8 * problem.dim * result.iterations,
                "gap": float(result.gap), "grown": more}  # fmt: skip
    free = kind(tol=1e-9, max_iter=FREE, max_time=60.0, memory=1e12, **settings)
    small = sequences(SMALL, form)
    each = grown(lambda: free.solve(small))[1] / SMALL
    free = small = None
    solver = kind(max_iter=PASSES, **bounded)

    def train(n):
        problem = sequences(n, form)
        watch = Settled(bound)
        (result, _), more = grown(lambda: solver.solve(problem, watch=watch))
        return {"steps": result.iterations, "planes": result.planes,
                "needs": round(each * n), "gap": float(result.gap)}, more  # fmt: skip

    return accepted(train, int(10 * bound / max(each, LEAST)))


def kernel_run(method, bound):
    """Train on rows whose Gram matrix would need ten times the bound."""
    settings = {"kernel_method": method, "n_basis": 200, "max_iter": 20, "C": 1.0}

    def train(n):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 10))
        y = (np.abs(X[:, 0]) + 0.3 * rng.normal(size=n) > 0.7).astype(int)
        KernelSVM(**settings).fit(X[:60], y[:60])
        model = KernelSVM(memory=bound, max_time=150.0, **settings)
        model, more = grown(lambda: model.fit(X, y))
        return {"steps": model.result_.iterations, "needs": 8 * n * n,
                "gap": float(model.result_.gap)}, more  # fmt: skip

    return accepted(train, int(np.sqrt(10 * bound / 8)))


def child(name, bound):
    warnings.simplefilter("ignore")
    method = name.removeprefix("kernel ")
    row = kernel_run(method, bound) if method != name else trainer_run(name, bound)
    print(json.dumps({"trainer": name, "bound": bound, **row,
                      "under": row["grown"] <= bound}))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bounds", nargs="*", type=float, default=[40, 100, 400])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--json")
    parser.add_argument("--child")
    args = parser.parse_args()
    if args.child:
        child(args.child, 1e6 * args.bounds[0])
        return 0
    path = Path(args.json) if args.json else None
    rows = json.loads(path.read_text()) if path and path.exists() else []
    done = {(row["trainer"], row["bound"]) for row in rows}
    for bound in args.bounds:
        for name in args.only or [*TRAINERS, *(f"kernel {m}" for m in KERNELS)]:
            if (name, 1e6 * bound) in done:
                continue
            begin = time.time()
            out = subprocess.run(
                [sys.executable, "-m", "benchmarks.memory", "--child", name, "--bounds",
                 str(bound)], capture_output=True, text=True,
            )  # fmt: skip
            if out.returncode:
                raise SystemExit(f"{name}: {out.stderr}")
            rows.append(json.loads(out.stdout.splitlines()[-1]))
            rows[-1]["seconds"] = round(time.time() - begin, 1)
            print(rows[-1], flush=True)
            if path:
                path.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row["under"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
