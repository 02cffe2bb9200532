"""The bound on rounding errors that a certificate includes."""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from small.problems import chain_problem

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.certificates.exact import exact_primal
from benchmarks.certificates.more_problems import Dependencies
from maxmargin.core.problem import summation_error
from maxmargin.solvers import OneSlack
from maxmargin.solvers.base import relative_gap
from maxmargin.solvers.certificate import Status


def test_sums_in_any_order_are_within_the_bound():
    rng = np.random.default_rng(0)
    for size in (3, 50, 2000):
        terms = rng.normal(size=size)
        exact = sum(map(Fraction, terms.tolist()))
        allowed = summation_error(size) * float(np.abs(terms).sum())
        for _ in range(20):
            total = 0.0
            for term in rng.permutation(terms).tolist():
                total += term
            assert abs(float(Fraction(total) - exact)) <= allowed


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["one-slack", "cocoa", "n-slack"])
def test_a_large_C_makes_rounding_errors_count(solver):
    """The primal was off by up to 6e-5 of itself, and said to be exact to 1e-16."""
    problem = Dependencies(np.random.default_rng(6), 1.0)
    settings = {"rescaling": "margin", "penalty": "linear", "tol": 1e-4}
    model = problem.made(C=1e9, solver=solver, max_iter=300, **settings)
    result = model.result_
    exact = exact_primal(problem, model, 1e9, "margin", "linear")
    off = abs(float(Fraction(result.primal) - exact))
    assert 0.0 < off <= result.rounding
    assert result.gap == relative_gap(result.primal, result.dual, result.rounding)
    assert not result.converged
    if solver != "n-slack":
        assert result.status is Status.ROUNDING
        assert "rounding" in result.status.value


def test_rounding_does_not_matter_at_usual_settings():
    result = OneSlack(tol=1e-9, max_iter=500).solve(chain_problem(0)).result
    assert result.converged
    assert 0.0 < result.rounding < 1e-12 * result.primal
    assert result.gap == relative_gap(result.primal, result.dual, result.rounding)


def test_without_a_primal_there_is_no_gap():
    assert relative_gap(np.inf, 0.0) == np.inf
    assert relative_gap(2.0, 1.0, float("nan")) == 0.5


class Coarse(OneSlack):
    """Its primal is known to half a tolerance only: a bound as kernel machines have."""

    def rounding(self, problem, state):
        return 0.5e-3 * state.primal


class Coarser(OneSlack):
    """Rounding errors as large as the tolerance."""

    def rounding(self, problem, state):
        return 1e-3 * state.primal


def test_training_goes_on_until_the_gap_with_rounding_is_small_enough():
    """It ended as soon as the gap without rounding was, and blamed the tolerance."""
    gaps = []
    for seed in range(5):
        run = Coarse(tol=1e-3).solve(chain_problem(seed=seed))
        assert run.result.status is Status.CONVERGED
        gaps.append(run.result.gap)
    assert 0.5e-3 < max(gaps) <= 1e-3
    ended = Coarser(tol=1e-3).solve(chain_problem(seed=0)).result.status
    assert ended is Status.ROUNDING
