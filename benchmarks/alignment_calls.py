"""Whole calls of AlignmentSVM beside parasail, in one run: many pairs, long pairs, memory.

    python -m benchmarks.alignment_calls [--pairs 10000] [--longest 10000]

What a user waits for: strings in; columns of the alignments, or scores alone, out. One
thread, BLOSUM62, gaps 11 and 1. parasail is asked for its score, or for its trace with
the CIGAR string decoded. "learned" adds noise to the scores, which are then no integers:
parasail cannot have them, and we add them up as floats. CPU seconds, best of several
passes in turn. Scores are compared with parasail's first.

CPU milliseconds are kept in `benchmarks/results/alignment_calls.json`.

The last lines are the parts of a call, and the peak memory of one long pair, which is
measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "alignment_calls.json"
LETTERS = "ARNDCQEGHILKMFPSTWYV"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10000)
    parser.add_argument("--longest", type=int, default=10000)
    parser.add_argument("--memory", type=int, help="only align one pair of this length")
    args = parser.parse_args()
    if args.memory:
        show_memory(args.memory)
        return
    learned, known = model(0.05), model(0.0)
    figures = {}
    for name, X in (
        (f"{args.pairs} pairs, 50-300", proteins(args.pairs, 50, 300)),
        ("1 pair, 2000", proteins(1, 2000, 2000)),
    ):
        figures[name] = compare(name, X, known, learned)
    RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    parts(proteins(min(args.pairs, 2000), 50, 300), known)
    for length in (100, args.longest):
        subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.alignment_calls",
                "--memory",
                str(length),
            ],
            check=True,
        )


def proteins(pairs: int, low: int, high: int) -> list[tuple[str, str]]:
    """Random proteins and relatives with half of the letters equal and some deleted."""
    rng, letters = np.random.default_rng(0), np.array(list(LETTERS))
    out = []
    for _ in range(pairs):
        a = rng.integers(0, 20, rng.integers(low, high + 1))
        b = np.where(rng.random(len(a)) < 0.5, a, rng.integers(0, 20, len(a)))
        out.append(
            ("".join(letters[a]), "".join(letters[b[rng.random(len(b)) > 0.03]]))
        )
    return out


def model(noise: float):
    """AlignmentSVM with the scores of BLOSUM62 in the place of learned weights."""
    from maxmargin import AlignmentSVM
    from maxmargin.datasets import BLOSUM62
    from maxmargin.io.biology import parse_substitution

    svm = AlignmentSVM(normalize=False, alphabets="protein", max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one step of training is not enough
        svm.fit([(LETTERS, LETTERS)], [(LETTERS, LETTERS)])
    structure, w = svm.structure_, np.zeros(svm.structure_.dim)
    letters = structure.symbols.letters["residue"]
    table = parse_substitution(BLOSUM62.splitlines(), "BLOSUM62").restrict(letters)
    for k, name in enumerate(structure.feature_names()):
        if "|" not in name:
            w[k] = -11.0 if "open" in name else -1.0
        elif "?" not in name:
            a, b = (letters.index(part[-1]) for part in name.split("|"))
            w[k] = table.scores[a, b]
    svm.coef_ = w + noise * np.random.default_rng(1).normal(size=len(w))
    return svm


def compare(name: str, X: list[tuple[str, str]], known, learned) -> dict[str, float]:
    """CPU milliseconds of each task, printed beside those of parasail."""
    tasks: dict[str, Callable] = {
        "predict": lambda: known.predict(X),
        "predict, learned": lambda: learned.predict(X),
        "alignment_scores": lambda: known.alignment_scores(X),
        "alignment_scores, learned": lambda: learned.alignment_scores(X),
    }
    try:
        import parasail

        def asked(kind: str) -> Callable:
            run, table = getattr(parasail, kind), parasail.blosum62
            if "trace" in kind:
                return lambda: [run(a, b, 11, 1, table).cigar.decode for a, b in X]
            return lambda: [run(a, b, 11, 1, table).score for a, b in X]

        for kind in ("striped_16", "scan_16"):
            tasks[f"parasail trace {kind}"] = asked(f"nw_trace_{kind}")
            tasks[f"parasail score {kind}"] = asked(f"nw_{kind}")
        ours, theirs = known.alignment_scores(X), np.array(asked("nw_scan_16")())
        assert np.array_equal(ours, theirs), "scores differ from parasail's"
    except ImportError:
        print("parasail is not installed: left out")
    spent = race(tasks, 5)
    cells = sum(len(a) * len(b) for a, b in X)
    print(f"\n{name}: {cells / 1e6:.0f} million cells")
    for task, seconds in spent.items():
        line = f"  {task:<28} {1e3 * seconds:9.2f} ms {cells / seconds / 1e6:7.0f} M/s"
        kind = "trace" if "predict" in task else "score"
        for peer in ("striped_16", "scan_16"):
            other = spent.get(f"parasail {kind} {peer}")
            if other and "parasail" not in task:
                line += f"   {other / seconds:5.2f} times as fast as {peer}"
        print(line)
    return {task: 1e3 * seconds for task, seconds in spent.items()}


def race(tasks: dict[str, Callable], passes: int) -> dict[str, float]:
    """CPU seconds of each task, all tasks taking turns."""
    best = dict.fromkeys(tasks, np.inf)
    for task in tasks.values():
        task()
    for _ in range(passes):
        for name, task in tasks.items():
            begin = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def parts(X: list[tuple[str, str]], svm) -> None:
    """Where the time of a call goes."""
    structure, w = svm.structure_, svm.coef_
    x = structure.encode(X)
    ids, found = np.arange(x.n), structure.argmax(x, np.arange(x.n), w)
    spent = race(
        {
            "encode": lambda: structure.encode(X),
            "paths": lambda: structure.argmax(x, ids, w),
            "scores": lambda: structure.scores(x, ids, w),
            "decode": lambda: structure.decode_labels(x, found.labels),
        },
        5,
    )
    print(f"\nparts of a call, {len(X)} pairs")
    for name, seconds in spent.items():
        print(f"  {name:<28} {1e3 * seconds:9.2f} ms")


def show_memory(length: int) -> None:
    """Peak memory of aligning two sequences, above what the process has before (Linux)."""
    svm, X = model(0.05), proteins(1, length, length)
    svm.predict(proteins(1, 100, 100))
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew
    before, begin = resident("VmRSS"), time.process_time()
    svm.predict(X)
    spent = time.process_time() - begin
    print(
        f"one pair of {length} letters: {spent:.2f} s, peak "
        f"{resident('VmHWM') - before:.0f} MB above the {before:.0f} MB before"
    )


def resident(name: str) -> float:
    """Megabytes of a line of the status of this process."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(name))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
