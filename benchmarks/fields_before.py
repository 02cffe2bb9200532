"""The estimators of single fields in this tree beside another checkout, such as 0.1.0.

    git worktree add --detach /tmp/before fb05be3      # the last commit of 0.1.0
    python -m benchmarks.fields_before --tree /tmp/before
    python -m benchmarks.fields_before --tree /tmp/before --task trees ranking

The data of a task are written to a file. A new process of each tree, one after the other,
reads it, fits an estimator and predicts; the scores of both are computed here. Settings
are the defaults of each tree, unless a row says otherwise. Seconds are CPU seconds of
`fit` after a first fit on a few examples, which compiles the loops.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Data = dict[str, Any]


def alignments() -> Data:
    """First pairs of HOMSTRAD families, residues alone."""
    from benchmarks.homology import first_pairs
    from benchmarks.tasks import data_folder
    from maxmargin.datasets import read_homstrad

    families = read_homstrad(data_folder() / "homstrad/homstrad.txt.gz")
    order = np.random.default_rng(0).permutation(len(families))
    half = len(order) // 2
    out = {}
    for name, part in (("train", order[:half]), ("test", order[half:])):
        X, y = first_pairs([families[k] for k in part])
        out[name] = {"X": X, "y": [np.asarray(columns).tolist() for columns in y]}
    return out


def trees() -> Data:
    """Sentences of at most ten words of the Penn sample, tags given."""
    from benchmarks.tasks import data_folder
    from maxmargin.io import read_treebank, tagged_words

    path = data_folder() / "ptb_sample/wsj_sample.mrg.txt.gz"
    short = [t for t in read_treebank(path).trees if len(tagged_words(t)) <= 10]
    pairs = [(tagged_words(tree), tree) for tree in short]
    cut = 3 * len(pairs) // 4
    parts = {"train": pairs[:cut], "test": pairs[cut:]}
    return {
        k: {"X": [p[0] for p in v], "y": [p[1] for p in v]} for k, v in parts.items()
    }


def ranking() -> Data:
    """OHSUMED, features scaled by query; parts 1 to 3 and 5."""
    from benchmarks.ranking import folds

    train, _, test = next(iter(folds()))
    return {
        name: {
            "X": [np.asarray(x).tolist() for x in part[0]],
            "y": [np.asarray(g).tolist() for g in part[1]],
        }
        for name, part in (("train", train), ("test", test))
    }


def coreference() -> Data:
    """LitBank with the mentions of the corpus, 80 and 20 documents."""
    from benchmarks.tasks import data_folder
    from experiments.yu2011.litbank import read_litbank

    rows = read_litbank(data_folder() / "coref_litbank/litbank_coref.txt.gz")
    X = [(d.sentences, [tuple(m)[:5] for m in d.mentions]) for _, d, _ in rows]
    y = [list(clusters) for _, _, clusters in rows]
    return {"train": {"X": X[:80], "y": y[:80]}, "test": {"X": X[-20:], "y": y[-20:]}}


def questions() -> Data:
    """Questions of TREC with coarse and fine classes."""
    from benchmarks.taxonomies import questions as loaded

    X, y, X_test, y_test, tree = loaded()
    above = {
        node: (tree.nodes[parents[0]] if parents else None)
        for node, parents in zip(tree.nodes, tree.parents, strict=True)
    }
    out: Data = {"taxonomy": above}
    for name, rows, labels in (("train", X, y), ("test", X_test, y_test)):
        parts = [v.tolist() for v in (rows.data, rows.indices, rows.indptr)]
        out[name] = {"X": [*parts, rows.shape[1]], "y": list(map(str, labels))}
    return out


TASKS = {f.__name__: f for f in (alignments, trees, ranking, coreference, questions)}


def as_trees(rows: list[Any]) -> list[Any]:
    """Nested lists of JSON as tuples again."""
    if isinstance(rows, str) or rows is None:
        return rows
    return tuple(map(as_trees, rows))  # type: ignore[return-value]


def estimators(task: str, data: Data) -> dict[str, Any]:
    """What is fitted in either tree."""
    import maxmargin as mm

    if task == "alignments":
        return {"AlignmentSVM()": mm.AlignmentSVM()}
    if task == "trees":
        return {"GrammarSVM()": mm.GrammarSVM()}
    if task == "ranking":
        return {'RankingSVM(loss="ndcg")': mm.RankingSVM(loss="ndcg")}
    if task == "coreference":
        return {"CoreferenceSVM()": mm.CoreferenceSVM()}
    above = {node: parent for node, parent in data["taxonomy"].items() if parent}
    one = mm.MulticlassSVM(C=1.0, taxonomy=above, loss="taxonomy")
    return {'MulticlassSVM(taxonomy=.., loss="taxonomy")': one}


def inputs(task: str, part: Data) -> tuple[Any, Any]:
    """X and y as the estimators of both trees take them."""
    X, y = part["X"], part["y"]
    if task == "alignments":
        return [tuple(x) for x in X], [np.array(c) for c in y]
    if task == "trees":
        return [[tuple(w) for w in x] for x in X], [as_trees(t) for t in y]
    if task == "ranking":
        return [np.array(x) for x in X], [np.array(g) for g in y]
    if task == "coreference":
        try:
            from maxmargin.structures.clusters import Document, Mention
        except ImportError:  # 0.1.0
            from maxmargin.structures.mentions import Document, Mention
        return [Document(s, [Mention(*m) for m in ms]) for s, ms in X], y
    values, columns, starts, width = X
    shape = (len(starts) - 1, width)
    return sp.csr_matrix((values, columns, starts), shape=shape), np.array(y)


def run_child(task: str, source: str, target: str) -> None:
    """Fit and predict in this process, with whatever `maxmargin` is on its path."""
    data = json.loads(Path(source).read_text())
    X, y = inputs(task, data["train"])
    X_test, _ = inputs(task, data["test"])
    found = {}
    for name, model in estimators(task, data).items():
        some = slice(0, len(y) if task == "questions" else 10)
        type(model)(**{**model.get_params(), "tol": 0.9}).fit(X[some], y[some])
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
        if task == "ranking":
            answers = [np.asarray(s).tolist() for s in model.decision_function(X_test)]
        else:
            answers = [
                a.tolist() if hasattr(a, "tolist") else a for a in model.predict(X_test)
            ]
        found[name] = {"seconds": seconds, "answers": answers}
    Path(target).write_text(json.dumps(found))


def scores(task: str, data: Data, answers: list[Any]) -> str:
    """The figures that people quote, computed by this tree."""
    X, y = inputs(task, data["test"])
    if task == "alignments":
        from maxmargin.metrics import q_scores

        q = q_scores(y, [np.array(a) for a in answers])
        return f"Q {np.mean(q):.4f}"
    if task == "trees":
        from maxmargin.metrics import COLLINS, bracket_scores

        found = [None if a is None else as_trees(a) for a in answers]
        missing = sum(tree is None for tree in found)
        s = bracket_scores(y, found, COLLINS)
        return f"F1 of brackets {s.f1:.4f}, without a parse {missing} of {len(found)}"
    if task == "ranking":
        from maxmargin.metrics import average_precision, mean_over_queries, ndcg_at_k

        grades = [np.asarray(g) for g in answers]
        first = mean_over_queries(average_precision, y, grades)
        return f"MAP {first:.4f}, NDCG@10 {mean_over_queries(ndcg_at_k, y, grades, 10):.4f}"
    if task == "coreference":
        from maxmargin.metrics import coreference_scores, entities_of

        mentions = [[tuple(m)[:3] for m in x.mentions] for x in X]
        key = [entities_of(m, c) for m, c in zip(mentions, y, strict=True)]
        own = [entities_of(m, c) for m, c in zip(mentions, answers, strict=True)]
        return f"CoNLL {100 * coreference_scores(key, own).conll:.1f}"
    from maxmargin.structures.classes import Taxonomy

    tree = Taxonomy.of(data["taxonomy"])
    names = sorted({*y, *answers})
    costs = tree.heights(names)
    place = {name: k for k, name in enumerate(names)}
    mean = np.mean([costs[place[a], place[b]] for a, b in zip(y, answers, strict=True)])
    return f"accuracy {np.mean(np.array(answers) == y):.3f}, tree loss {mean:.3f}"


def main() -> None:
    """Print a row per task and tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", required=True, help="the other checkout")
    parser.add_argument("--task", choices=TASKS, nargs="*", default=list(TASKS))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        run_child(args.task[0], *args.child)
        return
    here = str(Path(__file__).resolve().parents[1])
    with tempfile.TemporaryDirectory() as folder:
        for task in args.task:
            source, target = Path(folder, "data.json"), Path(folder, "answers.json")
            made = json.loads(json.dumps(TASKS[task](), default=str))
            source.write_text(json.dumps(made))
            for name, tree in (("other", args.tree), ("this", here)):
                path = {"PYTHONPATH": os.pathsep.join([f"{tree}/src", here])}
                command = [
                    sys.executable, "-m", "benchmarks.fields_before", "--tree", ".",
                    "--task", task, "--child", str(source), str(target),
                ]  # fmt: skip
                subprocess.run(
                    command, check=True, env={**os.environ, **path}, cwd=folder
                )
                for what, found in json.loads(target.read_text()).items():
                    figures = scores(task, made, found["answers"])
                    sys.stdout.write(
                        f"{task:12s} {name:6s} {what:44s} {figures}; "
                        f"training {found['seconds']:.1f} CPU s\n"
                    )
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
