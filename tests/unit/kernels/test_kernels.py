"""Kernel functions, Gram columns, maps, preimages and growing bases."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from maxmargin.kernels import (
    Columns,
    Function,
    Joint,
    Linear,
    NotSemidefiniteError,
    Polynomial,
    Precomputed,
    Rbf,
    check_semidefinite,
    exact,
    extend,
    fixed_point,
    held,
    incomplete_cholesky,
    map_to,
    named_kernel,
    nystroem,
    refine,
    refuse_large,
    residual,
)
from maxmargin.solvers.kernel import descend
from maxmargin.solvers.kernel.moving_points import _objective

KERNELS = [Linear(), Polynomial(2), Polynomial(3, 0.5, 0.2), Rbf(0.7)]
smooth = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@smooth
def test_sparse_and_dense_rows_have_the_same_values(kernel, rng):
    a, b = rng.normal(size=(5, 4)), rng.normal(size=(3, 4))
    values = kernel(sp.csr_array(a), sp.csr_array(b))
    assert np.allclose(values, kernel(a, b))
    assert np.allclose(kernel.diagonal(a), kernel(a, a).diagonal())
    assert np.allclose(kernel.diagonal(sp.csr_array(a)), kernel(a, a).diagonal())
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_sums_products_and_functions(rng):
    a = rng.normal(size=(4, 2))
    both = Linear() + Rbf(1.0) * Polynomial(2)
    assert np.allclose(both(a, a), a @ a.T + Rbf(1.0)(a, a) * Polynomial(2)(a, a))
    assert np.allclose(both.diagonal(a), both(a, a).diagonal())
    own = named_kernel(lambda p, q: p @ q.T)
    assert np.allclose(own(a, a), a @ a.T)
    with pytest.raises(ValueError, match=r"shape \(4,\)"):
        Function(lambda p, q: p[:, 0])(a, a)
    with pytest.raises(TypeError, match="neither a name nor a function"):
        named_kernel(3)


def test_joint_kernel_is_the_product_of_input_and_output_kernels(rng):
    """Proposition 21: <phi (x) Lambda, phi' (x) Lambda'> = K L."""
    x, outputs = rng.normal(size=(6, 3)), rng.normal(size=(4, 2))
    y = rng.integers(0, 4, 6)
    psi = np.einsum("if,ig->ifg", x, outputs[y]).reshape(6, -1)
    joint = Joint(Linear(), outputs @ outputs.T)
    assert np.allclose(joint((x, y), (x, y)), psi @ psi.T)


def test_kernels_that_are_no_inner_product_are_refused(rng):
    X = rng.normal(size=(30, 3))
    check_semidefinite(Rbf(1.0), X)
    with pytest.raises(NotSemidefiniteError, match="eigenvalue"):
        check_semidefinite(Function(lambda a, b: -(a @ b.T)), X)
    with pytest.raises(NotSemidefiniteError, match="not symmetric"):
        check_semidefinite(Function(lambda a, b: a @ b.T + a[:, :1]), X)
    with pytest.raises(NotSemidefiniteError, match="a square is left"):
        exact(Function(lambda a, b: np.tanh(3 * a @ b.T - 1)), X)


def test_memory_is_bounded_and_refusals_say_what_to_do():
    X = np.random.default_rng(1).normal(size=(50, 3))
    columns = Columns(Rbf(1.0), X, memory=5 * 8 * 50 / 0.8)
    full = Rbf(1.0)(X, X)
    for i in [*range(10), 3, 3, 20]:
        assert np.allclose(columns.store[columns.place(i)], full[i])
        assert columns.nbytes <= 5 * 8 * 50
    assert columns.made == 12  # 3 had been thrown out, then was there
    keep = columns.place(7)
    for i in range(30, 40):
        columns.place(i, keep=7)
        assert columns.where[7] == keep
    with pytest.raises(MemoryError, match=r"0.08 MB.*kernel_method='cpsp'"):
        exact(Rbf(1.0), X, memory=1e4)
    with pytest.raises(MemoryError, match=r"800.0 GB, more than the 4.0 GB"):
        refuse_large(10**6, 10**5, 4e9, "it", "do not")


@smooth
def test_maps_reproduce_the_kernel_in_their_span(kernel, rng):
    X = rng.normal(size=(40, 3))
    gram = kernel(X, X)
    phi, values = exact(kernel, X)
    assert np.allclose(values @ values.T, gram, atol=1e-6 * gram.max())
    assert np.allclose(phi(X), values, atol=1e-6)
    few, own = incomplete_cholesky(kernel, X, 12)
    assert np.allclose(few(X), own, atol=1e-6)
    for phi in (few, nystroem(kernel, X, 12, seed=3)):
        # Projection: dense least squares on the coordinates of the exact map.
        basis = exact(kernel, X)[0](phi.points)
        project = np.linalg.pinv(basis) @ basis
        full = exact(kernel, X)[0](X)
        assert np.allclose(phi(X) @ phi(X).T, full @ project @ full.T, atol=1e-5)


def test_incomplete_cholesky_leaves_no_row_as_bad_as_random_points_do(rng):
    X = rng.normal(size=(200, 2))
    gram = Rbf(0.5)(X, X)
    _, values = incomplete_cholesky(Rbf(0.5), X, 15)
    left = (gram - values @ values.T).diagonal().max()
    at_random = nystroem(Rbf(0.5), X, 15, seed=0)(X)
    assert 0 <= left < (gram - at_random @ at_random.T).diagonal().max()


@smooth
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6))
def test_preimage_gradients_are_numeric_gradients(kernel, seed):
    rng = np.random.default_rng(seed)
    X, R, B = rng.normal(size=(8, 5)), rng.normal(size=(8, 2)), rng.normal(size=(3, 5))
    value, slope, beta = held(kernel, X, R, B)
    numeric = approx_fprime(
        B.ravel(), lambda b: held(kernel, X, R, b.reshape(3, 5))[0], 1e-6
    )
    scale = np.abs(numeric).max() + 1e-9
    assert np.allclose(slope.ravel(), numeric, atol=1e-3 * scale)
    # The projection itself, against dense least squares in the span of everything.
    every = exact(kernel, np.vstack((X, B)))[0]
    coordinates = np.linalg.lstsq(every(B).T, every(X).T @ R, rcond=None)[0]
    projected = every(B).T @ coordinates
    assert value == pytest.approx(float((projected**2).sum()), rel=1e-5)
    assert np.allclose(
        every(B).T @ beta, projected, atol=1e-3 * np.abs(projected).max()
    )


@smooth
@settings(deadline=None, max_examples=5)
@given(st.integers(0, 10**6))
def test_the_objective_falls_along_its_numeric_gradient(kernel, seed):
    rng = np.random.default_rng(seed)
    X, goal = rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    b, c, u = rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), rng.normal(size=2)

    def risk(scores, others):
        miss = scores + others - goal
        return 0.5 * float((miss**2).sum()), -miss, -miss.sum(axis=0)

    def value(flat):
        parts = flat[:12].reshape(4, 3), flat[12:20].reshape(4, 2), flat[20:]
        return _objective(kernel, X, risk, *parts)[0]

    start = np.concatenate((b.ravel(), c.ravel(), u))
    slopes = _objective(kernel, X, risk, b, c, u)[1]
    numeric = approx_fprime(start, value, 1e-6)
    slope = np.concatenate([s.ravel() for s in slopes])
    assert np.allclose(slope, numeric, atol=2e-4 * np.abs(numeric).max())
    better = np.concatenate([
        p.ravel() for p in descend(kernel, X, risk, b, c, u, 30)
    ])  # fmt: skip
    assert value(better) < value(start)


def test_refined_points_hold_more_and_a_fixed_point_is_stationary(rng):
    X, R = rng.normal(size=(60, 2)), np.abs(rng.normal(size=(60, 1)))
    start = X[:4].copy()
    moved = refine(Rbf(0.5), X, R, start)
    assert held(Rbf(0.5), X, R, moved)[0] > 1.05 * held(Rbf(0.5), X, R, start)[0]
    point = fixed_point(Rbf(0.5), X, R, X[0], steps=500)
    value, slope, _ = held(Rbf(0.5), X, R, point[None, :])
    assert np.abs(slope).max() < 1e-3 * value


def test_a_basis_grows_towards_the_expansion(rng):
    X = rng.normal(size=(300, 2))
    R = np.zeros((300, 2))
    R[:50] = rng.normal(size=(50, 2))
    rows, kernel = np.arange(50), Rbf(0.5)
    ids = extend(kernel, X, rows, R[rows], None, 10, np.random.default_rng(5))
    assert len(set(ids)) == 10 and ids.max() < 50
    again = extend(kernel, X, rows, R[rows], None, 10, np.random.default_rng(5))
    assert ids.tolist() == again.tolist()
    phi, _ = map_to(kernel, X, ids)
    whole, left, _ = residual(kernel, X, rows, R[rows], phi, rng)
    gram = kernel(X[rows], X[rows])
    norm = float(np.vdot(R[rows], gram @ R[rows]))
    held_part = float(((phi(X[rows]).T @ R[rows]) ** 2).sum())
    assert whole == pytest.approx(norm)
    assert left == pytest.approx(norm - held_part, abs=1e-8 * norm)
    by_chance, _ = map_to(kernel, X, np.arange(10))
    assert left < residual(kernel, X, rows, R[rows], by_chance, rng)[1]
    more = extend(kernel, X, rows, R[rows], phi, 5, rng)
    assert not set(more) & set(ids)


def test_residuals_from_some_rows_have_the_right_expectation(rng):
    X, R = rng.normal(size=(120, 2)), rng.normal(size=(120, 1))
    phi, rows = nystroem(Rbf(0.5), X, 8), np.arange(120)
    left = residual(Rbf(0.5), X, rows, R, phi, rng)[1]
    drawn = [residual(Rbf(0.5), X, rows, R, phi, rng, most=40)[1] for _ in range(300)]
    assert np.mean(drawn) == pytest.approx(left, rel=0.1)


def test_precomputed_points_are_row_numbers(rng):
    X = rng.normal(size=(20, 3))
    own, kernel = Polynomial(2), Precomputed()
    gram = own(X, X)
    _, values = exact(kernel, gram)
    assert np.allclose(values @ values.T, gram, atol=1e-7)
    few, _ = incomplete_cholesky(kernel, gram, 5)
    same, _ = incomplete_cholesky(own, X, 5)
    assert np.allclose(few(gram), same(X))
