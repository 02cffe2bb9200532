"""Scores, masks and targets that are none are refused with one sentence."""

import numpy as np
import pytest

from maxmargin import ChainSVM, decode
from maxmargin.decode.machinery import batch

LABELS = ["O", "B-X", "I-X"]
ONE = [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize("scores", [
    np.array([[1 + 2j, 2, 3]]), [["1", "2", "3"]], [[1, None, 3]], [[1, np.nan, 3]], 3,
    [1.0, 2.0, 3.0], [[1.0, 2.0]], np.zeros((0, 3)),
])  # fmt: skip
def test_scores(scores):
    with pytest.raises(ValueError, match=r"row 0|scores"):
        decode.best_labels(scores, LABELS)


def test_frames_are_tables():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1.0, 2, 3], [5, 1, 1]], columns=LABELS, index=[7, 0])
    assert decode.best_labels(frame, LABELS) == ["I-X", "O"]
    assert decode.best_labels([frame], LABELS) == [["I-X", "O"]]


def test_labels_and_numbers():
    with pytest.raises(ValueError, match="a name twice"):
        decode.best_labels(ONE, ["O", "O", "N"])
    for n in (0, 1.5, True, "x"):
        with pytest.raises(ValueError, match="a whole number of outputs"):
            decode.nbest_labels(ONE, LABELS, n)
    for n_jobs in ("x", 1.5, None, True, 0):
        with pytest.raises(ValueError, match="a number of threads"):
            decode.best_labels(ONE, LABELS, n_jobs=n_jobs)


@pytest.mark.parametrize("allowed", [
    [("O", "B-X"), ("B-X", "O"), ("O", "O")], np.full((3, 3), 0.5), np.full((3, 3), np.nan),
    np.full((3, 3), -1), "zzz",
])  # fmt: skip
def test_allowed(allowed):
    with pytest.raises(ValueError, match="a set of label pairs"):
        decode.best_labels(ONE, LABELS, allowed=allowed)


def test_a_list_of_pairs_is_no_table():
    """Two pairs of two labels have the shape of a table, and every text is true."""
    X, y = [[{"w": "a"}, {"w": "b"}]], [["N", "V"]]
    with pytest.raises(ValueError, match="a set of label pairs"):
        ChainSVM(allowed=[("N", "V"), ("V", "N")]).fit(X, y)


@pytest.mark.parametrize("span", [
    (0, 1, "A"), ("A", 0, 1, 2.0), (0, 1, "A", "1"), (0, 1, "A", None), (0.5, 1, "A", 1.0),
    (1, 1, "A", 1.0), (0, 1, "A", np.nan), (0, 1, "A", np.inf),
])  # fmt: skip
def test_spans(span):
    with pytest.raises(ValueError, match="span 1"):
        decode.best_spans([(0, 1, "A", 1.0), span])


@pytest.mark.parametrize("threshold", [np.nan, -np.inf])
def test_threshold_of_spans(threshold):
    with pytest.raises(ValueError, match="threshold"):
        decode.best_spans([(0, 1, "A", 1.0)], threshold)


def test_a_table_of_each_row_names_the_row():
    pairs = np.zeros((2, 2, 2, 2))
    pairs[1, 0, 1, 0] = np.nan
    with pytest.raises(ValueError, match=r"row 1: transitions\[0, 1, 0\] is nan"):
        decode.Chain().best({"emissions": np.zeros((2, 3, 2)), "transitions": pairs})
    with pytest.raises(ValueError, match=r"transitions\[1, 0\] is nan"):
        decode.Chain().best(
            {"emissions": np.zeros((2, 3, 2)), "transitions": pairs[1, 0]}
        )


def test_minus_one_is_all_cores(monkeypatch):
    asked = []

    def watched(task, chunks, n_jobs):
        asked.append(n_jobs)
        return [task(chunk) for chunk in chunks]

    monkeypatch.setattr(batch, "work_together", watched)
    monkeypatch.setattr(batch, "WORTH_THREADS", 0.0)
    for n_jobs in (-1, -2, -9):
        monkeypatch.setattr(batch.os, "cpu_count", lambda: 4)
        decode.best_labels(ONE, LABELS, n_jobs=n_jobs)
    assert asked == [4, 3, 1]


