"""Sequence labelling beside python-crfsuite and figures of svm_hmm, in one run.

    python -m benchmarks.chains                       everything, an hour or so
    python -m benchmarks.chains --task ocr-small      one part
    python -m benchmarks.chains --task ner --quick    on reduced data, a minute

Tasks: ocr-small, ocr-large (all folds), ocr-objective (time to svm_hmm's objective),
ner (the peers' features), ner-raw (own template on the raw text), pos, threads.

Each contender runs in a process of its own, so that peak memory is its own, on one
thread. Times are CPU seconds; training excludes the compilation of loops (reported as
`cold`) and, for CRFsuite, the hand-over of data (reported as `append`).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

DATA = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
GRID = (0.08, 0.16, 0.32)  # C, in our scale
C2 = (0.1, 1.0, 10.0)  # CRFsuite's
# svm_hmm V3.10, CPU seconds on the machine where CRFsuite L-BFGS took 38.0 s on the
# large split: (C in its scale, seconds, objective, test error).
SVM_HMM = ((100.0, 17.8, 373.75, 0.1518), (1000.0, 28.1, 2666.52, 0.1224))
CRFSUITE_THERE = 38.0


# ------------------------------------------------------------------ data


def ocr(fold: int, large: bool, quick: bool):
    from maxmargin import Sequences

    z = np.load(DATA / "ocr_letters" / "ocr_letters.npz")
    flat = np.unpackbits(z["X_bits"], axis=1).astype(np.float64)
    ends = z["offsets"].astype(np.int64)
    X, y = Sequences(flat, ends), Sequences(z["y"].astype(np.int64), ends)
    train = (z["fold"] == fold) != large
    if quick:
        train &= np.cumsum(train) <= 300
    return (
        X[train],
        y[train],
        X[z["fold"] != fold if not large else z["fold"] == fold],
        (y[z["fold"] != fold if not large else z["fold"] == fold]),
    )


def ner(part: str, quick: bool):
    from maxmargin import Sequences

    z = np.load(DATA / "conll2002_esp" / "features.npz")
    ptr, idx, ends = (z[f"{part}_{k}"] for k in ("indptr", "indices", "offsets"))
    shape = (len(ptr) - 1, int(z["n_features"]))
    X = Sequences(sp.csr_matrix((np.ones(len(idx)), idx, ptr), shape=shape), ends)
    y = Sequences(z["labels"][z[f"{part}_y"]], ends)
    some = slice(0, 800 if quick else None)
    return X[some], y[some]


def ner_raw(part: str, quick: bool):
    from maxmargin.io.sequences import load_conll

    X, y = load_conll(DATA / "conll2002_esp" / f"esp.{part}.txt.gz")
    some = slice(0, 800 if quick else None)
    return X[some], y[some]


def wsj(quick: bool):
    import gzip

    from maxmargin.io.sequences import pos

    parts = {True: ([], []), False: ([], [])}
    with gzip.open(DATA / "wsj_pos" / "wsj_pos.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            name, _, text = line.rstrip("\n").partition("\t")
            pairs = [item.rsplit("/", 1) for item in text.split(" ")]
            number = int("".join(c for c in name if c.isdigit())[-4:])
            X, y = parts[number <= 150]
            X.append(pos([(word,) for word, _ in pairs]))
            y.append([tag for _, tag in pairs])
    some = slice(0, 300 if quick else None)
    (X, y), (Xt, yt) = parts[True], parts[False]
    return X[some], y[some], Xt[some], yt[some]


# ------------------------------------------------------------------ contenders


def ours(X, y, tests: dict, **options) -> dict:
    """Train and test ChainSVM; tests: name -> (X, y)."""
    from maxmargin import ChainSVM

    begin = time.process_time()
    _warm_up(X, y, options)
    cold = time.process_time() - begin
    begin = time.process_time()
    model = ChainSVM(**options).fit(X, y)
    train = time.process_time() - begin
    out = {"train": train, "cold": cold, "primal": model.result_.primal}
    out |= {"gap": model.result_.gap, "passes": model.result_.oracle_calls / len(X)}
    for name, (Xt, yt) in tests.items():
        speeds = []
        for _ in range(3):
            begin = time.process_time()
            found = model.predict(Xt)
            speeds.append(sum(map(len, found)) / (time.process_time() - begin))
        out |= scores(name, yt, list(found)) | {f"{name} tokens/s": max(speeds)}
    return out | {"peak MB": peak()}


def _warm_up(X, y, options) -> None:
    from maxmargin import ChainSVM

    few = np.arange(min(20, len(X)))
    rows = X[few] if hasattr(X, "offsets") else [X[i] for i in few]
    tags = y[few] if hasattr(y, "offsets") else [y[i] for i in few]
    ChainSVM(**(options | {"tol": 0.3})).fit(rows, tags).predict(rows)


def crfsuite(X, y, tests: dict, algorithm: str, settings: dict) -> dict:
    """Train and test python-crfsuite on the same features."""
    import pycrfsuite

    named = _named(X)
    begin = time.process_time()
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    trainer.set_params(settings)
    for rows, tags in zip(named, y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(rows), [str(tag) for tag in tags])
    append = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        begin = time.process_time()
        trainer.train(path)
        train = time.process_time() - begin
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        out = {"train": train, "append": append}
        for name, (Xt, yt) in tests.items():
            items = [pycrfsuite.ItemSequence(rows) for rows in _named(Xt)]
            begin = time.process_time()
            found = [tagger.tag(rows) for rows in items]
            speed = sum(map(len, found)) / (time.process_time() - begin)
            truth = [[str(tag) for tag in tags] for tags in yt]
            out |= scores(name, truth, found) | {f"{name} tokens/s": speed}
            if not hasattr(Xt, "offsets"):  # we, too, start from lists of names then
                begin = time.process_time()
                for rows in Xt:
                    tagger.tag(rows)
                speed = sum(map(len, found)) / (time.process_time() - begin)
                out[f"{name} tokens/s"] = speed
    return out | {"peak MB": peak()}


def _named(X):
    """Rows of a matrix as the dicts and lists that CRFsuite takes."""
    if not hasattr(X, "offsets"):
        return X
    rows = sp.csr_matrix(X.flat)
    plain = bool((rows.data == 1.0).all())
    bias = not sp.issparse(X.flat)
    out = []
    for a, b in zip(X.offsets[:-1], X.offsets[1:], strict=True):
        tokens = []
        for r in range(a, b):
            some = slice(rows.indptr[r], rows.indptr[r + 1])
            names = [f"f{j}" for j in rows.indices[some]] + ["bias"] * bias
            token = names if plain else dict(zip(names, rows.data[some], strict=False))
            tokens.append(token)
        out.append(tokens)
    return out


def scores(name: str, truth, found) -> dict:
    from maxmargin.metrics import span_f1, token_error

    truth = [list(row) for row in truth]
    out = {f"{name} error": token_error(truth, found)}
    if any(str(tag).startswith("B-") for row in truth[:50] for tag in row):
        out[f"{name} F1"] = span_f1(truth, found)
    return out


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ------------------------------------------------------------------ runs in a process


def run_ocr(who: str, fold: int, large: bool, quick: bool, order: int = 1) -> dict:
    X, y, Xt, yt = ocr(fold, large, quick)
    tests = {"test": (Xt, yt)}
    if who != "ours":
        algorithm, settings = CRFSUITE[who]
        if algorithm == "lbfgs":
            settings = settings | {"c2": 1.0}
        return crfsuite(X, y, tests, algorithm, settings)
    C = tuned(X, y, order)
    return ours(X, y, tests, C=C, order=order, tol=1e-2) | {"C": C}


def tuned(X, y, order: int) -> float:
    """C by a held-out fifth of the training part."""
    from maxmargin import ChainSVM

    held = np.arange(len(X)) % 5 == 0
    marks = []
    for C in GRID:
        model = ChainSVM(C=C, order=order, tol=2e-2).fit(X[~held], y[~held])
        marks.append(model.score(X[held], list(y[held])))
    return GRID[int(np.argmax(marks))]


def run_objective(who: str, C: float, target: float, quick: bool) -> dict:
    """CPU seconds to svm_hmm's objective (its scale of C) on the large split."""
    X, y, Xt, yt = ocr(0, True, quick)
    tests = {"test": (Xt, yt)}
    if who != "ours":
        return crfsuite(X, y, tests, "lbfgs", CRFSUITE["lbfgs"][1] | {"c2": 1.0})
    for tol in (5e-2, 3e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3):
        out = ours(X, y, tests, C=C / len(X), start_end=False, tol=tol)
        if out["primal"] <= target or quick:
            break
    return out | {"tol": tol}


