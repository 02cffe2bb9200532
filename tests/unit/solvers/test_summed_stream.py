"""SDCD in batches: `partial_fit` with the linear summed error."""

import io
import warnings

import numpy as np
import pytest
from small.problems import chain_problem, optimum

from maxmargin import ChainSVM, MulticlassSVM, load
from maxmargin.solvers import Status
from maxmargin.solvers.summed import SummedStream


def words(seed, n):
    rng = np.random.default_rng(seed)
    Y = [rng.integers(3, size=4).tolist() for _ in range(n)]
    X = [1.5 * np.eye(3)[y] + 0.7 * rng.normal(size=(4, 3)) for y in Y]
    return X, Y


def test_one_batch_is_the_dense_optimum():
    problem = chain_problem(1, n=6, C=0.2, penalty="summed")
    best, w = optimum(problem)
    result, state = SummedStream(tol=1e-6, k=40, outside=0.0).solve(problem)
    assert result.status is Status.CONVERGED
    assert result.certificate == "reduced"
    assert result.dual == pytest.approx(best, rel=1e-5)
    assert np.linalg.norm(result.w - w) <= 1e-2 * np.linalg.norm(w)
    np.testing.assert_allclose(state.blocks.weights(), state.w, atol=1e-9)
    assert all(a.max(initial=0.0) <= 0.2 for a in state.blocks.alphas())


def test_batches_come_close_to_training_on_all():
    X, Y = words(2, 60)
    test = words(3, 200)
    settings = {"C": 0.05, "penalty": "summed"}
    whole = ChainSVM(**settings).fit(X, Y)
    model = ChainSVM(**settings)
    for s in range(0, 60, 20):
        model.partial_fit(X[s : s + 20], Y[s : s + 20])
        assert model.result_.converged
    assert model.result_.certificate == "reduced"
    assert "40 before" in model.result_.notes["certifies"]
    assert 0.8 * whole.result_.dual <= model.result_.dual
    assert model.score(*test) >= whole.score(*test) - 0.03


def test_a_model_from_a_file_goes_on():
    X, Y = words(4, 40)
    model = ChainSVM(C=0.05, penalty="summed").fit(X[:30], Y[:30])
    before = model.score(X[30:], Y[30:])
    file = io.BytesIO()
    model.save(file)
    model = load(io.BytesIO(file.getvalue()))
    model.partial_fit(X[30:], Y[30:])
    assert model.score(X[30:], Y[30:]) >= before - 0.03
    assert model.result_.certificate == "reduced"


def test_classes_in_batches():
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=90)
    X = 2.0 * np.eye(3)[y] + 0.5 * rng.normal(size=(90, 3))
    model = MulticlassSVM(C=0.1, penalty="summed")
    for s in range(0, 90, 30):
        model.partial_fit(X[s : s + 30], y[s : s + 30])
    assert model.score(X, y) > 0.95
    assert model.result_.converged


def test_the_algorithm_as_printed_goes_on_in_batches():
    """One step for each y, in order: another path than ours to the same optimum."""
    problem = chain_problem(1, n=6, C=0.2, penalty="summed")
    best, _ = optimum(problem)
    given = {"tol": 1e-6, "k": 40, "outside": 0.0}
    printed, state = SummedStream(as_written=True, **given).solve(problem)
    assert printed.status is Status.CONVERGED
    assert printed.dual == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(state.blocks.weights(), state.w, atol=1e-9)
    ours, _ = SummedStream(**given).solve(problem)
    assert not np.array_equal(ours.w, printed.w)


@pytest.mark.parametrize("make", [ChainSVM, MulticlassSVM])
def test_partial_fit_runs_the_algorithm_that_was_asked_for(make):
    X, Y = words(6, 40)
    if make is MulticlassSVM:
        X, Y = np.vstack(X), np.concatenate(Y)
    found = {}
    for name in ("auto", "sdcd", "sdcd-as-written"):
        model = make(C=0.05, penalty="summed", solver=name, tol=1e-2)
        for s in (slice(0, 20), slice(20, 40)):
            model.partial_fit(X[s], Y[s])
        found[name] = model.result_
    assert np.array_equal(found["auto"].w, found["sdcd"].w)
    assert not np.array_equal(found["sdcd"].w, found["sdcd-as-written"].w)


def test_partial_fit_says_which_solvers_it_does_not_use():
    X, Y = words(7, 20)
    others = (
        ("lse-n-slack", "summed", "LSENSlack"),
        ("one-slack", "linear", "OneSlack"),
    )
    for name, penalty, solver in others:
        model = ChainSVM(penalty=penalty, solver=name)
        with pytest.warns(UserWarning, match=f"partial_fit .* {solver} is not used"):
            model.partial_fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ChainSVM(solver="block-dual").partial_fit(X, Y)
