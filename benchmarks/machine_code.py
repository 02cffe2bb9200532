"""Machine code of the wheel against code compiled for this very processor.

    python benchmarks/machine_code.py --python NEW/bin/python [--rounds 5] [--home DIR]
        [--json FILE]

`NEW` is an environment with the wheel. Both kinds of code train and predict the same
models on the same synthetic data, in processes of their own, in turn; each process does
it three times. Figures are CPU seconds, the least of all; loops are compiled, or loaded,
before the clock starts. `--home` keeps what was compiled for the next run, so that
`--rounds 0 --home DIR` compiles and a run after it only measures.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

TASKS = ("chain", "grammar", "alignment")
CHILD = """
import json, sys, time
import numpy as np
from maxmargin import AlignmentSVM, ChainSVM, GrammarSVM

rng = np.random.default_rng(0)


def chain(n):
    true = rng.integers(0, 12, (n, 25))
    words = [[{f"w={5 * c + k}", f"s={c // 2}"} for c, k in zip(row, rng.integers(0, 40, 25))]
             for row in true]
    X = [[{name: 1.0 for name in sorted(token)} for token in row] for row in words]
    return ChainSVM(C=0.1), X, [list(map(str, row)) for row in true]


def grammar(n):
    def tree(label, depth):
        if depth == 0 or rng.random() < 0.25:
            return (f"{label}t", f"w{rng.integers(3)}")
        kids = [tree("ABC"[rng.integers(3)], depth - 1) for _ in range(2)]
        return (label, *kids)

    trees = [("S", tree("A", 4), tree("B", 4)) for _ in range(n)]

    def words(t):
        return [t[1]] if isinstance(t[1], str) else [w for k in t[1:] for w in words(k)]

    def tags(t):
        return [t[0]] if isinstance(t[1], str) else [w for k in t[1:] for w in tags(k)]

    return GrammarSVM(C=0.1, max_iter=5), [list(zip(words(t), tags(t))) for t in trees], trees


def alignment(n):
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
    X, y = [], []
    for _ in range(n):
        one = rng.choice(letters, 120)
        other = one.copy()
        changed = rng.random(120) < 0.5
        other[changed] = rng.choice(letters, changed.sum())
        a, b = list(one), list(other)
        gap = int(rng.integers(20, 90))
        a[gap : gap + 4], b[gap + 10 : gap + 14] = "----", "----"
        X.append(("".join(a).replace("-", ""), "".join(b).replace("-", "")))
        y.append(("".join(a), "".join(b)))
    return AlignmentSVM(C=0.1, max_iter=20), X, y


made = {"chain": chain, "grammar": grammar, "alignment": alignment}[sys.argv[1]]
size = {"chain": 2000, "grammar": 80, "alignment": 2000}[sys.argv[1]]
again = {"chain": 10, "grammar": 20, "alignment": 2}[sys.argv[1]]
model, X, y = made(size)
model.fit(X[:20], y[:20]).predict(X[:20])
best = [float("inf")] * 2
for _ in range(int(sys.argv[2])):
    begin = time.process_time()
    model.fit(X, y)
    trained = time.process_time()
    for _ in range(again):
        model.predict(X)
    done = time.process_time()
    best = [min(best[0], trained - begin), min(best[1], (done - trained) / again)]
print(json.dumps(best))
"""
REPEATS = 3


def run(python, task, repeats, **more):
    gone = ("PYTHONPATH", "NUMBA_CACHE_DIR", "MAXMARGIN_CACHE_DIR", "XDG_CACHE_HOME")
    here = {k: v for k, v in os.environ.items() if k not in gone}
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    out = subprocess.run(
        [python, "-W", "ignore", "-c", CHILD, task, str(repeats)], env=here | one | more,
        capture_output=True, text=True,
    )  # fmt: skip
    if out.returncode:
        raise SystemExit(out.stderr)
    return json.loads(out.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--home", type=Path, help="folder that keeps compiled loops")
    parser.add_argument("--json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = str((args.home or Path(folder)).resolve())
        for told in compared(args.python, args.rounds, home):
            if args.json:
                Path(args.json).write_text(json.dumps(told, indent=1) + "\n")


def compared(python, rounds, home):
    """After each round the least seconds of each task and kind; compiles first."""
    kinds = {
        "wheel": {"HOME": home},
        "native": {"HOME": home, "MAXMARGIN_MACHINE_CODE": "off"},
    }
    for task in TASKS:
        for more in kinds.values():
            run(python, task, 0, **more)
    best = {task: {kind: [float("inf")] * 2 for kind in kinds} for task in TASKS}
    for number in range(rounds):
        print(f"after round {number + 1}:")
        for task in TASKS:
            for kind, more in kinds.items():
                found = run(python, task, REPEATS, **more)
                best[task][kind] = list(map(min, best[task][kind], found))
            a, b = best[task]["wheel"], best[task]["native"]
            print(
                f"{task:10} fit {a[0]:.3f} s, native {b[0]:.3f} ({a[0] / b[0]:.3f}); "
                f"predict {a[1]:.4f} s, native {b[1]:.4f} ({a[1] / b[1]:.3f})",
                flush=True,
            )
        yield {
            task: {
                "fit": found["wheel"][0], "fit, native": found["native"][0],
                "predict": found["wheel"][1], "predict, native": found["native"][1],
            }
            for task, found in best.items()
        }  # fmt: skip


if __name__ == "__main__":
    main()