def run_ner(
    who: str, raw: bool, quick: bool, C: float = 0.0, order: int = 1, c2: float = 0.0
) -> dict:
    load = ner_raw if raw else ner
    X, y = load("train", quick)
    tests = {part: load(part, quick) for part in ("testa", "testb")}
    if who == "ours":
        own = {} if raw else {"bias": False}  # as the peers have it
        return ours(X, y, tests, C=C, order=order, tol=2e-2, **own)
    algorithm, settings = CRFSUITE[who]
    if algorithm == "lbfgs":
        settings = settings | {"c2": c2, "max_iterations": 30 if quick else 1000}
    else:
        settings = settings | {"max_iterations": 20}
    return crfsuite(X, y, tests, algorithm, settings)


def run_pos(who: str, quick: bool, C: float) -> dict:
    X, y, Xt, yt = wsj(quick)
    if who == "ours":
        return ours(X, y, {"test": (Xt, yt)}, C=C, tol=1e-2) | {"C": C}
    algorithm, settings = CRFSUITE[who]
    if algorithm == "lbfgs":
        settings = settings | {"c2": 1.0, "max_iterations": 10 if quick else 100}
    else:
        settings = settings | {"max_iterations": 20}
    return crfsuite(X, y, {"test": (Xt, yt)}, algorithm, settings)


