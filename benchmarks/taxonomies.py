"""Classes with a taxonomy: flat against taxonomy, calibration, and answers that stop early.

    python -m benchmarks.taxonomies            # questions, 50 classes
    python -m benchmarks.taxonomies --data news20

Tree loss is the mean height of the first common ancestor of the true and the predicted
class. For `predict_node` the table has the share of answers that are classes, the share
of answers that are the true class or above it, and hierarchical precision and recall.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from benchmarks.tasks import data_folder
from maxmargin import MulticlassSVM
from maxmargin.calibration import expected_calibration_error
from maxmargin.metrics import hierarchical_scores
from maxmargin.structures.classes import Taxonomy


def questions() -> tuple[Any, Any, Any, Any, Taxonomy]:
    """UIUC questions: words and pairs of words."""
    texts, labels = {}, {}
    for part in ("train", "test"):
        path = data_folder() / "trec_qc" / f"{part}.tsv.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [line.rstrip("\n").split("\t") for line in lines]
        labels[part], texts[part] = [r[0] for r in rows], [r[1] for r in rows]
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", sublinear_tf=True)
    X = words.fit_transform(texts["train"])
    tree = Taxonomy.of({c: c.split(":")[0] for c in labels["train"]})
    return X, labels["train"], words.transform(texts["test"]), labels["test"], tree


def newsgroups() -> tuple[Any, Any, Any, Any, Taxonomy]:
    """20 newsgroups with the tree of their names."""
    folder = data_folder() / "news20_taxonomy"
    names = (folder / "classes.txt").read_text().split()
    pairs = [
        line.split("\t") for line in (folder / "tree_by_name.tsv").read_text().split("\n")
        if line.count("\t") == 1 and not line.startswith("node\t")
    ]  # fmt: skip
    with np.load(folder / "news20.npz") as data:
        parts = {
            s: sp.csr_matrix(
                (data[f"counts_{s}"].astype(float), data[f"indices_{s}"].astype(np.int32),
                 data[f"indptr_{s}"]), shape=(len(data[f"indptr_{s}"]) - 1, 32443),
            )
            for s in ("train", "test")
        }  # fmt: skip
        y = {s: [names[k] for k in data[f"y_{s}"]] for s in ("train", "test")}
    scaled = TfidfTransformer(sublinear_tf=True).fit(parts["train"])
    X = {s: scaled.transform(parts[s]) for s in parts}
    return X["train"], y["train"], X["test"], y["test"], Taxonomy.of(pairs)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=("trec", "news20"), default="trec")
    parser.add_argument("--C", type=float, default=1.0)
    args = parser.parse_args()
    X, y, X_test, y_test, tree = (questions if args.data == "trec" else newsgroups)()
    for name, given in (
        ("flat", {}),
        ("taxonomy", {"taxonomy": tree, "loss": "taxonomy"}),
    ):
        start = time.process_time()
        model = MulticlassSVM(C=args.C, tol=0.01, calibration=3, **given).fit(X, y)
        seconds = time.process_time() - start
        found = model.predict(X_test)
        tell(f"{name}: {seconds:.1f} CPU s with calibration")
        kept = sorted(set(y_test) | set(found.tolist()))
        place = {c: k for k, c in enumerate(kept)}
        cost = tree.heights(kept)
        loss = [cost[place[a], place[b]] for a, b in zip(y_test, found, strict=True)]
        right = np.array(y_test) == found
        tell(f"  accuracy {right.mean():.4f}, tree loss {np.mean(loss):.4f}")
        p = model.predict_proba(X_test).max(axis=1)
        raw = softmax(model.decision_function(X_test)).max(axis=1)
        before, after = (expected_calibration_error(v, right) for v in (raw, p))
        tell(
            f"  calibration error: softmax of scores {before:.3f}, calibrated {after:.3f}"
        )
    for c in (1.0, 0.5, 0.3, 0.2, 0.1):
        tell_nodes(c, model, X_test, y_test, tree)


def tell_nodes(cost: float, model: Any, X: Any, y: Any, tree: Taxonomy) -> None:
    """One line on answers that may stop early."""
    nodes = model.predict_node(X, cost=cost)
    leaf = np.isin(nodes.astype(str), model.classes_.astype(str)).mean()
    above = tree.paths(y, root=True)
    holds = np.mean([z in path for z, path in zip(nodes, above, strict=True)])
    h = hierarchical_scores(tree.paths(y), tree.paths(nodes))
    tell(
        f"  cost={cost}: classes {leaf:.3f}, true or above {holds:.3f}, "
        f"precision {h.precision:.3f}, recall {h.recall:.3f}, F1 {h.f1:.3f}"
    )


def softmax(scores: Any) -> Any:
    """Rows that sum to one."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def tell(line: str) -> None:
    """Print at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
