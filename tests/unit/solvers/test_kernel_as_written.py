"""Algorithms 6.2 and 6.3 of Yu 2011 as printed, beside plain transcriptions of them."""

import numpy as np
import pytest
from small.problems import multiclass_problem

from maxmargin import ChainSVM, KernelSVM
from maxmargin.kernels import GrowingBasis, Linear, Polynomial, Precomputed, Rbf, held
from maxmargin.kernels.maps import map_points
from maxmargin.solvers import Status, maximise
from maxmargin.solvers.enumerated import KernelDual
from maxmargin.solvers.kernel import (
    BinarySmo,
    SampledCuts,
    SampledCutsAsWritten,
    Subspace,
    SubspaceAsWritten,
)
from maxmargin.solvers.kernel.theorems import expected_sampled_cuts

C, GAMMA, EPSILON = 2.0, 2.0, 1e-2


def board(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 3, size=(n, 2))
    return X, np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)


def machine(method, X, y, **given):
    """Without a constant, as in the thesis."""
    return KernelSVM(
        C, gamma=GAMMA, kernel_method=method, fit_intercept=False, tol=EPSILON, **given
    ).fit(X, y)


def qp(H, c, alpha, C):
    """The dual QP of the algorithms; alpha and xi, in the units of the thesis."""
    alpha = C * maximise(C * C * H, C * c, np.append(alpha, 0.0) / C, 1.0)
    return alpha, (alpha @ c - alpha @ H @ alpha) / C


def printed_6_2(X, y, k, seed=0):
    """Algorithm 6.2, with C of the thesis; primal values and the number of cuts."""
    n, whole = len(y), C * len(y)
    K, rng = Rbf(GAMMA)(X, X), np.random.default_rng(seed)
    G, c, alpha, xi = np.zeros((0, n)), np.zeros(0), np.zeros(0), 0.0  # rows of G: g^
    values = []
    while True:
        if len(c):
            alpha, xi = qp(G @ K @ G.T, c, alpha[: len(c) - 1], whole)
        w = alpha @ G if len(c) else np.zeros(n)
        f = K @ w
        bar = np.where(f - y > 0, 1, -1)
        g, height = (y - bar) / (2.0 * n), np.abs(y - bar).sum() / (2.0 * n)
        values.append(0.5 * w @ f + whole * np.maximum(1 - y * f, 0).mean())
        if f @ g >= height - xi - EPSILON:
            return values
        own = np.flatnonzero(y != bar)
        drawn = own[rng.integers(0, len(own), k)]
        sampled = np.zeros(n)
        np.add.at(sampled, drawn, len(own) / (2.0 * n * k) * (y - bar)[drawn])
        G, c = np.vstack([G, sampled]), np.append(c, height)


@pytest.mark.parametrize("k", [5, 40])
def test_algorithm_6_2_makes_the_printed_steps(k):
    X, y = board()
    values = printed_6_2(X, y, k)
    one = SampledCutsAsWritten(
        kernel=Rbf(GAMMA), samples=k, epsilon=EPSILON, patience=10**6
    )
    made = KernelSVM(C, kernel=Rbf(GAMMA), kernel_method="sampled", fit_intercept=False)
    problem = made._problem(*made._training_data(X, y, None)[:4])
    result, state = one.solve(problem)
    assert result.status is Status.WITHIN_EPSILON
    assert state.made == len(values) - 1 == result.notes["cuts_added"]
    np.testing.assert_allclose(
        [row["primal"] for row in result.trace], values, rtol=1e-6
    )
    # The matrix A holds the products of all cuts with all rows.
    for cut in state.held:
        np.testing.assert_allclose(cut.values, Rbf(GAMMA)(X, X[cut.ids]) @ cut.S)


def test_algorithm_6_2_is_within_theorem_6_2_and_theorem_6_1():
    X, y = board()
    best = machine("exact", X, y, solver="block-dual").result_.dual
    model = machine("sampled-as-written", X, y, n_basis=30)
    result = model.result_
    assert result.certificate == "estimate" and result.status.as_asked
    assert best * (1 - 1e-9) <= result.primal <= best + result.notes["theorem 6.2"]
    assert result.notes["functions"] == len(model.expansion_.beta)
    n, cuts = (
        len(y),
        result.notes["cuts_added"],
    )  # phi(x) of the RBF kernel has length 1
    most = expected_sampled_cuts(EPSILON, 30, C * n, 1.0)
    assert result.notes["theorem 6.1"] == pytest.approx(most)
    assert 0 < cuts <= most
    again = machine("sampled-as-written", X, y, n_basis=30)
    assert again.result_.primal == result.primal
    f = model.decision_function(X).ravel() * np.where(model.classes_[1] == 1, 1, -1)
    risk = C * np.maximum(1 - y * f, 0).sum()
    square = float(
        model.expansion_.beta.ravel()
        @ Rbf(GAMMA)(model.basis_, model.basis_)
        @ model.expansion_.beta.ravel()
    )
    assert result.primal == pytest.approx(0.5 * square + risk, rel=1e-6)


