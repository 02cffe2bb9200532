"""Losses by their formulas, and the parameters that they refuse."""

import numpy as np
import pytest

from maxmargin.core.data.arrays import Ragged
from maxmargin.losses import (
    ArcLoss,
    AveragePrecision,
    BracketHamming,
    ForestLoss,
    MotifLoss,
    NDCGAtK,
    RocArea,
    SpanLoss,
)

BAD = [-1.0, np.inf, np.nan]


def test_gains_are_scaled_by_the_best_order():
    for k, grades in [(2, [2, 0, 1]), (3, [1, 0]), (1, [1, 1, 3]), (4, [0, 0])]:
        loss = NDCGAtK(k=k)
        discount = 1.0 / np.log2(np.arange(2.0, k + 2.0))
        gain = 2.0 ** np.array(grades) - 1.0
        best = np.sort(gain)[::-1][:k]
        total = best @ (discount / discount.sum())[: len(best)]
        expected = gain / total if total > 0 else gain
        assert loss.gains(np.array(grades)).tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize(("relevant", "others"), [(1, 1), (2, 3), (0, 2), (3, 0)])
def test_costs_of_orders_add_up_to_the_measure(relevant, others):
    """One minus average precision, and the share of wrong pairs, of random orders."""
    rng = np.random.default_rng(0)
    tables = [loss.costs(relevant, others) for loss in (AveragePrecision(), RocArea())]
    assert all(table.shape == (relevant, others + 1) for table in tables)
    for _ in range(5):
        seen = rng.permutation([True] * relevant + [False] * others)
        before = np.cumsum(~seen)[seen]
        i = np.arange(1, relevant + 1)
        precision = (1.0 - i / (i + before)).sum() / max(relevant, 1)
        wrong = before.sum() / max(relevant * others, 1)
        found = [table[np.arange(relevant), before].sum() for table in tables]
        assert found == pytest.approx([precision, wrong])


def test_costs_of_motifs():
    assert MotifLoss(miss=3.0, false_alarm=2.0).table.tolist() == [[0, 2], [3, 0]]
    for bad in (*BAD, 0.0):
        with pytest.raises(ValueError, match="miss"):
            MotifLoss(miss=bad).validate()


@pytest.mark.parametrize(("cost", "unit"), [
    (1.0, 1), (0.5, 2), (0.3, 0), (1 / 3, 3), (0.25, 4), (2.0, 1), (0.0, 1), (2.0**0.5 / 2, 0),
])  # fmt: skip
def test_units_of_arcs(cost, unit):
    assert ArcLoss(label_cost=cost).unit() == unit


def test_shares_of_arcs():
    truth, found = Ragged.pack([[4, 0, 4], [2]]), Ragged.pack([[4, 1, 2], [2]])
    loss = ArcLoss(label_cost=0.5).bind(2)
    assert loss.value(truth, found).tolist() == [1.5, 0.0]
    assert loss.scale(truth).tolist() == [1.0, 1.0]
    share = ArcLoss(label_cost=0.5, normalize=True).bind(2)
    assert share.value(truth, found).tolist() == [0.5, 0.0]
    assert share.scale(truth).tolist() == pytest.approx([1 / 3, 1.0])


@pytest.mark.parametrize("bad", BAD)
def test_costs_are_finite_and_not_negative(bad):
    for loss in (SpanLoss(wrong=bad), SpanLoss(missed=bad), ForestLoss(r=bad)):
        with pytest.raises(ValueError, match="must be finite and >= 0"):
            loss.validate()
    with pytest.raises(ValueError, match="label_cost"):
        ArcLoss(label_cost=bad).validate()


def test_costs_may_be_zero():
    ForestLoss(r=0.0).validate()
    SpanLoss(wrong=0.0, missed=0.0).validate()
    ArcLoss(label_cost=0.0).validate()


def test_scales_of_bracket_losses():
    """Brackets are rows (start, ?, end, ?, label); -1 is a bracket that does not count."""
    rows = np.array([0, 0, 2, 0, 1, 0, 0, 1, 0, 2, 1, 0, 2, 0, -1])
    truth = Ragged(np.array([0, 15]), rows.astype(np.int32))
    assert BracketHamming().scale(truth).tolist() == [1.0]
    assert BracketHamming(normalize=True).scale(truth).tolist() == [0.5]
