"""MultilabelSVM: sets of labels, taxonomies with several parents, thresholds for F1."""

from itertools import product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVM, MultilabelSVM, load, save
from maxmargin.calibration import best_f1_threshold
from maxmargin.inference.label_sets import best_sets, set_margins

DIAMOND = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("e", None)]
NODES = ("a", "e", "b", "c", "d")


def data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    scores = X @ rng.normal(size=(6, 4)) - 1.0 + 0.5 * rng.normal(size=(n, 4))
    return X, (scores > 0).astype(int)


@pytest.mark.parametrize(
    "parents", [(), ((), (0,), (1,), (0,), ()), ((), (), (0, 1), (1,), (2, 3))]
)
def test_best_sets_and_margins_by_enumeration(parents):
    rng = np.random.default_rng(1)
    k = 5
    parents = parents or ((),) * k
    allowed = np.array([
        s for s in product([0, 1], repeat=k)
        if all(s[p] for z, above in enumerate(parents) if s[z] for p in above)
    ])  # fmt: skip
    scores = rng.normal(size=(40, k))
    values = scores @ allowed.T
    assert np.array_equal(best_sets(scores, parents), allowed[values.argmax(axis=1)])
    margins = set_margins(scores, parents)
    for z in range(k):
        on = values[:, allowed[:, z] == 1].max(axis=1)
        off = values[:, allowed[:, z] == 0].max(axis=1)
        assert np.allclose(margins[:, z], on - off)
        for p in parents[z]:
            assert (margins[:, p] >= margins[:, z] - 1e-9).all()


def test_without_taxonomy_it_is_one_svm_per_label():
    X, Y = data()
    model = MultilabelSVM(C=0.5, tol=1e-6).fit(X, Y)
    binary = [
        LinearSVC(loss="hinge", C=0.5, tol=1e-8, max_iter=10**6, random_state=0)
        for _ in range(4)
    ]
    margins = [one.fit(X, Y[:, c]).decision_function(X) for c, one in enumerate(binary)]
    assert np.allclose(model.decision_function(X), np.column_stack(margins), atol=2e-2)
    assert np.mean(model.predict(X) != (np.column_stack(margins) > 0)) < 0.01


@pytest.mark.parametrize("kind", ["array", "sparse", "pandas", "sets"])
def test_the_form_of_y_comes_back(kind):
    X, Y = data()
    names = ["w", "x", "y", "z"]
    sets = [[names[c] for c in np.flatnonzero(row)] for row in Y]
    forms = {
        "array": Y, "sparse": sp.csr_matrix(Y), "pandas": pd.DataFrame(Y, columns=names),
        "sets": sets,
    }  # fmt: skip
    model = MultilabelSVM().fit(X, forms[kind])
    found = model.predict(X)
    if kind == "sets":
        assert all(isinstance(row, tuple) for row in found)
        found = np.array([[name in row for name in names] for row in found]).astype(int)
    assert found.shape == Y.shape and f1_score(Y, found, average="micro") > 0.85
    assert model.score(X, forms[kind]) == pytest.approx(
        f1_score(Y, found, average="micro")
    )
    assert model.classes_ == (names if kind in ("pandas", "sets") else [0, 1, 2, 3])


