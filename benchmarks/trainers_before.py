"""Every trainer in this tree beside another checkout, for instance 0.1.0.

    git worktree add --detach /tmp/before fb05be3      # the last commit of 0.1.0
    python -m benchmarks.trainers_before --tree /tmp/before
    python -m benchmarks.trainers_before --tree /tmp/before --only "classes" --rounds 5

A case is an estimator with a trainer on data that both trees can make. Each round fits it
in a new process for each tree, one after the other, after a fit on a few examples that
compiles the loops. The table has the least CPU seconds of the rounds, the ratio, and
whether steps and weights are the same. The last rows are wall seconds of new processes:
`import maxmargin`, `maxmargin --help`, and a first fit with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[1]
RESULTS = HOME / "benchmarks" / "results" / "trainers_before.json"
CHAIN_TRAINERS = (
    "block-dual", "n-slack-block", "one-slack", "bcfw", "sdm", "subgradient", "n-slack",
)  # fmt: skip
FIRST_FIT = (
    "from maxmargin import ChainSVM; "
    "ChainSVM().fit([[['a'], ['b']], [['b']]] * 4, [['x', 'y'], ['y']] * 4)"
)


def words(n: int, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Noisy label sequences: 12 tokens, 20 features, 10 labels."""
    import numpy as np

    rng = np.random.default_rng(seed)
    emit = rng.normal(size=(10, 20))
    y = [list(map(int, rng.integers(10, size=12))) for _ in range(n)]
    X = [emit[labels] + rng.normal(size=(12, 20)) for labels in y]
    return X, y


