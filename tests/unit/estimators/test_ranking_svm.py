"""RankingSVM, the pairwise baseline, LETOR files and the measures."""

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold

from maxmargin import PathCV, RankingSVM
from maxmargin.baselines import PairwiseRanking
from maxmargin.estimators import ranking_scorer
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


def table(n=12, documents=8, width=5):
    """Documents of all queries in one table, shuffled."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n * documents, width))
    y = (X[:, 0] + 0.3 * rng.normal(size=len(X)) > 0.3).astype(int)
    return X, y, rng.permutation(np.repeat(np.arange(n), documents))


def grouped(X, y, qid):
    names = list(dict.fromkeys(qid.tolist()))
    return [X[qid == q] for q in names], [y[qid == q] for q in names]


@pytest.mark.parametrize("loss", ["precision", "ndcg", "map"])
def test_a_table_with_qid_is_the_same_as_matrices_by_query(loss):
    X, y, qid = table()
    lists = grouped(X, y, qid)
    one = RankingSVM(k=3, loss=loss).fit(*lists)
    two = RankingSVM(k=3, loss=loss).fit(X, y, qid=qid)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.score(*lists) == two.score(X, y, qid=qid)
    np.testing.assert_allclose(
        two.decision_function(X), X @ two.coef_, rtol=0, atol=1e-12
    )
    places = two.predict(X, qid=qid)
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        best_first = rows[np.argsort(places[rows])]
        assert (np.diff(two.decision_function(X)[best_first]) <= 0).all()
        assert sorted(places[rows]) == list(range(1, len(rows) + 1))


@pytest.mark.parametrize("loss", ["precision", "ndcg", "map", "roc"])
def test_sparse_documents_are_the_same_as_dense_ones(loss):
    X, y, qid = table()
    X[np.abs(X) < 0.7] = 0.0
    settings = {"k": 3, "loss": loss, "tol": 1e-6, "init": np.ones(5)}
    dense = RankingSVM(**settings).fit(X, y, qid=qid)
    sparse = RankingSVM(**settings).fit(sp.csr_array(X), y, qid=qid)
    # not convex: rounding may lead to another optimum, but not to a much better one
    assert sparse.result_.primal == pytest.approx(dense.result_.primal, rel=1e-3)
    structure, by_query = dense.structure_, grouped(X, y, qid)[0]
    ids = np.arange(len(by_query))
    x = structure.encode(by_query)
    other = structure.encode([sp.csr_array(part) for part in by_query])
    found = structure.argmax(x, ids, dense.coef_)
    again = structure.argmax(other, ids, dense.coef_)
    np.testing.assert_array_equal(found.labels.data, again.labels.data)
    np.testing.assert_allclose(
        structure.features(other, ids, found.labels).csr(X.shape[1]).toarray(),
        structure.features(x, ids, found.labels).csr(X.shape[1]).toarray(), atol=1e-12,
    )  # fmt: skip
    lists, _ = grouped(X, y, qid)
    assert sparse.explain(sp.csr_array(lists[0])) is not None


def test_qid_goes_through_a_grid_search():
    X, y, qid = table()
    with sklearn.config_context(enable_metadata_routing=True):
        model = RankingSVM(k=3).set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=GroupKFold(3))
        search.fit(X, y, qid=qid, groups=qid)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert 0.0 < search.score(X, y, qid=qid) <= 1.0


def test_frames_and_their_qid_column():
    pd = pytest.importorskip("pandas")
    X, y, qid = table()
    frame = pd.DataFrame(X, index=np.arange(len(X))[::-1])
    one = RankingSVM(k=3).fit(frame, pd.Series(y), qid=pd.Series(qid))
    np.testing.assert_array_equal(one.coef_, RankingSVM(k=3).fit(X, y, qid=qid).coef_)
    with pytest.raises(ValueError, match="numbers only"):
        RankingSVM(k=3).fit(frame.assign(name="x"), y, qid=qid)


def test_what_is_wrong_with_a_table():
    X, y, qid = table()
    with pytest.raises(ValueError, match="pass qid="):
        RankingSVM(k=3).fit(X, y)
    with pytest.raises(ValueError, match="95 entries of qid for 96 rows"):
        RankingSVM(k=3).fit(X, y, qid=qid[1:])
    model = RankingSVM(k=3).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="which query each row belongs to"):
        model.score(X, y)
    with pytest.raises(ValueError, match="one weight for each query"):
        RankingSVM(k=3).fit(X, y, sample_weight=np.ones(len(y) - 1), qid=qid)
    weights = np.arange(1.0, 13.0)
    weighted = RankingSVM(k=3).fit(X, y, weights, qid=qid)
    again = RankingSVM(k=3).fit(*grouped(X, y, qid), weights)
    np.testing.assert_array_equal(weighted.coef_, again.coef_)


def test_grades_and_places_that_are_none():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 2)) for _ in range(3)]
    y = [[1, 0, 0, 1]] * 3
    with pytest.raises(
        ValueError, match=r"k=2\.5: the number of places .* whole number"
    ):
        RankingSVM(k=2.5).fit(X, y)
    with pytest.raises(
        ValueError, match="query 2, document 1: the grade is nan; leave"
    ):
        RankingSVM(k=2).fit(X, [*y[:2], [1, np.nan, 0, 0]])
    with pytest.raises(ValueError, match=r"query 2, document 1: grade 0\.5 is not an"):
        RankingSVM(k=2).fit(X, [*y[:2], [1, 0.5, 0, 0]])


@pytest.mark.parametrize("missing", [np.nan, None])
def test_every_row_has_a_query(missing):
    X, y, qid = table()
    names = [missing, *qid.tolist()[1:]]
    with pytest.raises(ValueError, match=r"qid\[0\] is (nan|None): every row needs"):
        RankingSVM(k=1).fit(X, y, qid=names)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 qid:1 1:1", "line 3: query '1' began at text, line 1"),
        ("1 qid:2 1:1 1:2", "line 3: feature 1 occurs twice"),
        ("0.5 qid:2 1:1", "line 3: not 'grade"),
    ],
)
def test_lines_of_letor_that_cannot_be_right(line, message):
    with pytest.raises(ValueError, match=message):
        parse_letor(f"1 qid:1 1:2\n0 qid:2 1:1\n{line}")


def test_a_query_in_two_files_is_refused(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("1 qid:1 1:2\n0 qid:1 1:1\n")
    with pytest.raises(ValueError, match=r"b, line 1: query '1' began at .*a, line 1"):
        read_letor([tmp_path / "a", tmp_path / "b"])


def test_columns_of_a_data_frame_are_the_names_of_features():
    pd = pytest.importorskip("pandas")
    X, y, qid = table()[:3]
    frame = pd.DataFrame(X, columns=list("vwxyz"))
    model = RankingSVM(k=3).fit(frame, y, qid=qid)
    names = {t.feature for p in model.explain(frame[:8]).parts for t in p.terms}
    assert names <= set("vwxyz")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("zyxwv")], qid=qid)
    assert not hasattr(RankingSVM(k=3).fit(X, y, qid=qid), "feature_names_in_")


def one_table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0.7).astype(int)
    return X, y, np.repeat([f"q{k}" for k in range(8)], 15)


@pytest.mark.parametrize("measure", ["ndcg", "ndcg-letor", "map", "precision", "roc"])
def test_scorers_of_rankings_agree_with_score(measure):
    X, y, qid = one_table()
    model = RankingSVM(3, loss=measure).fit(X, y, qid=qid)
    found = ranking_scorer(measure, k=3)(model, X, y, qid=qid)
    assert found == pytest.approx(model.score(X, y, qid=qid), abs=1e-12)
    rows = [np.flatnonzero(qid == name) for name in np.unique(qid)]
    lists = [X[r] for r in rows], [y[r] for r in rows]
    assert ranking_scorer(measure, k=3)(model, *lists) == pytest.approx(found)


def test_searches_with_scorers_weights_and_queries():
    X, y, qid = one_table()
    weight = np.repeat(np.arange(1.0, 9.0), 15)
    scorer = ranking_scorer("ndcg", k=5)
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RankingSVM(3).set_fit_request(qid=True, sample_weight=True)
        settings = {"cv": GroupKFold(4), "scoring": scorer}
        search = GridSearchCV(ranker, {"C": [0.1, 1.0]}, **settings)
        search.fit(X, y, qid=qid, groups=qid, sample_weight=weight)
        path = PathCV(ranker, Cs=[0.1, 1.0], **settings)
        path.fit(X, y, qid=qid, groups=qid, sample_weight=weight)
        assert path.score(X, y, qid=qid) == scorer(path.estimator_, X, y, qid=qid)
    assert search.best_score_ > 0.8 and path.C_ in (0.1, 1.0)
    assert len(path.scores_[path.C_]) == 4
    whole = RankingSVM(3, C=path.C_).fit(X, y, weight[::15], qid=qid)
    assert np.array_equal(path.estimator_.coef_, whole.coef_)


def test_scorers_say_what_is_wrong():
    X, y, qid = one_table()
    model = RankingSVM(3).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="needs qid"):
        ranking_scorer()(model, X, y)
    with pytest.raises(ValueError, match="119 entries of qid"):
        ranking_scorer()(model, X, y, qid=qid[1:])
    with pytest.raises(ValueError, match="choose from ndcg"):
        ranking_scorer("mrr")
    with pytest.raises(ValueError, match="k=0"):
        ranking_scorer("ndcg", k=0)


def test_weights_of_documents_are_those_of_their_query():
    X, y, qid = one_table()
    per_query = np.arange(1.0, 9.0)
    one = RankingSVM(3).fit(X, y, per_query, qid=qid)
    other = RankingSVM(3).fit(X, y, np.repeat(per_query, 15), qid=qid)
    assert np.array_equal(one.coef_, other.coef_)
    with pytest.raises(ValueError, match="documents 0 and 1 of one query"):
        RankingSVM(3).fit(X, y, np.arange(120.0), qid=qid)
    with pytest.raises(ValueError, match="8 queries of 120 documents"):
        RankingSVM(3).fit(X, y, np.ones(9), qid=qid)


def test_a_column_says_which_query():
    X, y, qid = one_table()
    frame = pd.DataFrame(X, columns=["bm25", "age", "length"])
    both = frame.assign(query=qid)
    model = RankingSVM(3).fit(both, y, qid="query")
    assert list(model.feature_names_in_) == ["bm25", "age", "length"]
    assert np.array_equal(model.coef_, RankingSVM(3).fit(frame, y, qid=qid).coef_)
    assert np.array_equal(
        model.predict(both, qid="query"), model.predict(frame, qid=qid)
    )
    assert model.score(both, y, qid="query") == model.score(frame, y, qid=qid)
    with pytest.raises(ValueError, match="no column 'topic'"):
        RankingSVM(3).fit(both, y, qid="topic")


def test_every_method_takes_a_table_with_queries(tmp_path):
    X, y, qid = one_table()
    lists = grouped(X, y, qid)
    model = RankingSVM(3, loss="roc").fit(X, y, qid=qid)
    hard = model.hardest(X, y, 3, qid=qid)
    assert len(hard) == 3 and str(hard) == str(model.hardest(*lists, 3))
    for name, data in (("a", (X, y)), ("b", lists)):
        given = {"qid": qid} if name == "a" else {}
        model.report(tmp_path / name, *data, **given)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    model.report(tmp_path / "c")  # without data
    Cs = [0.01, 0.1]
    one = RankingSVM(3, loss="roc").fit_path(X, y, Cs, qid=qid)
    two = RankingSVM(3, loss="roc").fit_path(*lists, Cs)
    assert [r.w.tolist() for r in one] == [r.w.tolist() for r in two]
    table = model.support_structures(0, X, y, qid=qid)
    assert str(table) == str(model.support_structures(0, *lists))
    weighted = model.support_structures(0, X, y, sample_weight=np.ones(120), qid=qid)
    assert str(weighted) == str(table)
    with pytest.raises(ValueError, match="qid="):
        model.hardest(X, y)
    with pytest.raises(ValueError, match="qid="):
        model.report(tmp_path / "d", X, y)


def test_batches_of_queries_are_refused_with_qid_too():
    X, y, qid = one_table()
    model = RankingSVM(3).fit(X, y, qid=qid)
    for one in (model, RankingSVM(3)):
        with pytest.raises(
            ValueError, match=r"partial_fit is not available .* use fit"
        ):
            one.partial_fit(X, y, qid=qid)
        with pytest.raises(
            ValueError, match=r"partial_fit is not available .* use fit"
        ):
            one.partial_fit(*grouped(X, y, qid))