def nested(n=200, seed=3):
    """Sets of a taxonomy in which d has the parents b and c."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    leaves = [["b"], ["c"], ["d"], ["e"], []]
    y = [leaves[int(np.argmax(row + 0.3 * rng.normal(size=5)))] for row in X]
    return X, y


def closed(row):
    above = {"b": {"a"}, "c": {"a"}, "d": {"a", "b", "c"}}
    return set(row).union(*(above.get(label, set()) for label in row))


@pytest.mark.parametrize("thresholds", [None, "micro", "macro"])
def test_predictions_follow_a_taxonomy_with_several_parents(thresholds):
    X, y = nested()
    graph = nx.DiGraph([(parent, node) for node, parent in DIAMOND if parent])
    graph.add_node("e")
    model = MultilabelSVM(taxonomy=graph, thresholds=thresholds).fit(X[:150], y[:150])
    assert set(model.classes_) == set(NODES)
    found = model.predict(X[150:])
    assert all(set(row) == closed(row) for row in found)
    assert model.score(X[150:], y[150:]) > 0.65
    assert model.score(X[150:], [closed(row) for row in y[150:]]) == model.score(
        X[150:], y[150:]
    )


def test_a_root_above_all_labels_is_no_label():
    X, y = nested()
    rooted = [*((n, p or "top") for n, p in DIAMOND), ("a", "top")]
    model = MultilabelSVM(taxonomy=rooted).fit(X, [[*row, "top"] for row in y])
    assert "top" not in model.classes_
    assert model.score(X, [[*row, "top"] for row in y]) == model.score(X, y)


def test_columns_in_any_order_and_the_same_model_in_a_file(tmp_path):
    X, y = nested()
    columns = ["d", "e", "c", "a", "b"]
    Y = pd.DataFrame(
        [[int(c in closed(r)) for c in columns] for r in y], columns=columns
    )
    tables = MultilabelSVM(taxonomy=DIAMOND).fit(X, Y)
    sets = MultilabelSVM(taxonomy=DIAMOND).fit(X, y)
    a, b = tables.predict(X), sets.predict(X)
    assert [{c for c, v in zip(columns, row) if v} for row in a] == [set(r) for r in b]
    for model, truth in ((tables, a), (sets, b)):
        save(model, tmp_path / "m.mm")
        again = load(tmp_path / "m.mm").predict(X)
        assert np.array_equal(again, truth) and again.dtype == truth.dtype


def test_thresholds_raise_f1_where_labels_are_rare():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    Y = (X[:, :3] + 1.5 * rng.normal(size=(1500, 3)) > 2.5).astype(int)
    train, test = slice(0, 1000), slice(1000, None)
    plain = MultilabelSVM().fit(X[train], Y[train])
    for average in ("micro", "macro"):
        tuned = MultilabelSVM(thresholds=average).fit(X[train], Y[train])
        assert (tuned.thresholds_ < 0).all()
        before, after = (
            f1_score(Y[test], m.predict(X[test]), average=average)
            for m in (plain, tuned)
        )
        assert after > before + 0.1


def test_best_threshold_by_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores, truth = rng.integers(-3, 4, 12).astype(float), rng.integers(0, 2, 12)
        threshold, f1 = best_f1_threshold(scores, truth)
        if truth.any():
            tried = [f1_score(truth, scores > t) for t in np.arange(-4.5, 4, 0.5)]
            assert f1 == pytest.approx(max(tried))
            assert f1 == pytest.approx(f1_score(truth, scores > threshold))


WRONG = [
    (
        ["cat", "dog", "cat"],
        r"y\[0\] is 'cat': give the labels of each example as a list",
    ),
    ([["cat"], 3, []], r"y\[1\] is 3"),
    ([["cat"], [None], []], r"y\[1\] has the label None"),
    ([[], [], []], "y has no labels"),
    (
        np.array([[0, 1], [2, 0], [1, 1]]),
        "y, row 1, column 0: .*2.* is neither 0 nor 1",
    ),
]


def test_rows_of_zeros_and_ones_are_a_table_unless_they_may_be_sets():
    X = np.eye(3)
    rows = [[0, 1, 1], [1, 0, 0], [0, 0, 1]]
    assert MultilabelSVM().fit(X, rows).classes_ == [0, 1, 2]
    assert MultilabelSVM().fit(X, pd.Series([np.array(r) for r in rows])).classes_ == [
        0, 1, 2,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="may be a table or sets"):
        MultilabelSVM().fit(X, [[0, 1], [1, 0], [0, 1]])


@pytest.mark.parametrize(("y", "message"), WRONG)
def test_wrong_outputs_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        MultilabelSVM().fit(np.eye(3), y)


def test_labels_that_do_not_fit_the_taxonomy_are_named():
    X = np.eye(3)
    with pytest.raises(
        ValueError, match=r"y\[1\] has the label 'x', which is not in the"
    ):
        MultilabelSVM(taxonomy=DIAMOND).fit(X, [["a"], ["x"], []])
    with pytest.raises(ValueError, match="node 'e' of the taxonomy has no column in y"):
        Y = pd.DataFrame(np.eye(3, 4, dtype=int), columns=list("abcd"))
        MultilabelSVM(taxonomy=DIAMOND).fit(X, Y)
    with pytest.raises(ValueError, match="cycle"):
        MultilabelSVM(taxonomy=[("a", "b"), ("b", "a")]).fit(X, [["a"], [], []])


def test_explain_and_top_features():
    X, y = nested()
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(5)])
    model = MultilabelSVM(taxonomy=DIAMOND).fit(frame, y)
    assert model.top_features("e", 1)[0][0] == "word3"
    assert "d" in [part.name for part in model.explain(10 * np.eye(5)[2]).parts]


def test_probabilities_of_labels(tmp_path):
    X, Y = data(400)
    model = MultilabelSVM(calibration=3).fit(X[:200], Y[:200])
    p = model.predict_proba(X[200:])
    assert p.shape == (200, 4) and ((p > 0) & (p < 1)).all()
    assert np.abs(p.mean(axis=0) - Y[200:].mean(axis=0)).max() < 0.1
    assert ((p - Y[200:]) ** 2).mean() < 0.7 * Y[200:].var(axis=0).mean()
    save(model, tmp_path / "m.mm")
    np.testing.assert_array_equal(
        load(tmp_path / "m.mm").predict_proba(X), model.predict_proba(X)
    )
    held_out = MultilabelSVM().fit(X[:200], Y[:200])
    assert not hasattr(held_out, "predict_proba")
    held_out.calibrate(X[200:], Y[200:])
    assert np.abs(held_out.predict_proba(X[200:]) - p).max() < 0.2
    assert not hasattr(held_out.fit(X[:200], Y[:200]), "predict_proba")


def test_no_label_is_more_probable_than_those_above_it():
    X, Y = data()
    sets = [["bcde"[k] for k in np.flatnonzero(row)] for row in Y]
    model = MultilabelSVM(taxonomy=DIAMOND, calibration=2).fit(X, sets)
    p = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
    for label, parent in DIAMOND[:-1]:
        assert (p[label] <= p[parent]).all()


def test_paths_of_labels_say_what_to_do():
    X, _ = data(4)
    paths = [["a", "b"], ["a", "c"]] * 2
    for y in (paths, np.array(paths), np.array(paths, object)):
        with pytest.raises(ValueError, match="path of labels per row: join_paths"):
            MulticlassSVM().fit(X, y)
    with pytest.raises(ValueError, match="join_paths"):
        MultilabelSVM().fit(X, [[["a", "b"]]] * 4)


def test_a_report_has_scores_by_label(tmp_path):
    X, Y = data()
    model = MultilabelSVM().fit(X, Y)
    Y[:, 0] = 1  # sets that are longer than the predicted ones
    model.report(tmp_path / "page.html", X, Y)
    text = (tmp_path / "page.html").read_text(encoding="utf8")
    assert "Scores by class" in text and "true \\ found" not in text


def test_lists_of_numbers_are_sets_where_one_is_above_one():
    """Rows of one length look like a table; a 2 says that they are labels."""
    X = [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    model = MultilabelSVM().fit(X, [[0, 2], [1, 2], [0, 2], [1, 2]])
    assert list(model.classes_) == [0, 1, 2]


def labelled_frames(n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    table = (X > 0.3).astype(int)
    return X, pd.DataFrame(table, columns=["p", "q", "r"])


def test_columns_of_a_frame_of_labels_go_by_their_names():
    X, y = labelled_frames()
    turned = y[["r", "p", "q"]]
    model = MultilabelSVM().fit(X, y)
    assert model.score(X, turned) == model.score(X, y) > 0.8
    hard = model.hardest(X, turned, 3)
    assert [(h.example, h.truth) for h in hard] == [
        (h.example, h.truth) for h in model.hardest(X, y, 3)
    ]
    assert hard[0].truth == tuple(c for c in "pqr" if y[c][hard[0].example])
    other = MultilabelSVM().partial_fit(X, y).partial_fit(X, turned)
    assert other.score(X, y) > 0.8
    assert np.array_equal(
        MultilabelSVM().fit(X, y).calibrate(X, turned).predict_proba(X),
        MultilabelSVM().fit(X, y).calibrate(X, y).predict_proba(X),
    )
    assert (
        MultilabelSVM().fit(X, y.to_numpy()).score(X, y) > 0.8
    )  # no names: by position
    with pytest.raises(ValueError, match="column 'z' of y is not a label of training"):
        model.score(X, y.rename(columns={"r": "z"}))
    polars = pytest.importorskip("polars")
    assert model.score(X, polars.from_pandas(turned)) == model.score(X, y)


def test_what_is_neither_zero_nor_one_is_shown_plainly():
    with pytest.raises(ValueError, match="row 0, column 1: -1 is neither"):
        MultilabelSVM().fit([[0.0], [1.0]], np.array([[1, -1], [0, 1]]))
    with pytest.raises(ValueError, match=r"row 1, column 0: 0\.5 is neither"):
        MultilabelSVM().fit([[0.0], [1.0]], np.array([[1, 0], [0.5, 1]]))


def test_reports_of_tables_name_the_true_labels(tmp_path):
    X, y = labelled_frames()
    above = [("p", "q"), ("q", None), ("r", None)]  # the structure has q before p
    y["q"] |= y["p"]
    model = MultilabelSVM(taxonomy=above).fit(X, y)
    sets = [tuple(c for c in "pqr" if y[c][i]) for i in range(len(X))]
    for table in (y, y.to_numpy(), sp.csr_array(y.to_numpy())):
        for case in model.hardest(X, table, 40):
            assert case.truth == sets[case.example]
        model.report(tmp_path / "page.html", X, table)
        assert "<html" in (tmp_path / "page.html").read_text()
        i = sets.index(("p", "q"))
        drawn = model._draw(X[i], ("p", "q"), y.to_numpy()[i])
        assert drawn == model._draw(X[i], ("p", "q"), ("p", "q"))
    rows = model.support_structures("x0 / p", X, y).rows
    assert rows and all(row.truth == sets[row.example] for row in rows)


def test_reports_of_one_column_of_labels(tmp_path):
    X, y = labelled_frames()
    frame = y[["p"]].rename(columns={"p": "y"}).sample(frac=1.0, random_state=0)
    with pytest.warns(Warning, match="column-vector"):
        model = MulticlassSVM().fit(X, frame)
    assert [c.truth for c in model.hardest(X, frame)] == [
        c.truth for c in model.hardest(X, frame["y"])
    ]