def test_masks_and_targets():
    tables = np.zeros((1, 3, 2))
    for mask in ([[1, np.nan, 0]], [[2, 1, 0]], [["a", "b", ""]]):
        with pytest.raises(ValueError, match="True and False"):
            decode.Chain().best(tables, mask)
    with pytest.raises(ValueError, match="a pair"):
        decode.Matching().best(np.zeros((1, 2, 2)), mask=[[True, True]])
    with pytest.raises(ValueError, match="not whole"):
        decode.most_violated(decode.Ranking(), [[1.0, 2.0]], [[1.5, 0]], loss="pairs")
    with pytest.raises(ValueError, match="not whole"):
        decode.Chain().score(tables, [[0.0, 1.0, 0.0]])


TUPLES = {
    "segments": (decode.Segments(), (2, 3, 2, 2), "segments", [(0, 3, 1)]),
    "spans": (decode.SpanTree(), (2, 3, 3, 2), "spans", [(0, 2, 1)]),
    "alignment": (decode.Alignment(), (2, 3, 3), "matched pairs", [(0, 1)]),
    "arcs": (decode.DependencyTree(), (2, 3, 4, 2), "pairs of head", [(0, 1)] * 3),
}


@pytest.mark.parametrize("name", TUPLES)
def test_targets_that_are_lists_of_tuples(name):
    """Fractions were cut off without a word, other mistakes raised what NumPy says."""
    structure, shape, what, fine = TUPLES[name]
    scores = np.zeros(shape)
    for wrong in (
        [tuple(v + 0.5 for v in one) for one in fine],
        [one[:1] for one in fine],
        [("a",) * len(fine[0])] * len(fine),
        [fine[0], fine[0][:1]],
        3,
        None,
    ):
        with pytest.raises(
            ValueError, match=f"row 1: the target must be a list of {what}"
        ):
            structure.score(scores, [fine if name != "arcs" else HEADS, wrong])
    for wrong in ("ab", 1, None):
        with pytest.raises(ValueError, match=r"target (must be a list|has shape)"):
            structure.score(scores, wrong)
    with pytest.raises(ValueError, match="1 targets for 2 rows"):
        structure.score(scores, [fine])


HEADS = [(0, 0), (1, 0), (2, 1)]


def test_targets_as_sets_and_arrays():
    spans = decode.SpanTree()
    table = np.full((1, 2, 2), -1)
    table[0, 0, 1] = 1
    scores = np.arange(8.0).reshape(1, 2, 2, 2)
    assert spans.score(scores, [{(0, 1, 1)}]) == spans.score(scores, table)
    assert spans.score(scores, [set()]) == spans.score(scores, [[]])
    with pytest.raises(ValueError, match="whole numbers, not float64"):
        spans.score(scores, table + 0.5)
    pairs = np.array([[[0, 0], [-1, -1]]])
    assert decode.Alignment().score(np.ones((1, 2, 2)), pairs) == [1.0]
    with pytest.raises(ValueError, match=r"row 0: match \(-1, 0\) of the target"):
        decode.Alignment().score(np.ones((1, 2, 2)), [[(-1, 0)]])


def test_masks_of_two_sides():
    for structure in (decode.Alignment(), decode.Matching()):
        for mask in (3, "ab", [[1, 1]], {1: 2, 3: 4}):
            with pytest.raises(ValueError, match="must be a pair"):
                structure.best(np.zeros((1, 2, 2)), mask)


@pytest.mark.parametrize("structure, shape, side", [
    (decode.Chain(), (1, 2, 2), "start"), (decode.Segments(), (1, 2, 2, 2), "transitions"),
    (decode.Alignment(), (1, 2, 2), "deletes"),
    (decode.Network(edges=((0, 1),)), (1, 2, 2), "pairwise"),
])  # fmt: skip
def test_tables_beside_the_main_one_hold_real_numbers(structure, shape, side):
    main = structure.tables[0]
    table = np.zeros(structure.side_shapes(shape)[side])
    for wrong in (table + 1j, np.full(table.shape, "1")):
        with pytest.raises(ValueError, match=f"{side} holds .*: scores are real"):
            structure.best({main: np.zeros(shape), side: wrong})
