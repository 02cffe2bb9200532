"""Frames and series with columns or labels that cannot be learned from."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import (
    ChainSVM,
    CoreferenceSVM,
    KernelSVM,
    MotifSVM,
    MulticlassSVM,
    MultilabelSVM,
    NetworkSVM,
    RankingSVM,
)

pd = pytest.importorskip("pandas")
FRAME = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]})
Y = ["a", "b", "a", "b"]


@pytest.mark.parametrize("make", [MulticlassSVM, KernelSVM, MultilabelSVM])
@pytest.mark.parametrize(("column", "said"), [
    (["x", "y", "x", "y"], r"column 'colour' holds \w+, such as 'x'"),
    (pd.Categorical(["x", "y", "x", "y"]), "column 'colour' holds category"),
    (pd.to_datetime(["2020-01-01"] * 4), "column 'colour' holds datetime"),
])  # fmt: skip
def test_columns_without_numbers_are_named(make, column, said):
    y = np.eye(2, dtype=int)[[0, 1, 0, 1]] if make is MultilabelSVM else Y
    with pytest.raises(ValueError, match=said):
        make().fit(FRAME.assign(colour=column), y)


def test_text_that_is_a_number_is_one():
    frame = FRAME.assign(n=pd.Categorical(["1", "2", "3", "4"]), flag=True)
    assert MulticlassSVM().fit(frame, Y).predict(frame).shape == (4,)


def test_a_missing_label_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match=r"Input y contains NaN or None: y\[1\]"):
        MulticlassSVM().fit(frame, pl.Series(["a", None, "a", "b"]))


def test_frames_that_are_not_computed_are_refused():
    class Lazy:
        """As a LazyFrame of polars or narwhals."""

        def lazy(self):
            return self

        collect = lazy

    for model in (MulticlassSVM(), KernelSVM(), MultilabelSVM(), RankingSVM()):
        with pytest.raises(TypeError, match=r"write X.collect\(\)"):
            model.fit(Lazy(), Y)


def test_columns_of_arrow_are_plain_labels():
    """Sets of labels held objects of Arrow, which a model file cannot store."""

    class Column(list):
        """As an Arrow array: elements are objects of its own."""

        def __iter__(self):
            return (object() for _ in range(len(self)))

        def to_pylist(self):
            return [v for v in list.__iter__(self)]

    sets = [["a", "b"], ["b"], ["a"], []]
    tags = MultilabelSVM().fit(FRAME, Column(sets))
    assert list(tags.classes_) == ["a", "b"]
    assert tags.score(FRAME, Column(sets)) == tags.score(FRAME, sets)


def test_columns_of_rankings_keep_their_order():
    """By name: columns in another order gave other ranks without a word."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(24, 3)), columns=list("abc"))
    qid, grades = np.repeat(np.arange(4), 6), (table.a > 0.3).astype(int).tolist()
    model = RankingSVM(k=3).fit(table, grades, qid=qid)
    assert model.score(table, grades, qid=qid) > 0.5
    for ask in (model.predict, lambda X, qid: model.score(X, grades, qid=qid)):
        with pytest.raises(ValueError, match="feature names"):
            ask(table[["c", "b", "a"]], qid=qid)
    lists = [table.to_numpy()[qid == q] for q in range(4)]
    model.fit(lists, np.reshape(grades, (4, 6)).tolist())
    assert not hasattr(model, "feature_names_in_")


ROWS = np.arange(8.0).reshape(4, 2)
WORDS = [["a", "b"], ["c", "d"]]


def text_of(*spans):
    from maxmargin.structures.clusters import Document

    return Document([["Ann", "met", "her"]], list(spans))


@pytest.mark.parametrize("fit", [
    lambda: MulticlassSVM().fit(ROWS, pd.Series(["a", pd.NA, "b", "a"], dtype="string")),
    lambda: MulticlassSVM().fit(ROWS, ["a", pd.NA, "b", "a"]),
    lambda: MulticlassSVM().fit(ROWS, pd.Series([1, None, 2, 1], dtype="Int64")),
    lambda: KernelSVM().fit(ROWS, pd.Series(["a", pd.NA, "b", "a"], dtype="string")),
    lambda: MultilabelSVM().fit(ROWS, [["a"], [pd.NA], ["b"], []]),
    lambda: MultilabelSVM().fit(ROWS, pd.DataFrame({"p": [1, 0, 1, None]}, dtype="Int64")),
    lambda: ChainSVM().fit(WORDS, [["N", pd.NA], ["N", "V"]]),
    lambda: ChainSVM().fit(WORDS, [["N", float("nan")], ["N", "V"]]),
    lambda: MotifSVM(length=2, order=0).fit(["acgt"] * 3, ["+", pd.NA, "-"]),
    lambda: RankingSVM(k=1).fit(ROWS, [0, 1, 0, 1], qid=["q", pd.NA, "q", "q"]),
    lambda: RankingSVM(k=1).fit([ROWS], [[0, pd.NA, 1, 0]]),
    lambda: NetworkSVM().fit([(ROWS, [[0, 1]])], [["a", pd.NA, "b", "a"]]),
    lambda: CoreferenceSVM().fit([text_of((0, 0, 0), (0, 2, 2))], [[0, pd.NA]]),
])  # fmt: skip
def test_missing_labels_of_pandas_are_refused_by_place(fit):
    with pytest.raises(ValueError, match=r"(?i)nan|none|<NA>|list of grades"):
        fit()


@pytest.mark.parametrize("make", [
    lambda: MulticlassSVM().fit(ROWS, Y),
    lambda: MultilabelSVM().fit(ROWS, [["a"], ["b"], ["a"], []]),
])  # fmt: skip
def test_one_row_is_explained_at_a_time(make):
    model = make()
    assert str(model.explain(ROWS[0])) == str(model.explain(ROWS[:1]))
    for two in (ROWS[:2], sp.csr_array(ROWS[:2])):
        with pytest.raises(ValueError, match="one row is needed here, but x has 2"):
            model.explain(two)
