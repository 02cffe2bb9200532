"""What `maxmargin evaluate` prints, one function per task."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from maxmargin.cli.tasks.data import Data

MOST = 40  # classes in the table of evaluate


def class_measures(model: Any, data: Data) -> dict[str, Any]:
    """Accuracy, scores by class and, with a taxonomy, scores that count near misses."""
    truth, found = data.y.tolist(), model.predict(data.X).tolist()
    right = [a == b for a, b in zip(found, truth, strict=True)]
    out: dict[str, Any] = {"examples": len(right), "accuracy": sum(right) / len(right)}
    tree = model.get_params().get("taxonomy")
    if tree is not None and not _unseen(model, truth):
        from maxmargin.metrics import hierarchical_scores
        from maxmargin.structures.classes import Taxonomy

        known = Taxonomy.of(tree)
        scores = hierarchical_scores(known.paths(truth), known.paths(found))
        out["hierarchical_f1"] = scores.f1
    return out | _by_class(truth, found) | _unseen(model, truth)


def _by_class(truth: list[Any], found: list[Any]) -> dict[str, Any]:
    """Mean F1 of the classes, and a table with the most frequent ones."""
    from maxmargin.reports.confusion import class_scores

    scores = class_scores(truth, found)
    shown = ("precision", "recall", "f1", "support")
    return {
        "macro_f1": float(np.mean([s.f1 for s in scores])),
        "classes": {
            str(s.label): {name: getattr(s, name) for name in shown}
            for s in scores[:MOST]
        },
    }


def _unseen(model: Any, labels: Iterable[Any]) -> dict[str, float]:
    """How many labels of the data the model cannot know, if any."""
    strange = set(labels) - set(model.classes_)
    return {"unseen_labels": len(strange)} if strange else {}


def label_set_measures(model: Any, data: Data) -> dict[str, float]:
    """F1 of all labels together, their mean, and the share of sets that are right."""
    truth = model.labels_.table(data.y, strange=True)
    found = model._predicted(model.decision_function(data.X))
    out = {"examples": len(truth), "micro_f1": model.score(data.X, data.y)}
    some = np.maximum((truth + found).sum(axis=0), 1)
    out["macro_f1"] = float(np.mean(2.0 * (truth * found).sum(axis=0) / some))
    out["sets_right"] = float((truth == found).all(axis=1).mean())
    strange = model.labels_.strangers(data.y)
    return out | ({"unseen_labels": strange} if strange else {})


def sequence_measures(model: Any, data: Data) -> dict[str, Any]:
    """Accuracy of tokens and of sequences; spans by type where labels mark them."""
    from maxmargin.metrics.sequences import sequence_accuracy, token_error

    found, truth = list(model.predict(data.X)), [list(row) for row in data.y]
    out: dict[str, Any] = {
        "sequences": len(truth),
        "token_accuracy": 1.0 - token_error(truth, found),
        "sequence_accuracy": sequence_accuracy(truth, found),
    }
    labels = {label for row in truth for label in row}
    if all(isinstance(v, str) for v in labels) and any(v[:2] == "B-" for v in labels):
        out |= _span_measures(truth, found)
    else:
        out |= _by_class(
            [v for row in truth for v in row], [v for r in found for v in r]
        )
    return out | _unseen(model, labels)


def span_measures(model: Any, data: Data) -> dict[str, float]:
    """Precision, recall and F1 of spans, of all and by label."""
    scores = model.span_scores(data.X, data.y)
    out: dict[str, float] = {"sequences": len(data.y)}
    for label in ("micro", *model.classes_):
        if label not in scores:
            continue
        score, name = scores[label], "span" if label == "micro" else f"span_{label}"
        out |= {
            f"{name}_precision": score.precision,
            f"{name}_recall": score.recall,
            f"{name}_f1": score.f1,
        }
    return out


def _span_measures(truth: Any, found: Any) -> dict[str, Any]:
    """Precision, recall and F1, in all and by type; types taken for others."""
    from maxmargin.metrics.sequences import AVERAGES, span_confusion, span_scores

    scores = span_scores(truth, found)
    confusion, errors = span_confusion(truth, found)
    heads = [*confusion.kinds, "none"]
    micro = scores["micro"]
    return {
        "span_precision": micro.precision, "span_recall": micro.recall,
        "span_f1": micro.f1,
        "spans": {k: v._asdict() for k, v in scores.items() if k not in AVERAGES},
        "span_errors": errors._asdict(),
        "confusion": {
            kind: dict(zip(heads, row, strict=True))
            for kind, row in zip(heads, confusion.counts.tolist(), strict=True)
        },
    }  # fmt: skip


def tree_measures(model: Any, data: Data) -> dict[str, float]:
    """What evalb prints (COLLINS.prm), then scores with all sentences and all brackets.

    evalb leaves sentences without a parse out; below its figures they count as trees
    without brackets.
    """
    from maxmargin.metrics.trees.brackets import COLLINS, bracket_scores
    from maxmargin.metrics.trees.evalb import evalb

    truth, found = list(data.y), list(model.predict(data.X))
    collins, scores = (
        bracket_scores(truth, found, COLLINS),
        bracket_scores(truth, found),
    )
    counted = scores._asdict()
    shares = ("precision", "recall", "f1")
    return {
        "trees": len(truth),
        "unparsed": sum(tree is None for tree in found),
        **{f"evalb {k}": v for k, v in evalb(truth, found).named().items()},
        **{f"collins_{k}": float(getattr(collins, k)) for k in shares},
        **{f"all_brackets_{k}": counted.pop(k) for k in shares},
        **counted,
    }


def dependency_measures(model: Any, data: Data) -> dict[str, float]:
    """UAS and LAS of all words, and without punctuation."""
    from maxmargin.metrics.trees.dependencies import (
        PENN_PUNCTUATION,
        UD_PUNCTUATION,
        attachment_scores,
    )

    truth, found = list(data.y), list(model.predict(data.X))
    scores = attachment_scores(truth, found)
    out: dict[str, float] = {
        "sentences": len(truth), "words": scores.tokens, "uas": scores.uas,
        "las": scores.las, "exact": scores.exact, "roots": scores.roots,
    }  # fmt: skip
    tags = PENN_PUNCTUATION | UD_PUNCTUATION
    if all(isinstance(token, tuple) for sentence in data.X for token in sentence):
        without = attachment_scores(truth, found, data.X, ignored_tags=tags)
        out |= {"uas_no_punctuation": without.uas, "las_no_punctuation": without.las}
    return out


def alignment_measures(model: Any, data: Data) -> dict[str, float]:
    """Share of aligned pairs found: exactly (Q), and up to 4 positions away (Q4)."""
    q4 = 1.0 - float(model.losses(data.X, data.y, shift=4).mean())
    return {"pairs": len(data.X), "q": model.score(data.X, data.y), "q4": q4}


def ranking_measures(model: Any, data: Data) -> dict[str, float]:
    """Precision and NDCG among the first 1, 5 and 10, and MAP."""
    from maxmargin.metrics.ranking import average_precision, ndcg_at_k, precision_at_k

    scores = model.decision_function(data.X)
    out: dict[str, float] = {"queries": len(scores)}
    for k in (1, 5, 10):
        for name, measure in (("precision", precision_at_k), ("ndcg", ndcg_at_k)):
            values = [measure(grades, s, k) for grades, s in zip(data.y, scores)]
            out[f"{name}@{k}"] = _mean(values)
    out["map"] = _mean([average_precision(y, s) for y, s in zip(data.y, scores)])
    return out


def _mean(values: list[float]) -> float:
    """The mean; queries without a value are left out."""
    some = [v for v in values if not math.isnan(v)]
    return float(sum(some) / max(len(some), 1))


def graph_measures(model: Any, data: Data) -> dict[str, Any]:
    """Accuracy of nodes, and scores by label; nodes without a label do not count."""
    pairs = [
        (true, said)
        for row, answer in zip(data.y, model.predict(data.X), strict=True)
        for true, said in zip(row, answer, strict=True)
        if true is not None
    ]
    out = {"graphs": len(data.X), "node_accuracy": model.score(data.X, data.y)}
    return out | _by_class([a for a, _ in pairs], [b for _, b in pairs])


def search_measures(model: Any, data: Data) -> dict[str, float]:
    """How often the homolog comes first, and the mean of one over its place."""
    places = [
        1 + int((scores > scores[true]).sum())
        for scores, true in zip(model.candidate_scores(data.X), data.y, strict=True)
    ]
    return {
        "searches": len(places),
        "first": model.score(data.X, data.y),
        "mean_reciprocal_rank": _mean([1.0 / place for place in places]),
    }


def motif_measures(model: Any, data: Data) -> dict[str, float]:
    """Accuracy and ROC area."""
    present = np.array([label == model.classes_[1] for label in data.y])
    out = {"sequences": len(data.X), "accuracy": model.score(data.X, data.y)}
    if 0 < present.sum() < len(present):
        scores = model.decision_function(data.X)
        high, low = scores[present], np.sort(scores[~present])
        below = np.searchsorted(low, high) + np.searchsorted(low, high, "right")
        out["roc_area"] = float(below.mean() / (2.0 * len(low)))
    return out


def coreference_measures(model: Any, data: Data) -> dict[str, float]:
    """Scores of the official scorer, for the mentions of the file."""
    from maxmargin.metrics.coreference import coreference_scores, entities_of

    found = model.predict(data.X)
    keys = [document.entities() for document in data.records]
    responses = [
        entities_of(document.spans, clusters)
        for document, clusters in zip(data.records, found, strict=True)
    ]
    scores = coreference_scores(keys, responses)
    out: dict[str, float] = {
        "documents": len(keys), "mentions": sum(len(d.spans) for d in data.records),
        "conll": scores.conll,
    }  # fmt: skip
    for name in ("muc", "b_cubed", "ceaf_m", "ceaf_e", "lea"):
        score = getattr(scores, name)
        out |= {f"{name}_{k}": v for k, v in score._asdict().items()}
    return out
