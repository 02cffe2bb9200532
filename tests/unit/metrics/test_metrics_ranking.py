"""Measures of rankings against scikit-learn and against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from maxmargin.metrics import (
    average_precision,
    mean_over_queries,
    ndcg_at_k,
    precision_at_k,
    roc_area,
)

seeds = st.integers(0, 2**32 - 1)


def query(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    grades = rng.integers(0, 3, n)
    grades[0], grades[1] = 0, 1  # both kinds occur
    return grades, rng.permutation(n) / n, int(rng.integers(1, n + 2))


@given(seed=seeds)
def test_areas_are_those_of_scikit_learn(seed):
    grades, scores, _ = query(seed)
    good = grades > 0
    assert average_precision(grades, scores) == pytest.approx(
        average_precision_score(good, scores)
    )
    assert roc_area(grades, scores) == pytest.approx(roc_auc_score(good, scores))
    tied = np.round(2.0 * scores) / 2.0
    assert roc_area(grades, tied) == pytest.approx(roc_auc_score(good, tied))


@given(seed=seeds)
def test_places_by_definition(seed):
    grades, scores, k = query(seed)
    order = sorted(range(len(grades)), key=lambda i: -scores[i])
    right = sum(grades[i] > 0 for i in order[:k])
    assert precision_at_k(grades, scores, k) == pytest.approx(right / k)
    for letor in (False, True):
        weight = [
            1.0 / np.log2(max(place, 2) if letor else place + 1)
            for place in range(1, k + 1)
        ]

        def gain(ranked, weight=weight):
            pairs = zip(ranked[: len(weight)], weight, strict=False)
            return sum((2.0 ** grades[i] - 1.0) * w for i, w in pairs)

        best = sorted(range(len(grades)), key=lambda i: -grades[i])
        found = ndcg_at_k(grades, scores, k, letor=letor)
        assert found == pytest.approx(gain(order) / gain(best))


def test_queries_without_a_value():
    assert average_precision([0, 0], [1.0, 2.0]) == 0.0
    assert ndcg_at_k([0, 0], [1.0, 2.0], 2) == 0.0
    assert np.isnan(roc_area([1, 1], [1.0, 2.0]))
    two = [[1, 1], [1, 0]], [[1.0, 2.0], [2.0, 1.0]]
    assert mean_over_queries(roc_area, *two) == 1.0
