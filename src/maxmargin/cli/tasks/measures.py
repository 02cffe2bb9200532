"""What `maxmargin evaluate` prints, one function per task."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from maxmargin.cli.tasks.data import Data


def class_measures(model: Any, data: Data) -> dict[str, float]:
    """Accuracy."""
    right = [a == b for a, b in zip(model.predict(data.X), data.y, strict=True)]
    out = {"examples": len(right), "accuracy": sum(right) / len(right)}
    return out | _unseen(model, data.y.tolist())


def _unseen(model: Any, labels: Iterable[Any]) -> dict[str, float]:
    """How many labels of the data the model cannot know, if any."""
    strange = set(labels) - set(model.classes_)
    return {"unseen_labels": len(strange)} if strange else {}


def sequence_measures(model: Any, data: Data) -> dict[str, float]:
    """Accuracy of tokens and of sequences; F1 of spans where labels are BIO."""
    from maxmargin.metrics.sequences import sequence_accuracy, span_f1, token_error

    found, truth = list(model.predict(data.X)), [list(row) for row in data.y]
    out = {
        "sequences": len(truth),
        "token_accuracy": 1.0 - token_error(truth, found),
        "sequence_accuracy": sequence_accuracy(truth, found),
    }
    labels = {label for row in truth for label in row}
    if all(isinstance(v, str) for v in labels) and any(v[:2] == "B-" for v in labels):
        out["span_f1"] = span_f1(truth, found)
    return out | _unseen(model, labels)


def tree_measures(model: Any, data: Data) -> dict[str, float]:
    """Brackets as evalb counts them (COLLINS.prm), and all of them."""
    from maxmargin.metrics.brackets import COLLINS, bracket_scores

    truth, found = list(data.y), list(model.predict(data.X))
    evalb, scores = bracket_scores(truth, found, COLLINS), bracket_scores(truth, found)
    counted = {k: float(v) for k, v in scores._asdict().items()}
    shares = ("precision", "recall", "f1")
    return {
        "trees": len(truth),
        **{f"evalb_{k}": float(getattr(evalb, k)) for k in shares},
        **{f"all_brackets_{k}": counted.pop(k) for k in shares},
        **counted,
    }


def alignment_measures(model: Any, data: Data) -> dict[str, float]:
    """Share of aligned pairs found: exactly (Q), and up to 4 positions away (Q4)."""
    q4 = 1.0 - float(model.losses(data.X, data.y, shift=4).mean())
    return {"pairs": len(data.X), "q": model.score(data.X, data.y), "q4": q4}


def ranking_measures(model: Any, data: Data) -> dict[str, float]:
    """Precision and NDCG among the first 1, 5 and 10."""
    from maxmargin.metrics.ranking import ndcg_at_k, precision_at_k

    scores = model.decision_function(data.X)
    out: dict[str, float] = {"queries": len(scores)}
    for k in (1, 5, 10):
        for name, measure in (("precision", precision_at_k), ("ndcg", ndcg_at_k)):
            values = [measure(grades, s, k) for grades, s in zip(data.y, scores)]
            some = [v for v in values if not math.isnan(v)]
            out[f"{name}@{k}"] = float(sum(some) / max(len(some), 1))
    return out


def graph_measures(model: Any, data: Data) -> dict[str, float]:
    """Accuracy of nodes."""
    return {"graphs": len(data.X), "node_accuracy": model.score(data.X, data.y)}


def motif_measures(model: Any, data: Data) -> dict[str, float]:
    """Accuracy."""
    return {"sequences": len(data.X), "accuracy": model.score(data.X, data.y)}
