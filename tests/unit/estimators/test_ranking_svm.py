"""RankingSVM, the pairwise baseline, LETOR files and the measures."""

import gzip

import numpy as np
import pytest

from maxmargin import RankingSVM
from maxmargin.baselines import PairwiseRanking
from maxmargin.io import parse_letor, read_letor
from maxmargin.metrics import ranking as measures


def queries(seed, n=25, noise=0.8):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(rng.integers(8, 30)), 4)) for _ in range(n)]
    y = []
    for x in X:
        score = x @ [2.0, -1.0, 0.0, 0.5] + noise * rng.normal(size=len(x))
        y.append((score > 1).astype(int) + (score > 2.5))
    y[0][:] = 0
    return X, y


@pytest.mark.parametrize("loss", ["precision", "ndcg", "ndcg-letor", "map", "roc"])
def test_ranking_is_learnt_and_the_objective_falls(loss):
    X, y = queries(0)
    model = RankingSVM(5, loss=loss).fit(X, y)
    outer = model.result_.outer["objective"]
    assert (np.diff(outer) <= 1e-12).all()
    test = queries(1)
    assert model.score(*test) > 0.6
    order = model.predict(X)[2]
    scores = model.decision_function(X)[2]
    assert sorted(order) == list(range(len(scores)))
    assert (np.diff(scores[order]) <= 0).all()


def test_initial_weights_are_never_worse_than_the_result():
    X, y = queries(2)
    w = np.array([1.0, 0.0, 0.0, 0.0])
    model = RankingSVM(3, init=w).fit(X, y)
    assert np.array_equal(model.init_coef_, w)
    again = RankingSVM(3, init=model.coef_).fit(X, y)
    assert again.result_.primal <= model.result_.primal * (1 + 1e-9)


def test_queries_that_say_nothing():
    X, y = queries(3)
    model = RankingSVM(3).fit(X, y)
    without = RankingSVM(3).fit(X[1:], y[1:])
    assert np.array_equal(model.coef_, without.coef_)
    with pytest.raises(ValueError, match="both relevant and other"):
        RankingSVM(3).fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="neither"):
        RankingSVM(3, init="best").fit(X, y)


def test_pairwise_matches_a_dense_solution():
    """The gap is a certificate: primal minus dual, relative."""
    X, y = queries(4, n=5)
    for per_query in (True, False):
        model = PairwiseRanking(0.1, per_query, tol=1e-4).fit(X, y)
        assert 0 <= model.gap_ <= 1e-4
    scores = model.decision_function(X)
    assert measures.mean_over_queries(measures.roc_area, y, scores) > 0.8
    with pytest.raises(ValueError, match="different grades"):
        PairwiseRanking().fit(X[:1], [np.zeros(len(X[0]))])


def test_pairwise_with_equal_documents_still_closes_the_gap():
    X = [np.array([[1.0], [1.0], [0.0]])]
    model = PairwiseRanking(1.0).fit(X, [[1, 0, 0]])
    assert model.gap_ <= 1e-3


def test_measures_by_hand():
    g, s = [0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0]
    assert measures.precision_at_k(g, s, 2) == 0.5
    assert measures.precision_at_k(g, s, 8) == 0.25
    assert measures.average_precision(g, s) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert measures.roc_area(g, s) == 0.5
    ideal = 3 + 1  # letor: the first two places count in full
    assert measures.ndcg_at_k(g, s, 2, letor=True) == pytest.approx(3 / ideal)
    assert measures.ndcg_at_k([0, 0], [1, 2], 1) == 0.0
    assert np.isnan(measures.roc_area([1, 1], [1, 2]))
    with pytest.raises(ValueError, match="grades"):
        measures.ranked([1], [1, 2])


def test_letor_files(tmp_path):
    text = "1 qid:3 1:1 3:2.5 #docid = a\n\n0 qid:3 2:4\n2 qid:9 1:7\n"
    plain, zipped = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_text(text)
    with gzip.open(zipped, "wt") as out:
        out.write(text.replace("qid:", "qid:1"))
    one = read_letor(plain)
    assert one.qid == ["3", "9"]
    assert one.X[0].tolist() == [[1.0, 0.0, 2.5], [0.0, 4.0, 0.0]]
    both = read_letor([plain, zipped], n_features=5)
    assert len(both.X) == 4 and both.X[0].shape == (2, 5)
    with pytest.raises(ValueError, match="feature 3"):
        read_letor(plain, n_features=2)
    with pytest.raises(ValueError, match="text, line 2"):
        parse_letor("1 qid:1 1:2\n1 quid:1 1:2")
