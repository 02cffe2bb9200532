"""Alignment of 300 x 300 proteins beside Biopython and parasail, in one run.

    python -m benchmarks.alignment [--quick]

Score and traceback on a filled table, one thread, BLOSUM62, gaps 11 and 1 (5 and 5
linear): a table that was just filled, as in training, is in the cache, so one table is
used over and over; "from memory" takes other tables in turn. The same with a Q4 loss
entered into the table; filling and aligning; a whole oracle call with features; slack
rescaling by layers; two threads. Millions of cells per CPU second, best of several
passes in turn, so that a busy machine disturbs all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

SIZE = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pairs and passes")
    parser.add_argument("--json", help="write the figures to this file")
    args = parser.parse_args()
    pairs, passes = (5, 5) if args.quick else (20, 15)
    figures = race({**ours(pairs), **peers(pairs)}, pairs, passes)
    figures["cold start, CPU s"] = cold_start()
    figures["two threads, times one"] = threads(pairs, passes)
    report(figures)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(figures, file, indent=1)


def race(tasks: dict[str, Callable], pairs: int, passes: int) -> dict[str, float]:
    """Millions of cells per CPU second of each task, all tasks taking turns."""
    best = dict.fromkeys(tasks, np.inf)
    for task in tasks.values():
        task()  # compiled, caches warm
    for _ in range(passes):
        for name, task in tasks.items():
            begin = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - begin)
    return {name: pairs * SIZE**2 / spent / 1e6 for name, spent in best.items()}


def proteins(pairs: int):
    """Related random proteins of half equal letters."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 20, (pairs, SIZE))
    b = np.where(rng.random(a.shape) < 0.5, a, rng.integers(0, 20, a.shape))
    letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))
    return [
        ("".join(letters[u]), "".join(letters[v])) for u, v in zip(a, b, strict=True)
    ]


def model(gaps):
    """BLOSUM62 as a bound structure and weights."""
    from maxmargin.baselines import KnownMatrix

    opening, extension = gaps
    known = KnownMatrix(opening=-opening, extension=-extension).bind()
    return known.structure, known.weights


def ours(pairs: int) -> dict[str, Callable]:
    from maxmargin.core import Augment
    from maxmargin.inference.alignment import MODES, affine_paths, linear_paths
    from maxmargin.losses import AlignedPairs
    from maxmargin.structures.alignment import lower_cells

    X = proteins(pairs)
    structure, w = model((11.0, 1.0))
    x = structure.encode(X)
    ids = np.arange(x.n)
    truth = structure.encode_labels(x, [[[k, k] for k in range(SIZE)]] * pairs)
    augment = Augment(truth, AlignedPairs(4), np.ones(pairs))
    filled = [tables for _, tables in structure._tables(x, ids, w, cells=1)]
    even = [
        t._replace(row_gap=0 * t.row_gap - 2.5, col_gap=0 * t.col_gap - 2.5)
        for t in filled
    ]
    saved = np.full(1, 1.0 / SIZE)

    def paths(find, tables, mode):
        return lambda: [find(t, MODES[mode]) for t in tables]

    def with_loss():
        first, one = filled[0], truth.take([0])
        where = (first.rows, first.lo, first.hi, first.start, 4)
        for _ in range(pairs):
            lower_cells(*one, *where, saved, first.match)
            affine_paths(first, MODES["global"])
            lower_cells(*one, *where, -saved, first.match)

    tasks: dict[str, Callable] = {}
    for mode in MODES:
        warm, even_warm = filled[:1] * pairs, even[:1] * pairs
        tasks[f"maxmargin affine {mode}"] = paths(affine_paths, warm, mode)
        tasks[f"maxmargin affine {mode} from memory"] = paths(
            affine_paths, filled, mode
        )
        tasks[f"maxmargin linear {mode}"] = paths(linear_paths, even_warm, mode)
    tasks["maxmargin affine global, Q4 loss"] = with_loss
    tasks["maxmargin fill and align"] = lambda: structure.argmax(x, ids, w)
    tasks["maxmargin oracle with features"] = lambda: structure.cuts(x, ids, w, augment)
    one = ids[:1]
    tasks[f"maxmargin layers by loss, times {pairs}"] = lambda: (
        structure.argmax_by_loss(x, one, w, augment)
    )
    return tasks


