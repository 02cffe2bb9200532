"""The formulas of `Violation` and `DualSet` against their definitions."""

import numpy as np
import pytest

from maxmargin.core.formulations import CRITERIA, DualSet, Formulation, Violation

SOME = [*CRITERIA, *(Violation(slack, weight=0.4) for slack in (False, True))]
DELTAS = np.linspace(0.0, 1.0, 20001)


@pytest.mark.parametrize("criterion", SOME)
@pytest.mark.parametrize("weight", [0.2, 0.5, 0.8, 3.0])
@pytest.mark.parametrize("value", [-1.5, -0.3, 0.0, 0.4, 2.5])
@pytest.mark.parametrize("most", [0.3, 1.0])
def test_line_bound_is_the_maximum_on_the_line(criterion, weight, value, most):
    """Over all losses up to `most`: H grows as the margin falls to the line."""
    if criterion.linear and weight > criterion.weight:
        return  # a linear H is maximised itself, and needs no lines
    deltas = most * DELTAS
    best = max(criterion.value(deltas, weight * deltas - value).max(), 0.0)
    one = np.array([1.0])
    bound = criterion.line_bound(weight * one, value * one, most * one)[0]
    assert best - 1e-12 <= bound <= best + 1e-6


@pytest.mark.parametrize("criterion", SOME)
@pytest.mark.parametrize("weight", [0.2, 0.5, 0.7, 1.6])
@pytest.mark.parametrize("above", [0.05, 0.3, 0.9, 1.3, 2.7, 4.0])
def test_line_reaching_is_the_inverse_of_the_bound(criterion, weight, above):
    if criterion.linear and weight > criterion.weight:
        return
    if criterion.slack and criterion.weight != 1.0:
        return  # only weights of one are asked for
    value = criterion.line_reaching(weight, above)
    one = np.ones(1)
    reached = criterion.line_bound(weight * one, value * one, one)[0]
    assert reached == pytest.approx(above, abs=1e-9)


@pytest.mark.parametrize("criterion", SOME)
def test_ideal_weight_makes_a_point_stationary(criterion):
    """The slope of H at fixed H along the loss."""
    for delta, margin in [(0.3, 0.2), (0.9, -1.0), (0.05, 0.7)]:
        d = 1e-6
        up, down = (criterion.value(delta + s * d, margin) for s in (1, -1))
        left, right = (criterion.value(delta, margin + s * d) for s in (-1, 1))
        slope = (up - down) / (left - right)
        assert criterion.ideal_weight(delta, margin) == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("criterion", SOME)
def test_most_margin_is_where_the_violation_is_above(criterion):
    deltas = np.array([0.0, 0.2, 1.0])
    most = criterion.most_margin(0.3, deltas)
    for delta, limit in zip(deltas, most, strict=True):
        if np.isfinite(limit):
            assert criterion.value(delta, limit) == pytest.approx(0.3)
        else:
            assert criterion.slack and delta == 0.0


def test_growth_carries_alpha_over():
    upper = DualSet(np.array([2.0, 0.0]), np.zeros(2), False)
    more = DualSet(np.array([3.0, 1.0]), np.zeros(2), False)
    assert upper.growth(more).tolist() == [1.5, 0.0]
    free, none = np.full(2, np.inf), np.zeros(2)
    ridge = DualSet(free, np.array([0.5, 1.0]), False)
    assert ridge.growth(DualSet(free, np.array([0.25, 0.5]), False)).tolist() == [2, 2]
    some = DualSet(np.array([np.inf, 0.0]), np.array([0.5, 0.0]), False)
    assert some.growth(some).tolist() == [1.0, 1.0]
    hard = DualSet(free, none, False)
    assert hard.growth(hard).tolist() == [1.0, 1.0]


def test_examples_without_weight_stay_out_of_the_dual():
    C = np.array([2.0, 0.0])
    squared = Formulation(penalty="squared").dual_set(C)
    assert squared.upper.tolist() == [np.inf, 0.0] and squared.ridge.tolist() == [
        0.5,
        0,
    ]
    hard = Formulation(penalty="hard").dual_set(C)
    assert hard.upper.tolist() == [np.inf, 0.0] and hard.ridge.tolist() == [0.0, 0.0]
    assert not squared.box and not hard.box
    linear, summed = (Formulation(penalty=p).dual_set(C) for p in ("linear", "summed"))
    assert linear.upper.tolist() == summed.upper.tolist() == [2.0, 0.0]
    assert not linear.box and summed.box
