"""Data frames where a list of examples is expected: read by rows, or refused."""

import numpy as np
import pytest
from small import models as small

from maxmargin import (
    AlignmentSVM,
    ChainSVM,
    CoreferenceSVM,
    DependencySVM,
    GrammarSVM,
    HomologySVM,
    MotifSVM,
    MultilabelSVM,
    NetworkSVM,
    SegmentSVM,
)
from maxmargin.core.data.foreign.data_frames import rows_of_frame
from maxmargin.datasets import make_homologs

pd = pytest.importorskip("pandas")
PAIRS = [*small.PAIRS, ("HEAGAWG", "EAAWG")]
ALIGNED = [*small.ALIGNED, ("HEAGAWG", "-EA-AWG")]


def frame(rows, *names):
    """A frame whose index is not the position of a row."""
    return pd.DataFrame(rows, columns=list(names), index=range(len(rows))[::-1])


def polars_frame(rows, *names):
    polars = pytest.importorskip("polars")
    return polars.DataFrame(rows, schema=list(names), orient="row")


@pytest.mark.parametrize("n", [2, 3])  # with two rows, columns look like pairs
@pytest.mark.parametrize("made", [frame, polars_frame])
def test_pairs_are_the_rows(made, n):
    pairs, aligned = PAIRS[:n], ALIGNED[:n]
    X, y = made(pairs, "s", "t"), made(aligned, "first", "second")
    plain = AlignmentSVM(C=10.0).fit(pairs, aligned)
    model = AlignmentSVM(C=10.0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    for a, b in zip(model.predict(X), plain.predict(pairs), strict=True):
        np.testing.assert_array_equal(a, b)
    assert model.losses(X, y).tolist() == plain.losses(pairs, aligned).tolist()
    assert model.alignment_scores(X).tolist() == plain.alignment_scores(pairs).tolist()
    for found, known in zip(
        model.calibrate(X, y).predict_confidence(X),
        plain.calibrate(pairs, aligned).predict_confidence(pairs),
        strict=True,
    ):
        np.testing.assert_array_equal(found, known)


def test_p_values_of_a_frame():
    searches, found = make_homologs(10)
    pairs = [
        (a, others[c]) for (a, others), (c, _) in zip(searches, found, strict=True)
    ]
    model = AlignmentSVM(mode="local").fit(pairs, [columns for _, columns in found])
    X = frame(pairs, "s", "t")
    of_frame = model.as_local(X).fit_evalues(X, n=50).p_values(X)
    known = model.as_local(pairs).fit_evalues(pairs, n=50).p_values(pairs)
    assert of_frame.tolist() == known.tolist()


def test_alignments_may_be_one_column():
    y = pd.Series(ALIGNED, index=[5, 6, 7]).to_frame("alignment")
    model = AlignmentSVM(C=10.0).fit(frame(PAIRS, "s", "t"), y)
    np.testing.assert_array_equal(
        model.coef_, AlignmentSVM(C=10.0).fit(PAIRS, ALIGNED).coef_
    )


def test_other_columns_are_refused():
    X = frame(PAIRS, "s", "t")
    with pytest.raises(
        ValueError, match="X is a data frame with 3 columns, but 2 are need"
    ):
        AlignmentSVM().fit(X.assign(score=1.0), ALIGNED)
    model = AlignmentSVM(C=10.0).fit(X, ALIGNED)
    with pytest.raises(
        ValueError, match="with 1 column, but 2 are needed: the sequences"
    ):
        model.predict(X[["s"]])


def test_searches_are_the_rows():
    X = [("ABBA", ["CCAC", "ABA"]), ("BAB", ["BA", "CAC"]), ("ABB", ["CC", "AB"])]
    table = frame(X, "native", "candidates")
    y = pd.DataFrame({"homolog": [1, 0, 1]}, index=[4, 4, 4])
    plain, model = HomologySVM().fit(X, [1, 0, 1]), HomologySVM().fit(table, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.predict(table).tolist() == plain.predict(X).tolist()
    assert model.score(table, y) == plain.score(X, [1, 0, 1])
    for a, b in zip(
        model.candidate_scores(table), plain.candidate_scores(X), strict=True
    ):
        assert a.tolist() == b.tolist()


def test_motifs_are_not_looked_for_in_the_names_of_columns():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    y = [1, 1, 1, 0, 0, 0]
    model = MotifSVM(length=4, order=0, C=1.0).fit(X, y)
    table = frame([(x,) for x in X], "tata")
    assert model.predict(table).tolist() == model.predict(X).tolist()
    assert model.locate(table).tolist() == model.locate(X).tolist()
    again = MotifSVM(length=4, order=0, C=1.0).fit(table, pd.DataFrame({"y": y}))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    with pytest.raises(
        ValueError, match="with 2 columns, but 1 is needed: the sequences"
    ):
        model.predict(table.assign(other="acgt"))


@pytest.mark.parametrize("model", [
    ChainSVM(), SegmentSVM(), GrammarSVM(), DependencySVM(), NetworkSVM(), CoreferenceSVM(),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_a_frame_is_no_list_of_examples(model):
    table = pd.DataFrame({"words": [["a", "b"], ["c"]]})
    with pytest.raises(
        (TypeError, ValueError), match=r"is one DataFrame, not a list of ex|one str"
    ):
        model.fit(table, [["A", "B"], ["A"]])


def test_rows_of_a_lazy_frame_are_not_there():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"y are not computed yet: write y.collect\(\)"):
        rows_of_frame(polars.LazyFrame({"a": [1]}), [1], "labels", "y")


def test_a_node_above_all_labels_is_no_column():
    X = np.eye(4)
    table = pd.DataFrame({"all": 1, "a": [1, 1, 0, 0], "b": [0, 0, 1, 1]})
    tree = {"a": "all", "b": "all"}
    said = "column 'all' of y is above all labels .* leave the column out"
    with pytest.raises(ValueError, match=said):
        MultilabelSVM(taxonomy=tree).fit(X, table)
    model = MultilabelSVM(taxonomy=tree).fit(X, table[["a", "b"]])
    with pytest.raises(ValueError, match=said):
        model.score(X, table)


def test_explanations_of_alignments_have_letters():
    model = AlignmentSVM(C=10.0).fit(PAIRS, ALIGNED)
    names = [part.name for part in model.explain(("HEAGAW", "EAAW")).parts]
    assert model.predict([("HEAGAW", "EAAW")])[0].tolist() == [
        [0, -1], [1, 0], [2, 1], [3, -1], [4, 2], [5, 3],
    ]  # fmt: skip
    assert names == [
        "column 0/-: H/-", "column 1/0: E/E", "column 2/1: A/A", "column 3/-: G/-",
        "column 4/2: A/A", "column 5/3: W/W",
    ]  # fmt: skip


def test_explanations_of_other_tracks_and_letters():
    pairs = [({"ss": "HHC", "acc": "ABA"}, {"ss": "HC", "acc": "BA"})]
    model = AlignmentSVM(C=10.0, features="tensor").fit(pairs, [("HHC", "-HC")])
    assert [part.name for part in model.explain(pairs[0]).parts][-1] == "column 2/1"
    simple = AlignmentSVM(C=10.0).fit(pairs, [[[0, -1], [1, 0], [2, 1]]])
    names = [part.name for part in simple.explain(pairs[0]).parts]
    assert names[-1] in ("column 2/1: C/C", "column 2/1: A/A")
    with pytest.warns(UserWarning, match="X"):
        model = AlignmentSVM(C=10.0, alphabets="protein").fit(PAIRS, ALIGNED)
        names = [part.name for part in model.explain(("XEAGAW", "EAAW")).parts]
    assert names[0].endswith((": ?/-", ": X/-"))