def run_threads(quick: bool) -> dict:
    """Wall seconds of one oracle pass over the NER sentences, by threads."""
    from maxmargin.core import Formulation, Problem, Serial
    from maxmargin.engines import Threads
    from maxmargin.losses import Hamming
    from maxmargin.structures.chain import Chain

    X, y = ner("train", quick)
    chain = Chain(bias=False, start_end=False).bind(X, y)
    x = chain.encode(X)
    truth = chain.encode_labels(x, y)
    w = np.random.default_rng(0).normal(size=chain.dim)
    out = {}
    for jobs, engine in ((1, Serial()), (2, Threads(2))):
        loss, form = Hamming().bind(9), Formulation()
        problem = Problem(chain, loss, form, x, truth, np.ones(x.n), engine)
        times = []
        for _ in range(6):
            begin = time.perf_counter()
            problem.cuts(w)
            times.append(time.perf_counter() - begin)
        out[f"{jobs} thread(s)"] = min(times)
        engine.close()
    return out | {"ratio": out["1 thread(s)"] / out["2 thread(s)"]}


EVERYTHING = {"feature.possible_states": True, "feature.possible_transitions": True}
CRFSUITE = {
    "lbfgs": ("lbfgs", EVERYTHING),
    "pa": ("pa", {"max_iterations": 50}),
    "ap": ("ap", {"max_iterations": 50}),
}
RUNS = {
    "ocr": run_ocr, "objective": run_objective, "ner": run_ner, "pos": run_pos,
    "threads": run_threads,
}  # fmt: skip


# ------------------------------------------------------------------ the parent


