"""Certificates of models over kernel values, against exact fractions of the model."""

import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.certificates.checks import false
from benchmarks.certificates.exact import exact_primal
from benchmarks.certificates.kernel_problems import KernelClasses
from benchmarks.certificates.more_problems import JointKernels
from maxmargin import StructuralSVM
from maxmargin.kernels import Linear, Polynomial, Precomputed, Rbf
from maxmargin.solvers.certificate import Status


def told(problem, C, form, tol, solver, steps):
    """What is false in the certificate of a fit, and its result."""
    settings = {"C": C, "rescaling": form[0], "penalty": form[1], "tol": tol}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = problem.made(solver=solver, max_iter=steps, **settings)
    exact = exact_primal(problem, model, C, *form)
    return false(model.result_, exact, exact, False, tol, Fraction(0)), model.result_


@pytest.mark.parametrize(
    ("number", "scale", "C", "form", "tol", "solver", "steps"),
    [
        (5023, 1e-3, 1e10, ("slack", "linear"), 1e-4, "n-slack", 30),
        (5058, 1e4, 1e4, ("margin", "linear"), 1e-7, "one-slack", 300),
        (7025, 1e-3, 1e9, ("margin", "squared"), 1e-12, "n-slack", 30),
    ],
)
def test_badly_conditioned_joint_kernels(number, scale, C, form, tol, solver, steps):
    """Objectives of coordinates were 5 % and 7e-7 below those of the models."""
    problem = JointKernels(np.random.default_rng(10**9 + number), scale)
    what, result = told(problem, C, form, tol, solver, steps)
    assert not what.startswith("false"), what
    assert np.isfinite(result.rounding)


@pytest.mark.parametrize(
    ("number", "scale", "C", "form", "tol", "solver"),
    [
        (20000, 1e4, 1e3, ("margin", "summed"), 1e-11, "auto"),
        (20008, 0.1, 1e9, ("slack", "linear"), 1e-9, "one-slack"),
    ],
)
def test_badly_conditioned_maps_of_a_kernel(number, scale, C, form, tol, solver):
    """A basis whose points are nearly dependent; functions that rows are drawn for."""
    problem = KernelClasses(np.random.default_rng(10**9 + number), scale)
    what, _ = told(problem, C, form, tol, solver, 300)
    assert not what.startswith("false"), what


def test_easy_problems_converge_as_before():
    problem = JointKernels(np.random.default_rng(0), 1.0)
    what, result = told(problem, 1.0, ("margin", "linear"), 1e-3, "auto", 300)
    assert what == "true"
    assert result.status is Status.CONVERGED
    assert result.rounding < 1e-9 * result.primal


def test_a_path_is_certified_at_each_C():
    problem = JointKernels(np.random.default_rng(1), 1.0)

    def model():
        from benchmarks.certificates.more_problems import Choice

        return StructuralSVM(Choice(), kernel=Polynomial(2), tol=1e-6)

    path = model().fit_path(problem.X, problem.y, Cs=[0.1, 10.0])
    for C, made in zip([0.1, 10.0], path, strict=True):
        alone = model().set_params(C=C).fit(problem.X, problem.y).result_
        result = getattr(made, "result_", made)
        assert result.primal == pytest.approx(alone.primal, rel=1e-5)


def test_shares_of_rounding_by_kernel():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert Precomputed().rounding(X) == 0.0
    assert Linear().rounding(X) < Polynomial(3).rounding(X) < 1e-14
    near, far = Rbf(0.5).rounding(X), Rbf(0.5).rounding(X + 3e4)
    assert near < 1e-14 < 1e-8 < far
    exact = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert np.abs(Rbf(0.5)(X, X) - exact).max() <= near
    assert np.abs(Rbf(0.5)(X + 3e4, X + 3e4) - exact).max() <= far
    both = Rbf(0.5) * Polynomial(2)
    assert both.rounding(X) > max(near, Polynomial(2).rounding(X))
    assert (Rbf(0.5) + Polynomial(2)).rounding(X) < both.rounding(X)