def printed_6_3(X, y, most, seed=0):
    """Algorithm 6.3 with 59 candidates (CPSP(tr)); primal values by iteration."""
    n, whole = len(y), C * len(y)
    K, rng = Rbf(GAMMA)(X, X), np.random.default_rng(seed)
    cuts, c, alpha, xi, basis, values = [], np.zeros(0), np.zeros(0), 0.0, [], []
    while True:
        if cuts:
            B = K[np.ix_(basis, basis)]
            beta = np.linalg.solve(B, K[basis] @ np.array(cuts).T)  # (basis, cuts)
            alpha, xi = qp(beta.T @ B @ beta, c, alpha[: len(c) - 1], whole)
            f = K[:, basis] @ (beta @ alpha)
            square = (beta @ alpha) @ B @ (beta @ alpha)
        else:
            f, square = np.zeros(n), 0.0
        bar = np.where(f - y > 0, 1, -1)
        g, height = (y - bar) / (2.0 * n), np.abs(y - bar).sum() / (2.0 * n)
        values.append(0.5 * square + whole * np.maximum(1 - y * f, 0).mean())
        if f @ g >= height - xi - EPSILON:
            return values, basis
        cuts, c = [*cuts, g], np.append(c, height)
        if len(basis) < most:
            left = K @ g
            if basis:
                left = left - K[:, basis] @ np.linalg.solve(
                    K[np.ix_(basis, basis)], K[basis] @ g
                )
            drawn = rng.permutation(n)[:59]
            basis.append(int(drawn[np.argmax(left[drawn] ** 2)]))


def test_algorithm_6_3_makes_the_printed_steps():
    X, y = board(80)
    values, basis = printed_6_3(X, y, most=12)
    model = machine("cpsp-as-written", X, y, n_basis=12, basis="train")
    trace = model.basis_trace_
    np.testing.assert_allclose([row["primal"] for row in trace], values, rtol=1e-5)
    np.testing.assert_allclose(model.basis_, X[basis])
    assert [row["size"] for row in trace][:14] == [*range(13), 12]
    assert model.result_.iterations <= model.result_.notes["theorem 6.3"]


@pytest.mark.parametrize("basis", ["free", "train"])
def test_cpsp_as_written_is_within_theorem_6_4(basis):
    X, y = board()
    best = machine("exact", X, y, solver="block-dual").result_
    few = machine("cpsp-as-written", X, y, n_basis=10, basis=basis).result_
    assert few.certificate == "basis"
    assert best.dual * (1 - 1e-9) <= few.primal <= best.dual + few.notes["theorem 6.4"]
    all_rows = machine("cpsp-as-written", X, y, n_basis=60, basis=basis).result_
    assert all_rows.primal < few.primal


def test_a_basis_of_all_rows_reaches_the_optimum_of_the_kernel():
    X, y = board(30)
    best = machine("exact", X, y, solver="block-dual").result_
    solver = SubspaceAsWritten(
        kernel=Rbf(GAMMA), n_basis=30, preimage="train", epsilon=1e-5, max_iter=5000
    )
    model = KernelSVM(C, kernel=Rbf(GAMMA), kernel_method="cpsp", fit_intercept=False)
    problem = model._problem(*model._training_data(X, y, None)[:4])
    result, _ = solver.solve(problem)
    assert result.status is Status.WITHIN_EPSILON
    assert result.primal == pytest.approx(best.dual, rel=2e-2)


def test_chains_and_several_classes_take_both():
    rng = np.random.default_rng(1)
    Y = [rng.integers(3, size=4).tolist() for _ in range(12)]
    X = [np.eye(3)[row] + 0.3 * rng.normal(size=(4, 3)) for row in Y]
    exact = ChainSVM(kernel="rbf", C=1.0).fit(X, Y).result_
    for method in ("sampled-as-written", "cpsp-as-written"):
        model = ChainSVM(kernel="rbf", C=1.0, kernel_method=method, n_basis=20).fit(
            X, Y
        )
        assert model.result_.primal >= exact.dual * (1 - 1e-9)
        assert model.score(X, Y) > 0.8
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    X += 3 * y[:, None]
    model = KernelSVM(kernel_method="cpsp-as-written", n_basis=10).fit(X, y)
    assert model.score(X, y) > 0.9 and len(model.basis_) <= 10


