"""Planes, risks and their bounds: against enumeration of all outputs."""

import copy
from dataclasses import replace

import cases
import numpy as np
import pytest
from dense import ROWS, make, optimum
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core import CRITERIA, Formulation, MostViolated, Problem
from maxmargin.losses import Hamming, ZeroOne

NAMES = (
    "chain", "dependency", "matching", "multiclass", "network", "network_typed", "own",
    "segments",
)  # fmt: skip
CASES = {name: case for name, case in cases.modules().items() if name in NAMES}
seeds = st.integers(0, 2**31)
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
single = [name for name in ROWS if name != "LSE"]  # one slack per example


def usable(case, name):
    rescaling, penalty = ROWS[name]
    if case.__name__ == "cases.own" and (rescaling is None or penalty == "hard"):
        pytest.skip("its loss is not zero-one")


def weights(problem, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=problem.dim) * rng.choice([0.1, 1.0, 3.0])


@each_case
@pytest.mark.parametrize("name", single)
@given(seed=seeds, loss=st.integers(-3, -1))
@settings(max_examples=8)
def test_slacks_are_those_of_all_outputs_together(case, name, seed, loss):
    usable(case, name)
    problem, dense = make(case, seed, name, max(loss, -len(case.LOSSES)))
    w = weights(problem, seed)
    cuts, expected = problem.cuts(w), dense.slack(w)
    height = cuts.b - cuts.a.dot(w)
    small = 1e-9 * (1 + expected)
    if problem.exact:
        np.testing.assert_allclose(cuts.slack, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            np.maximum(height, 0), expected, rtol=1e-9, atol=1e-9
        )
    else:
        assert (height <= expected + small).all()
        assert (cuts.slack >= expected - small).all()


@each_case
@pytest.mark.parametrize("name", single)
@given(seed=seeds)
@settings(max_examples=6)
def test_planes_lie_below_the_slack_everywhere(case, name, seed):
    usable(case, name)
    problem, dense = make(case, seed, name)
    cuts = problem.cuts(weights(problem, seed))
    for other in range(5):
        v = weights(problem, seed + other + 1)
        expected = dense.slack(v)
        assert (cuts.b - cuts.a.dot(v) <= expected + 1e-9 * (1 + expected)).all()


@each_case
@pytest.mark.parametrize("name", single)
@given(seed=seeds)
@settings(max_examples=6)
def test_a_sum_cut_lies_below_the_risk_and_touches_it(case, name, seed):
    usable(case, name)
    problem, dense = make(case, seed, name)
    w = weights(problem, seed)
    cut = problem.sum_cut(w)
    if problem.exact:
        assert cut.b - cut.a @ w == pytest.approx(dense.risk(w), rel=1e-9, abs=1e-9)
    for other in range(5):
        v = weights(problem, seed + other + 1)
        assert cut.b - cut.a @ v <= dense.risk(v) + 1e-9 * (1 + dense.risk(v))


def without_layers(problem):
    """The same problem, its structure bereft of what makes slack rescaling exact."""
    base = type(problem.structure)

    def offers(self, capability):
        return None if capability is not MostViolated else self

    plain = type("Plain", (base,), {"offers": offers})
    bare = copy.copy(problem.structure)
    object.__setattr__(bare, "__class__", plain)
    return replace(problem, structure=bare)


@pytest.mark.parametrize("name", ["SVM1-slack", "SVM2-margin", "SVM2-slack"])
@pytest.mark.parametrize("case", [CASES["multiclass"], CASES["matching"]])
@given(seed=seeds, loss=st.integers(1, 3))
@settings(max_examples=20)
def test_without_layers_slacks_are_bounded(case, name, seed, loss):
    problem, dense = make(case, seed, name, loss)
    problem = without_layers(problem)
    assert not problem.exact
    w = weights(problem, seed)
    cuts, expected = problem.cuts(w), dense.slack(w)
    small = 1e-9 * (1 + expected)
    assert (cuts.slack >= expected - small).all()
    assert (cuts.b - cuts.a.dot(w) <= expected + small).all()
    assert (cuts.b - cuts.a.dot(w) >= -small).all()  # not below the truth's plane


@pytest.mark.parametrize("name", ["SVM1-slack", "SVM1-margin"])
@each_case
@given(seed=seeds)
@settings(max_examples=6)
def test_propositions_1_and_2_slacks_bound_the_loss(case, name, seed):
    """Tsochantaridis 2005: the mean slack bounds the mean loss of the predictions."""
    problem, _ = make(case, seed, name)
    w = weights(problem, seed)
    labels = problem.structure.argmax(problem.x, np.arange(problem.n), w).labels
    loss = problem.loss.value(problem.truth, labels)
    slack = problem.cuts(w).slack
    assert (slack >= loss - 1e-9 * (1 + loss)).all()


