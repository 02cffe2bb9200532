"""Rows drawn from expansions, and functions that are sums over them."""

import numpy as np
import pytest

from maxmargin import KernelSVM
from maxmargin.kernels import Functions, Polynomial, Rbf, draw, tree_order


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("labels", [1, 3])
def test_draws_along_an_order_have_the_expansion_as_expectation(rng, labels):
    R = np.where(rng.random((30, labels)) < 0.6, rng.normal(size=(30, labels)), 0.0)
    place, total, runs = rng.permutation(30), np.zeros_like(R), 4000
    for _ in range(runs):
        ids, S = draw(R, 8, rng, place)
        assert len(set(ids.tolist())) == len(ids) <= 8
        total[ids] += S / runs
    assert np.allclose(total, R, atol=0.15)


def test_draws_along_the_tree_vary_less_than_independent_ones(rng):
    X, kernel = rng.random((400, 2)), Rbf(10.0)
    R = np.where(X[:, :1] > 0.5, 1.0, -1.0)
    gram = kernel(X, X)
    place = tree_order(kernel, X, rng)
    assert sorted(place.tolist()) == list(range(400))

    def spread(sample):
        out = 0.0
        for _ in range(30):
            ids, S = sample()
            miss = -R.copy()
            miss[ids] += S
            out += float(np.vdot(miss, gram @ miss))
        return out

    def independent():
        ids, times = np.unique(rng.integers(0, 400, 40), return_counts=True)
        return ids, R[ids] * (10.0 * times)[:, None]

    assert spread(lambda: draw(R, 40, rng, place)) < 0.3 * spread(independent)


@pytest.mark.parametrize("kernel", [Rbf(0.5), Polynomial(2)], ids=repr)
def test_functions_are_orthonormal_sums_with_their_values(kernel, rng):
    X = rng.normal(size=(60, 3))
    gram, span = kernel(X, X), Functions(kernel, X)
    R = rng.normal(size=(60, 2))
    for _ in range(2):
        ids, S = draw(R, 15, rng)
        made = span.sums(ids, S, 3, R)
        assert np.allclose(made.at, gram[ids] @ R)
        assert span.add(ids, made)
    C = np.zeros((60, span.width))
    np.add.at(C, span.ids, span.coefficients)
    assert np.allclose(gram @ C, span.values, atol=1e-7)
    assert np.allclose(C.T @ gram @ C, np.eye(span.width), atol=1e-6)
    weights = rng.normal(size=(span.width, 2))
    rows, beta = span.expansion(weights)
    scores = span.values @ weights
    assert np.allclose(gram[:, rows] @ beta, scores, atol=1e-6)
    span.reduce(weights, 8)
    assert span.width <= 8
    inside = span.values @ (np.linalg.lstsq(span.values, scores, rcond=None)[0])
    assert np.allclose(inside, scores, atol=1e-6)  # the machine is still in the span


def test_turns_lower_the_objective_to_near_the_optimum(rng):
    X = rng.random((1500, 2))
    y = np.where(np.floor(3 * X).sum(axis=1) % 2 == 0, 1, -1)
    options = {"C": 1.0, "kernel": Rbf(20.0), "fit_intercept": False}
    best = KernelSVM(**options, tol=1e-4).fit(X, y).result_
    model = KernelSVM(
        **options, kernel_method="sampled", n_basis=100, tol=1e-2, random_state=0
    ).fit(X, y)
    primal = [row["primal"] for row in model.basis_trace_]
    assert np.all(np.diff(primal) < 0.02 * primal[0])
    assert best.dual <= model.result_.primal <= 1.02 * best.primal
    assert model.result_.certificate == "estimate"
    # With room for two turns only, functions are put together and training goes on.
    tight = KernelSVM(
        **options, kernel_method="sampled", n_basis=100, tol=1e-2, random_state=0,
        memory=8 * 1500 * 4 * 50, max_iter=12,
    ).fit(X, y)  # fmt: skip
    assert max(row["size"] for row in tight.basis_trace_) <= 50
    assert tight.result_.primal <= 1.1 * best.primal


def test_nothing_to_draw_is_no_function(rng):
    X, R = rng.normal(size=(5, 2)), np.zeros((5, 2))
    ids, S = draw(R, 3, rng)
    assert ids.shape == (0,) and S.shape == (0, 2)
    span = Functions(Rbf(1.0), X)
    assert not span.add(ids, span.sums(ids, S, 4, R)) and span.width == 0
