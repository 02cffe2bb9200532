"""Confusion matrix, and precision and recall of each class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats


def natural_key(label: Any) -> list[tuple[bool, float, str]]:
    """A key that sorts numbers in labels by their value.

    Examples
    --------
    >>> sorted(["c10", "c9", 10, 9, "B-PER"], key=natural_key)
    [9, 10, 'B-PER', 'c9', 'c10']
    """
    parts = re.split(r"(\d+)", str(label))
    return [
        (not p.isdecimal(), float(p) if p.isdecimal() else 0.0, p) for p in parts if p
    ]


class ClassScore(NamedTuple):
    """How well one class is found."""

    label: Any
    precision: float
    recall: float
    f1: float
    support: int


def flat_labels(outputs: Any) -> list[Any]:
    """All labels of all outputs, one after the other.

    Examples
    --------
    >>> flat_labels([["a", "b"], ["b"]]), flat_labels(["ab", "b"])
    (['a', 'b', 'b'], ['ab', 'b'])
    """
    out: list[Any] = []
    for output in outputs:
        plain = output.tolist() if hasattr(output, "tolist") else output
        out.extend(plain if isinstance(plain, list | tuple) else [plain])
    return out


def confusion(
    truth: Sequence[Any], found: Sequence[Any], most: int = 24
) -> tuple[list[Any], Floats, int]:
    """Classes, counts (true, found), and how many classes are left out.

    With more than `most` classes, those that take part in most errors are kept.

    Examples
    --------
    >>> confusion(["a", "b", "b"], ["a", "a", "b"])[1].tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    pairs = Counter(zip(truth, found, strict=True))
    classes = sorted(set(truth) | set(found), key=natural_key)
    left = 0
    if len(classes) > most:
        wrong: Counter[Any] = Counter()
        for (a, b), k in pairs.items():
            if a != b:
                wrong[a] += k
                wrong[b] += k
        kept = {label for label, _ in wrong.most_common(most)}
        left = len(classes) - len(kept)
        classes = [label for label in classes if label in kept]
    counts = np.array([[float(pairs[a, b]) for b in classes] for a in classes])
    return classes, counts, left


def class_scores(truth: Sequence[Any], found: Sequence[Any]) -> list[ClassScore]:
    """Precision, recall and F1 of each class, the most frequent first.

    Examples
    --------
    >>> class_scores(["a", "b", "b"], ["a", "a", "b"])[0]
    ClassScore(label='b', precision=1.0, recall=0.5, f1=0.6666666666666666, support=2)
    """
    right = Counter(a for a, b in zip(truth, found, strict=True) if a == b)
    return _scores(right, Counter(truth), Counter(found))


def label_scores(
    truth: Sequence[Sequence[Any]], found: Sequence[Sequence[Any]]
) -> list[ClassScore]:
    """Precision, recall and F1 of each label, where outputs are sets of labels.

    Examples
    --------
    >>> label_scores([("a", "b"), ("b",)], [("b",), ("a", "b")])[0]
    ClassScore(label='b', precision=1.0, recall=1.0, f1=1.0, support=2)
    """
    pairs = list(zip(truth, found, strict=True))
    right = Counter(label for a, b in pairs for label in set(a) & set(b))
    support = Counter(label for a, _ in pairs for label in a)
    return _scores(right, support, Counter(label for _, b in pairs for label in b))


def _scores(
    right: Counter[Any], support: Counter[Any], said: Counter[Any]
) -> list[ClassScore]:
    """Scores from how often each class is right, true and said."""
    out = []
    for label in sorted(
        set(support) | set(said), key=lambda c: (-support[c], natural_key(c))
    ):
        precision = right[label] / said[label] if said[label] else 0.0
        recall = right[label] / support[label] if support[label] else 0.0
        total = precision + recall
        f1 = 2 * precision * recall / total if total else 0.0
        out.append(ClassScore(label, precision, recall, f1, support[label]))
    return out