@pytest.mark.parametrize("name", ["SVM2-slack", "SVM2-margin"])
@each_case
@given(seed=seeds)
@settings(max_examples=6)
def test_squared_slacks_bound_the_loss(case, name, seed):
    problem, _ = make(case, seed, name)
    w = weights(problem, seed)
    labels = problem.structure.argmax(problem.x, np.arange(problem.n), w).labels
    loss = problem.loss.value(problem.truth, labels)
    assert (problem.cuts(w).slack ** 2 >= loss - 1e-9 * (1 + loss)).all()


@pytest.mark.parametrize("name", ["SVM1-slack", "SVM2-slack"])
@given(seed=seeds, eta=st.sampled_from([0.1, 0.5, 3.0, 20.0]))
@settings(max_examples=6)
def test_proposition_3_slack_rescaling_is_invariant_to_the_scale_of_the_loss(
    name, seed, eta
):
    """Loss times eta with C / eta has the same optimal weights."""
    case = CASES["multiclass"]
    problem, dense = make(case, seed, name, loss=2)
    w = weights(problem, seed)
    scaled = Problem(
        problem.structure, Hamming(cost=eta * case.COST).bind(case.K),
        Formulation(*ROWS[name]), problem.x, problem.truth, problem.C / eta,
    )  # fmt: skip
    ours, theirs = problem.cuts(w).slack, scaled.cuts(w).slack
    factor = np.sqrt(eta) if name == "SVM2-slack" else eta
    np.testing.assert_allclose(theirs, factor * ours, rtol=1e-9, atol=1e-9)
    assert scaled.primal(w, theirs) == pytest.approx(problem.primal(w, ours))
    _, best = optimum(dense)
    assert scaled.primal(best, scaled.cuts(best).slack) == pytest.approx(
        optimum(dense)[0], rel=1e-6
    )


@pytest.mark.parametrize("name", ["chain", "multiclass"])
@pytest.mark.parametrize("penalty", ["linear", "squared"])
@given(seed=seeds)
@settings(max_examples=4)
def test_with_the_zero_one_loss_all_formulations_are_one(name, penalty, seed):
    """Section 5.2 of Tsochantaridis et al. 2005."""
    case = CASES[name]
    zero_one = [isinstance(loss, ZeroOne) for loss in case.LOSSES].index(True)
    row = {"linear": "SVM1-slack", "squared": "SVM2-slack"}[penalty]
    problem, _ = make(case, seed, row, loss=zero_one)
    w = weights(problem, seed)
    slacks = [
        replace(problem, formulation=Formulation(rescaling, penalty)).cuts(w).slack
        for rescaling in (None, "slack", "margin")
    ]
    np.testing.assert_allclose(slacks[1], slacks[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(slacks[2], slacks[0], rtol=1e-9, atol=1e-9)


def test_margin_rescaling_is_not():
    case = CASES["multiclass"]
    problem, _ = make(case, 3, "SVM1-margin", loss=2)
    w = weights(problem, 3)
    scaled = replace(
        problem, loss=Hamming(cost=3 * case.COST).bind(case.K), C=problem.C / 3
    )
    assert scaled.primal(w, scaled.cuts(w).slack) != pytest.approx(
        problem.primal(w, problem.cuts(w).slack)
    )


def test_what_is_not_in_the_table_is_refused():
    for bad, message in [
        (("both", "linear"), "rescaling='both' is not one of"),
        (("margin", "cubic"), "penalty='cubic' is not one of"),
        (("slack", "summed"), "margin rescaling only"),
    ]:
        with pytest.raises(ValueError, match=message):
            Formulation(*bad)


def test_a_loss_that_the_structure_does_not_know_is_refused():
    problem, _ = make(CASES["multiclass"], 0, "SVM1-margin")

    class Strange(Hamming):
        form = "strange"

    with pytest.raises(ValueError, match="cannot be trained for a loss of form"):
        replace(problem, loss=Strange())


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@given(weight=st.floats(0.05, 20.0), above=st.floats(1e-3, 5.0), seed=seeds)
@settings(max_examples=50)
def test_no_output_below_the_line_violates_more(criterion, weight, above, seed):
    """`line_reaching` is the least value at which `line_bound` gets to `above`."""
    rng = np.random.default_rng(seed)
    value = criterion.line_reaching(weight, above)
    delta = rng.uniform(size=300)
    margin = weight * delta - value + rng.exponential(0.1, size=300)
    assert criterion.value(delta, margin).max() <= above + 1e-9
    delta = np.append(0.0, np.geomspace(1e-6, 1.0, 20_001))
    reached = criterion.value(delta, weight * delta - value).max()
    assert reached == pytest.approx(above, rel=1e-3)
    if not criterion.linear:
        bound = criterion.line_bound(*map(np.array, (weight, value, 1.0)))
        assert bound == pytest.approx(above)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_margins_that_a_violation_needs(criterion):
    delta = np.linspace(0.1, 1.0, 10)
    margin = criterion.most_margin(0.3, delta)
    np.testing.assert_allclose(criterion.value(delta, margin), 0.3)
    assert (criterion.value(delta, margin - 0.01) > 0.3).all()