@pytest.mark.parametrize("preimage", ["train", "gradient", "fixed-point"])
def test_an_object_of_the_algorithm_has_all_its_options(preimage):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (3, 4, 3, 4)]
    Y = [(x[:, 0] * x[:, 1] > 0).astype(int).tolist() for x in X]
    solver = SubspaceAsWritten(preimage=preimage, n_basis=4, epsilon=0.01)
    options = {"kernel": Rbf(0.5), "kernel_method": "cpsp-as-written"}
    model = ChainSVM(solver=solver, **options).fit(X, Y)
    assert model.result_.notes["preimages"] == preimage
    assert len(model.basis_) <= 4
    rows = np.concatenate(X)
    among = [bool((rows == point).all(axis=1).any()) for point in model.basis_]
    assert all(among) if preimage == "train" else not all(among)


@pytest.mark.parametrize("method", ["sampled-as-written", "cpsp-as-written"])
def test_other_trainers_are_not_ignored(method):
    X, y = board()
    with pytest.raises(ValueError, match=f"{method}' is a solver of its own: leave"):
        KernelSVM(kernel_method=method, solver="bcfw").fit(X, y)


KERNEL_SOLVERS = [
    BinarySmo, KernelDual, SampledCuts, SampledCutsAsWritten, Subspace,
    SubspaceAsWritten,
]  # fmt: skip


@pytest.mark.parametrize("kind", KERNEL_SOLVERS)
def test_a_kernel_machine_is_no_model_of_weights(kind):
    """Their coefficients of points must not become weights of features."""
    X = [np.eye(2)[[0, 1]], np.eye(2)[[1, 0]]]
    Y = [[0, 1], [1, 0]]
    for options in ({}, {"kernel": "rbf"}, {"kernel": "rbf", "kernel_method": "cpsp"}):
        with pytest.raises(ValueError, match=rf"{kind.__name__}\(\.\.\) trains"):
            ChainSVM(solver=kind(), **options).fit(X, Y)


def test_a_growing_basis_is_the_map_of_its_points():
    rng = np.random.default_rng(0)
    X, R = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    basis = GrowingBasis(Rbf(0.5), X, 6)
    u = np.zeros((0, 2))
    for _ in range(6):
        before = basis.size
        assert basis.add(rng.normal(size=(1, 3)))
        u = np.vstack([u, basis.next_coordinate(R, u)[None, :]])
        np.testing.assert_allclose(u, basis.coordinates(R), atol=1e-10)
        assert basis.size == before + 1
    phi = map_points(Rbf(0.5), basis.points)
    whole = np.linalg.norm(phi(X).T @ R)
    assert np.linalg.norm(u) == pytest.approx(whole, rel=1e-9)
    np.testing.assert_allclose(basis.as_map()(X).T @ R, u, atol=1e-9)
    assert not basis.add(basis.points[[2]])


@pytest.mark.parametrize("kernel", [Rbf(0.5), Polynomial(2, 0.3, 1.0)])
def test_preimages_hold_more_of_the_residual_than_training_rows(kernel):
    rng = np.random.default_rng(0)
    X, R = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    basis = GrowingBasis(kernel, X, 3)
    basis.add(X[:1])
    u = basis.coordinates(R)
    rows = np.concatenate((X, basis.points))
    left = np.concatenate((R, -basis.coefficients(u)))
    hows = ["train", "gradient"] + ["fixed-point"] * isinstance(kernel, Rbf)
    gain = {}
    for how in hows:
        point = basis.preimage(R, u, how, np.random.default_rng(3))
        gain[how] = held(kernel, rows, left, point)[0]
    # With 40 rows all are candidates, so "train" has the best of them.
    best = max(held(kernel, rows, left, X[[i]])[0] for i in range(40))
    assert gain["train"] == pytest.approx(best, rel=1e-6)
    assert all(gain[how] >= gain["train"] * (1 - 1e-9) for how in hows)


def test_what_cannot_be_is_refused():
    problem = multiclass_problem(1)
    with pytest.raises(ValueError, match="needs the RBF kernel"):
        SubspaceAsWritten(kernel=Linear(), preimage="fixed-point").solve(problem)
    with pytest.raises(ValueError, match="differentiable"):
        SubspaceAsWritten(kernel=Precomputed(), preimage="gradient").solve(problem)
    with pytest.raises(ValueError, match="preimage='near' is not known"):
        SubspaceAsWritten(preimage="near").solve(problem)
    X, y = board()
    with pytest.raises(MemoryError, match="allow more memory"):
        machine("sampled-as-written", X, y, memory=1000.0)
    with pytest.raises(MemoryError, match="use fewer n_basis"):
        machine("cpsp-as-written", X, y, memory=1000.0)
    gram = Rbf(GAMMA)(X, X)
    model = KernelSVM(
        C, kernel="precomputed", kernel_method="cpsp-as-written", n_basis=9
    )
    assert model.fit(gram, y).score(gram, y) > 0.7
