"""Probabilities of the labels of nodes."""

import numpy as np
import pytest

from maxmargin import NetworkSVM
from maxmargin.estimators.network_probabilities import conditional_scores
from maxmargin.inference.graph import GraphTables


def test_scores_are_those_of_the_prediction_with_one_label_changed():
    rng = np.random.default_rng(0)
    sizes = [2, 3, 2, 3]
    edges = [[0, 1], [2, 1], [0, 2], [3, 1]]
    pairwise = [rng.normal(size=(sizes[a], sizes[b])) for a, b in edges]
    tables = GraphTables.of([rng.normal(size=k) for k in sizes], edges, pairwise)
    labels = np.array([1, 2, 0, 1], np.int32)
    found = np.split(conditional_scores(tables, labels), tables.label_ptr[1:-1])
    for v, size in enumerate(sizes):
        scores = []
        for k in range(size):
            other = labels.copy()
            other[v] = k
            scores.append(float(tables.score(other)[0]))
        assert np.allclose(np.diff(found[v]), np.diff(scores))


def rings(n, seed):
    rng = np.random.default_rng(seed)
    ring = np.array([[i, (i + 1) % 6] for i in range(6)])
    X, y = [], []
    for _ in range(n):
        labels = np.repeat(rng.integers(3, size=3), 2)
        X.append((np.eye(3)[labels] + rng.normal(size=(6, 3)), ring))
        y.append(np.array(["a", "b", "c"])[labels])
    return X, y


def test_probabilities_are_calibrated():
    model = NetworkSVM().fit(*rings(60, 0)).calibrate(*rings(60, 1))
    X, y = rings(100, 2)
    found = model.predict_proba(X)
    assert found[0].shape == (6, 3) and np.allclose(found[0].sum(axis=1), 1.0)
    p = np.concatenate(found)
    truth = np.array([model.classes_.index(v) for row in y for v in row])
    chosen = p.argmax(axis=1)
    assert (
        np.mean(
            chosen
            == np.searchsorted(["a", "b", "c"], np.concatenate(list(model.predict(X))))
        )
        > 0.97
    )
    sure = p.max(axis=1)
    assert abs(np.mean(chosen == truth) - sure.mean()) < 0.08


def test_types_have_their_own_labels():
    nodes = [[1.0], [0.5], [2.0]]
    graph = (nodes, [[0, 1], [1, 2]], None, ["book", "book", "author"])
    y = [["novel", "poems", "young"], ["poems", "novel", "old"]] * 4
    X = [graph, ([[0.0], [1.0], [1.0]], *graph[1:])] * 4
    model = NetworkSVM(C=1.0).fit(X, y).calibrate(X, y)
    p = model.predict_proba(X[:1])[0]
    own = [model.classes_.index(v) for v in ("young", "old")]
    assert (p[:2, own] == 0.0).all() and p[2, own].sum() == pytest.approx(1.0)


def test_cliques_have_none():
    rng = np.random.default_rng(0)
    X = [(rng.normal(size=(3, 1)), [[0, 1]], None, None, None, [[0, 1, 2]])] * 4
    model = NetworkSVM().fit(X, [[0, 1, 0]] * 4)
    with pytest.raises(ValueError, match="not available for graphs with cliques"):
        model.calibrate(X, [[0, 1, 0]] * 4)