def child(run: str, **options) -> dict:
    """Call RUNS[run](**options) in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.chains", "--child", run]
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, json.dumps(options)], capture_output=True, text=True,
        env=os.environ | one, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def show(title: str, row: dict) -> None:
    cells = "  ".join(
        f"{k} {v:,.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()
    )
    print(f"{title:24s} {cells}", flush=True)


def mean_rows(rows: list[dict]) -> dict:
    return {k: float(np.mean([row[k] for row in rows])) for k in rows[0]}


def ocr_task(large: bool, quick: bool, folds: int) -> dict:
    out = {}
    for who, order in (("ours", 1), ("ours", 2), ("lbfgs", 1), ("pa", 1)):
        rows = [
            child("ocr", who=who, fold=fold, large=large, quick=quick, order=order)
            for fold in range(1 if quick else folds)
        ]
        key = who if order == 1 else f"{who} order {order}"
        out[key] = mean_rows(rows) | {"errors": [r["test error"] for r in rows]}
        show(f"{'large' if large else 'small'} {key} ({len(rows)} folds)", out[key])
    ratio = out["lbfgs"]["train"] / out["ours"]["train"]
    print(f"  training: CRFsuite L-BFGS takes {ratio:.1f} times ours")
    return out


def objective_task(quick: bool) -> dict:
    out = {"lbfgs": child("objective", who="lbfgs", C=0.0, target=0.0, quick=quick)}
    show("crfsuite lbfgs", out["lbfgs"])
    pace = out["lbfgs"]["train"] / CRFSUITE_THERE
    for C, seconds, target, error in SVM_HMM:
        row = child("objective", who="ours", C=C, target=target, quick=quick)
        out[f"C={C:g}"] = row
        show(f"ours C={C:g}", row)
        print(
            f"  svm_hmm: objective {target}, error {error}, {seconds} s there, about "
            f"{seconds * pace:.1f} here: {seconds * pace / row['train']:.1f} times ours"
        )
    return out


def ner_task(raw: bool, quick: bool) -> dict:
    out = {}
    grid = [(1, 0.12), (2, 0.12), (2, 0.3)]
    for order, C in grid if not quick else grid[::2]:
        key = f"ours order {order} C={C}"
        out[key] = child("ner", who="ours", raw=raw, quick=quick, C=C, order=order)
        show(key, out[key])
    slow = [] if quick or raw else [("lbfgs", 0.1)]
    peers = [("pa", 0.0), ("ap", 0.0), ("lbfgs", 1.0), *slow]
    for who, c2 in peers:
        key = f"crfsuite {who}" + (f" c2={c2}" if c2 else "")
        out[key] = child("ner", who=who, raw=raw, quick=quick, c2=c2)
        show(key, out[key])
    own = [key for key in out if key.startswith("ours")]
    best = max(own, key=lambda key: out[key]["testa F1"])
    print(f"  chosen on testa: {best}, testb F1 {out[best]['testb F1']:.4f}")
    for key in out:
        if key.startswith("crfsuite"):
            ratio = out[key]["train"] / out[best]["train"]
            speed = out[best]["testb tokens/s"] / out[key]["testb tokens/s"]
            room = out[best]["peak MB"] / out[key]["peak MB"]
            print(
                f"  {key}: {ratio:.1f} times our training time; we predict {speed:.1f} "
                f"times as fast, in {room:.2f} of its memory"
            )
    return out


def pos_task(quick: bool) -> dict:
    out = {}
    for who in ("ours", "ap", "pa", "lbfgs"):
        out[who] = child("pos", who=who, quick=quick, C=0.1)
        show(who, out[who])
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="all")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--out", type=Path, help="write all figures as JSON")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        warnings.simplefilter("ignore")
        print(json.dumps(RUNS[args.child[0]](**json.loads(args.child[1]))))
        return
    tasks = {
        "ocr-small": lambda: ocr_task(False, args.quick, args.folds),
        "ocr-large": lambda: ocr_task(True, args.quick, args.folds),
        "ocr-objective": lambda: objective_task(args.quick),
        "ner": lambda: ner_task(False, args.quick),
        "ner-raw": lambda: ner_task(True, args.quick),
        "pos": lambda: pos_task(args.quick),
        "threads": lambda: child("threads", quick=args.quick),
    }
    if args.task != "all" and args.task not in tasks:
        parser.error(f"--task is one of {', '.join(tasks)}")
    figures = {}
    for name, task in tasks.items():
        if args.task in ("all", name):
            print(f"== {name}")
            figures[name] = task()
            if name == "threads":
                show("oracle pass", figures[name])
    if args.out:
        args.out.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