def classes(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Noisy classes: 50 features, 10 classes."""
    import numpy as np

    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(10, 50))
    y = rng.integers(10, size=n)
    return centres[y] + 2.5 * rng.normal(size=(n, 50)), y


def trees(n: int, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Binary trees over tagged words: the last word with the highest tag splits a phrase.

    One phrase in ten has another label than its first tag says.
    """
    import numpy as np

    rng = np.random.default_rng(seed)

    def tree(tags: list[int]) -> Any:
        if len(tags) == 1:
            tag = "abcd"[tags[0]]
            return (tag, f"{tag}{int(rng.integers(9))}")
        cut = max(range(1, len(tags)), key=lambda t: (tags[t], t))
        label = tags[0] % 3 if rng.random() < 0.9 else int(rng.integers(3))
        return ("XYZ"[label], tree(tags[:cut]), tree(tags[cut:]))

    def leaves(node: Any) -> list[tuple[str, str]]:
        if isinstance(node[1], str):
            return [(node[1], node[0])]
        return [leaf for child in node[1:] for leaf in leaves(child)]

    tags = [rng.integers(4, size=9).tolist() for _ in range(n)]
    y = [("S", tree(t[:4]), tree(t[4:])) for t in tags]
    return [leaves(t) for t in y], y


def graphs(n: int, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Grids of 5 x 5 nodes, 4 labels."""
    import numpy as np

    rng = np.random.default_rng(seed)
    places = np.arange(25).reshape(5, 5)
    across = np.c_[places[:, :-1].ravel(), places[:, 1:].ravel()]
    edges = np.r_[across, np.c_[places[:-1].ravel(), places[1:].ravel()]]
    y = [rng.integers(4, size=25) for _ in range(n)]
    noise = [rng.normal(size=(25, 4)) for _ in y]
    return [(np.eye(4)[t] + e, edges) for t, e in zip(y, noise)], y


def cases() -> dict[str, tuple[str, dict[str, Any], str, int]]:
    """By name: estimator, parameters, data, number of examples."""
    made: dict[str, tuple[str, dict[str, Any], str, int]] = {
        f"chain, {name}": ("ChainSVM", {"solver": name, "tol": 0.01}, "words", 1500)
        for name in CHAIN_TRAINERS
    }
    for name in ("auto", "block-dual", "one-slack", "bcfw"):
        parameters = {"solver": name, "tol": 0.01}
        made[f"classes, {name}"] = ("MulticlassSVM", parameters, "classes", 4000)
    for name in ("sdcd", "lse-cutting-plane"):
        parameters = {"solver": name, "penalty": "summed", "tol": 0.01, "C": 0.01}
        made[f"classes, {name}"] = ("MulticlassSVM", parameters, "classes", 4000)
    squared = {"penalty": "squared", "tol": 0.01}
    made["classes, squared"] = ("MulticlassSVM", squared, "classes", 4000)
    made["kernel, two classes"] = ("KernelSVM", {"tol": 0.01}, "two", 2000)
    made["chain, slack"] = (
        "ChainSVM", {"rescaling": "slack", "tol": 0.01, "solver": "block-dual"},
        "words", 1000,
    )  # fmt: skip
    plain = {"C": 5.0, "tol": 0.01, "horizontal": None, "fallback": "none"}
    made["trees"] = ("GrammarSVM", plain, "trees", 200)
    made["grids"] = ("NetworkSVM", {"tol": 0.02}, "graphs", 120)
    return made


def data(name: str, n: int) -> tuple[Any, Any]:
    if name == "two":
        X, y = classes(n)
        return X, y % 2
    return {"words": words, "classes": classes, "trees": trees, "graphs": graphs}[name](
        n
    )


def fit(name: str) -> None:
    """Fit one case in this process and print what it took; `run` calls it."""
    import hashlib
    import time
    import warnings

    import maxmargin

    warnings.simplefilter("ignore")
    estimator, parameters, kind, n = cases()[name]
    model = getattr(maxmargin, estimator)(**{"max_iter": 400, **parameters})
    X, y = data(kind, n)
    model.fit(X[: n // 8], y[: n // 8])
    begin = time.process_time()
    model.fit(X, y)
    seconds, result = time.process_time() - begin, model.result_
    told = {
        "cpu": seconds, "gap": result.gap, "iterations": result.iterations,
        "w": hashlib.sha256(result.w.tobytes()).hexdigest()[:12],
    }  # fmt: skip
    print(json.dumps(told))


def run(tree: str, name: str) -> dict[str, Any]:
    """One case by the package in a tree, in a new process."""
    code = f"from trainers_before import fit; fit({name!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tree), capture_output=True,
        text=True, cwd=tempfile.gettempdir(),
    )  # fmt: skip
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:200]}
    out: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return out


def environment(tree: str, **more: str) -> dict[str, str]:
    paths = os.pathsep.join((str(Path(tree) / "src"), str(Path(__file__).parent)))
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **more}


def processes(tree: str, rounds: int) -> dict[str, float]:
    """CPU seconds of new processes: import, help, and a first fit that compiles."""
    import resource

    def took(words: list[str], **more: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *words], env=environment(tree, **more), check=True,
            capture_output=True, cwd=tempfile.gettempdir(),
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def least(words: list[str]) -> float:
        return min(took(words) for _ in range(2 + rounds))

    with tempfile.TemporaryDirectory() as empty:
        return {
            "import maxmargin": least(["-c", "import maxmargin"]),
            "maxmargin --help": least(["-m", "maxmargin", "--help"]),
            "first fit of ChainSVM, empty cache": took(
                ["-c", FIRST_FIT], NUMBA_CACHE_DIR=empty, HOME=empty,
                XDG_CACHE_HOME=empty,
            ),
        }  # fmt: skip


def main() -> None:
    """Read the flags, run both trees in turn, print and keep a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", required=True, help="the other checkout")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    here, rows = str(HOME), []
    print(f"load {os.getloadavg()[0]:.1f}, cores {os.cpu_count()}")
    print("| case | before: CPU s | now: CPU s | ratio | iterations | same weights |")
    print("|---|---|---|---|---|---|")
    for name in (n for n in cases() if args.only in n):
        pairs = [(run(args.tree, name), run(here, name)) for _ in range(args.rounds)]
        old, new = (min(p, key=lambda r: r.get("cpu", 0.0)) for p in zip(*pairs))
        row = {"case": name, "before": old, "now": new}
        rows.append(row)
        if "failed" in old or "failed" in new:
            print(f"| {name} | {old} | {new} |", flush=True)
            continue
        print(
            f"| {name} | {old['cpu']:.3f} | {new['cpu']:.3f} | "
            f"{old['cpu'] / new['cpu']:.2f} | {old['iterations']} / {new['iterations']} | "
            f"{'yes' if old['w'] == new['w'] else 'no'} |",
            flush=True,
        )
    if not args.only:
        old, new = (processes(tree, args.rounds) for tree in (args.tree, here))
        for name in old:
            rows.append({"case": name, "before": old[name], "now": new[name]})
            print(
                f"| {name} | {old[name]:.2f} | {new[name]:.2f} | "
                f"{old[name] / new[name]:.2f} | | |"
            )
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