def peers(pairs: int) -> dict[str, Callable]:
    X, tasks = proteins(pairs), {}
    try:
        from Bio import Align

        for name, (opening, extension) in {
            "affine": (-11, -1),
            "linear": (-5, -5),
        }.items():
            for mode in ("global", "local"):
                aligner = Align.PairwiseAligner(
                    mode=mode,
                    substitution_matrix=Align.substitution_matrices.load("BLOSUM62"),
                    open_gap_score=opening,
                    extend_gap_score=extension,
                )
                tasks[f"Biopython {name} {mode}"] = lambda aligner=aligner: [
                    next(iter(aligner.align(a, b))).coordinates for a, b in X
                ]
    except ImportError:
        print("Biopython is not installed: left out")
    try:
        import parasail

        for mode, code in (("global", "nw"), ("semiglobal", "sg"), ("local", "sw")):
            for kind in ("striped_16", "scan_16", "striped_32"):
                run = getattr(parasail, f"{code}_trace_{kind}")
                tasks[f"parasail affine {mode} {kind}"] = lambda run=run: [
                    run(a, b, 11, 1, parasail.blosum62).cigar.decode for a, b in X
                ]
    except ImportError:
        print("parasail is not installed: left out")
    return tasks


def cold_start() -> float:
    """CPU seconds of a first small fit and prediction, nothing compiled yet."""
    code = (
        "import time; from maxmargin import AlignmentSVM; t = time.process_time();"
        "X = [('HEAGAWGHEE', 'PAWHEAE')]; y = [('HEAGAWGHE-E', '--P-AW-HEAE')];"
        "AlignmentSVM(10.0).fit(X, y).predict(X); print(time.process_time() - t)"
    )
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": folder}
        out = subprocess.run(
            [sys.executable, "-c", code],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
    return float(out.stdout)


def threads(pairs: int, passes: int) -> float:
    """Wall clock of one thread over that of two, for the oracle."""
    from maxmargin.core import Formulation, Problem, Serial
    from maxmargin.engines import Threads
    from maxmargin.losses import AlignedPairs

    structure, w = model((11.0, 1.0))
    X = proteins(pairs) * max(1, 256 // pairs)
    x = structure.encode(X)
    truth = structure.encode_labels(x, [[[k, k] for k in range(SIZE)]] * len(X))
    spent = []
    for engine in (Serial(), Threads(2)):
        problem = Problem(
            structure, AlignedPairs(), Formulation(), x, truth, np.ones(len(X)), engine
        )
        problem.cuts(w)
        times = []
        for _ in range(min(passes, 5)):
            begin = time.perf_counter()
            problem.cuts(w)
            times.append(time.perf_counter() - begin)
        spent.append(min(times))
        engine.close()
    return spent[0] / spent[1]


def report(figures: dict[str, float]) -> None:
    width = max(len(name) for name in figures)
    for name, value in figures.items():
        print(
            f"{name:<{width}}  {value:8.2f}"
            if value < 20
            else f"{name:<{width}}  {value:6.0f}"
        )
    for gaps in ("affine", "linear"):
        for mode in ("global", "local"):
            peer = figures.get(f"Biopython {gaps} {mode}")
            if peer:
                ratio = figures[f"maxmargin {gaps} {mode}"] / peer
                print(f"{gaps} {mode}: {ratio:.1f} x Biopython")
    for mode in ("global", "semiglobal", "local"):
        for kind in ("striped_16", "scan_16"):
            peer = figures.get(f"parasail affine {mode} {kind}")
            if peer:
                ratio = figures[f"maxmargin affine {mode}"] / peer
                print(f"affine {mode}: {ratio:.2f} x parasail {kind}, cigar decoded")


if __name__ == "__main__":
    main()
