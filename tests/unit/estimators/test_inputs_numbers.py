"""What counts as a number: not True, not text, no dates, nothing imaginary."""

import numpy as np
import pytest
import scipy.sparse as sp
from small import models as small

from maxmargin import (
    AlignmentSVM,
    ChainSVM,
    KernelSVM,
    MotifSVM,
    MulticlassSVM,
    MultilabelSVM,
    NetworkSVM,
    PathCV,
    RankingSVM,
    StructuralSVM,
)
from maxmargin.calibration import reliability
from maxmargin.core.data.arrays import real_numbers
from maxmargin.metrics import ndcg_at_k
from maxmargin.structures import Matching

ROWS = np.arange(8.0).reshape(4, 2)
LABELS = [0, 1, 0, 1]
SETS = np.eye(2, dtype=int)[LABELS]


@pytest.mark.parametrize("made", [
    MulticlassSVM, KernelSVM, ChainSVM, MotifSVM, RankingSVM, NetworkSVM, AlignmentSVM,
])  # fmt: skip
@pytest.mark.parametrize("name", ["C", "tol", "max_time", "max_iter"])
def test_true_is_no_number(made, name):
    data = {
        ChainSVM: ([["a", "b"]] * 2, [["A", "B"]] * 2),
        MotifSVM: (["ACGT", "TTTT"], [1, 0]),
        RankingSVM: ([ROWS], [LABELS]),
        NetworkSVM: ([(ROWS[:2], [(0, 1)])] * 2, [[0, 1]] * 2),
        AlignmentSVM: (small.PAIRS, small.ALIGNED),
    }.get(made, (ROWS, LABELS))
    settings = {MotifSVM: {"length": 2}, RankingSVM: {"k": 2}}.get(made, {})
    with pytest.raises(ValueError, match=f"{name}=True: "):
        made(**settings, **{name: True}).fit(*data)


@pytest.mark.parametrize(
    "name", ["gamma", "degree", "memory", "random_state", "n_basis"]
)
def test_true_is_no_number_for_kernels(name):
    with pytest.raises(ValueError, match=f"{name}=True"):
        KernelSVM(kernel="poly", **{name: True}).fit(ROWS, LABELS)


def test_true_is_no_penalty_of_a_path():
    with pytest.raises(ValueError, match=r"Cs=\[True\]: penalties"):
        MulticlassSVM().fit_path(ROWS, LABELS, Cs=[True])
    with pytest.raises(ValueError, match=r"Cs=\[1.0, True\]"):
        PathCV(MulticlassSVM(), Cs=[1.0, True]).fit(np.tile(ROWS, (4, 1)), LABELS * 4)
    with pytest.raises(ValueError, match="k=True"):
        RankingSVM(k=True).fit([ROWS], [LABELS])


def other_kinds(kind):
    """The rows with imaginary parts, or as dates."""
    return ROWS + 1j if kind == "complex128" else ROWS.astype("M8[D]")


INPUTS = {
    "chain": (ChainSVM(), lambda rows: [rows, rows], [LABELS] * 2),
    "chain of named vectors": (
        ChainSVM(), lambda rows: [[{"v": row} for row in rows]] * 2, [LABELS] * 2,
    ),
    "network": (NetworkSVM(), lambda rows: [(rows, [(0, 1)])] * 2, [LABELS] * 2),
    "nodes apart": (NetworkSVM(), lambda rows: [(list(rows), [(0, 1)])] * 2, [LABELS] * 2),
    "edges": (
        NetworkSVM(), lambda rows: [(ROWS, [(0, 1), (2, 3)], rows[:2])] * 2, [LABELS] * 2,
    ),
    "ranking": (RankingSVM(k=2), lambda rows: [rows] * 2, [LABELS] * 2),
    "matching": (
        StructuralSVM(Matching()), lambda rows: [rows.reshape(2, 2, 2)] * 2, [[0, 1]] * 2,
    ),
    "alignment": (
        AlignmentSVM(features="profile"),
        lambda rows: [({"residue": "ACDE", "t": rows},) * 2], [("ACDE", "ACDE")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["complex128", "datetime64"])
@pytest.mark.parametrize("name", INPUTS)
def test_complex_numbers_and_dates_are_refused(name, kind):
    model, inputs, outputs = INPUTS[name]
    with pytest.raises(
        ValueError, match=rf"{kind}|is not an? (table|array) .*of numbers"
    ):
        model.fit(inputs(other_kinds(kind)), outputs)


@pytest.mark.parametrize("made", [MulticlassSVM, KernelSVM, MultilabelSVM])
def test_tables_of_dates_and_text_are_refused(made):
    y = SETS if made is MultilabelSVM else LABELS
    with pytest.raises(ValueError, match=r"X holds datetime64\[D\]: .* takes numbers"):
        made().fit(other_kinds("dates"), y)
    text = ROWS.astype(str)
    text[2, 1] = "red"
    said = "X, row 2, column 1 is 'red': a classifier takes numbers; use OneHotEncoder"
    for table in (text, text.astype(object), text.tolist()):
        with pytest.raises(ValueError, match=said):
            made().fit(table, y)
        with pytest.raises(ValueError, match=said):
            made().fit(ROWS, y).predict(table)
    known = made().fit(ROWS, y).predict(ROWS)
    np.testing.assert_array_equal(made().fit(ROWS.astype(str), y).predict(ROWS), known)


def test_sparse_complex_numbers_are_refused():
    matrix = sp.csr_array(ROWS + 1j)
    for model, X, y in [
        (ChainSVM(), [matrix] * 2, [LABELS] * 2),
        (RankingSVM(k=2), [matrix] * 2, [LABELS] * 2),
        (NetworkSVM(), [(matrix, [(0, 1)])] * 2, [LABELS] * 2),
    ]:
        with pytest.raises(ValueError, match="complex128"):
            model.fit(X, y)


def test_text_among_features_is_named():
    text = np.array([["1", "a"], ["2", "3"]])
    with pytest.raises(
        ValueError, match=r"sequence 0 .*: 'a' is text, and a number is"
    ):
        ChainSVM().fit([text], [[0, 1]])
    with pytest.raises(ValueError, match="'a' is text, and a number is needed"):
        NetworkSVM().fit([(text, [(0, 1)])], [[0, 1]])
    assert real_numbers(["1", "2.5"]).tolist() == [1.0, 2.5]


def test_weights_costs_and_scores_have_no_imaginary_part():
    weight = np.ones(4) + 1j
    with pytest.raises(ValueError, match="sample_weight="):
        MulticlassSVM().fit(ROWS, LABELS, sample_weight=weight)
    with pytest.raises(ValueError, match="complex128"):
        MulticlassSVM(loss=(1 - np.eye(2)) * (1 + 1j)).fit(ROWS, LABELS)
    with pytest.raises(ValueError, match="complex128"):
        ndcg_at_k(np.array(LABELS), weight, 2)
    with pytest.raises(ValueError, match="complex128"):
        reliability(0.5 * weight, np.array(LABELS))
