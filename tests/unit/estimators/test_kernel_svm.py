"""KernelSVM and kernels inside structures, against SVC and explicit features."""

import time
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import ChainSVM, KernelSVM, MulticlassSVM, NetworkSVM, load, save
from maxmargin.features import Templates
from maxmargin.kernels import (
    Function,
    Linear,
    NotSemidefiniteError,
    Polynomial,
    Rbf,
    draw,
    named_kernel,
)
from maxmargin.solvers import Status
from maxmargin.solvers.kernel import BinarySmo

SCALE = "gamma is scaled to the rows, of which repetition makes more"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": SCALE,
    "check_sample_weight_equivalence_on_sparse_data": SCALE,
}
METHODS = ["exact", "sampled", "cpsp", "nystroem", "cholesky"]
every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def dual_of(svc, X, kernel):
    beta, points = svc.dual_coef_.ravel(), X[svc.support_]
    return np.abs(beta).sum() - 0.5 * beta @ kernel(points, points) @ beta


@parametrize_with_checks(
    [KernelSVM(), KernelSVM(kernel_method="cpsp", n_basis=10)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("memory", [4e9, 8 * 150 * 7])
def test_exact_is_the_dual_of_svc(moons, C, memory):
    X, y = moons
    svc = SVC(C=C, gamma=0.8, tol=1e-8).fit(X, y)
    model = KernelSVM(C, gamma=0.8, tol=1e-7, memory=memory).fit(X, y)
    expected = dual_of(svc, X, Rbf(0.8))
    assert model.result_.dual == pytest.approx(expected, rel=1e-6)
    assert model.result_.gap <= 1e-7
    assert model.result_.notes["bytes"] <= memory
    found, theirs = model.decision_function(X), svc.decision_function(X)
    assert np.allclose(found, theirs, atol=0.05 * np.abs(theirs).max())
    assert np.array_equal(model.predict(X), svc.predict(X))


def test_weights_of_examples_and_classes_as_in_svc(moons):
    X, y = moons
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    svc = SVC(C=1.0, gamma=0.8, tol=1e-8, class_weight={0: 2.0})
    svc.fit(X, y, sample_weight=weight)
    model = KernelSVM(1.0, gamma=0.8, tol=1e-7, class_weight={0: 2.0})
    model.fit(X, y, sample_weight=weight)
    assert model.result_.dual == pytest.approx(dual_of(svc, X, Rbf(0.8)), rel=1e-6)


@every_method
def test_all_methods_agree_where_the_basis_is_large_enough(moons, method):
    X, y = moons
    svc = SVC(C=1.0, gamma=0.8).fit(X, y)
    model = KernelSVM(1.0, gamma=0.8, kernel_method=method, n_basis=60).fit(X, y)
    assert np.mean(model.predict(X) == svc.predict(X)) > 0.97
    best = KernelSVM(1.0, gamma=0.8, tol=1e-6).fit(X, y).result_.primal
    assert model.result_.primal < 1.05 * best
    assert model.basis_.shape[1] == 2
    assert model.dual_coef_.shape == (len(model.basis_), 1)


@every_method
def test_the_same_seed_gives_the_same_machine(moons, method):
    """Up to rounding, which moving points enlarge: sums of threads have no fixed order.

    Rounding the rows in their last digit moves scores of "cpsp" by up to 0.005, another
    seed moves them by more than 0.05.
    """
    X, y = moons
    first, again, other = (
        KernelSVM(kernel_method=method, n_basis=12, tol=1e-6, random_state=s).fit(X, y)
        for s in (3, 3, 4)
    )
    scores = first.decision_function(X)
    assert np.allclose(scores, again.decision_function(X), atol=0.02)
    if method in ("sampled", "cpsp", "nystroem"):  # the others draw nothing
        few = min(len(first.basis_), len(other.basis_))
        assert not np.allclose(first.basis_[:few], other.basis_[:few], atol=0.02)


@every_method
def test_several_classes(iris, method):
    X, y = iris
    model = KernelSVM(kernel_method=method, n_basis=30).fit(X, y)
    assert model.score(X, y) > 0.93
    assert model.decision_function(X).shape == (150, 3)
    assert model.intercept_.shape == (3,)
    single = MulticlassSVM(1.0, kernel="rbf", kernel_method=method, n_basis=30)
    assert np.array_equal(single.fit(X, y).predict(X), model.predict(X))


def test_linear_and_polynomial_kernels_are_their_features(iris):
    X, y = iris
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"C": 0.1, "tol": 1e-6}
    plain = MulticlassSVM(**options).fit(X, y)
    linear = MulticlassSVM(**options, kernel="linear").fit(X, y)
    assert linear.result_.dual == pytest.approx(plain.result_.dual, rel=1e-5)
    assert np.allclose(
        linear.decision_function(X), plain.decision_function(X), atol=1e-3
    )
    squares = np.einsum("if,ig->ifg", X, X).reshape(len(X), -1)
    explicit = MulticlassSVM(**options).fit(squares, y)
    quadratic = MulticlassSVM(**options, kernel=Polynomial(2, 1.0, 0.0)).fit(X, y)
    assert quadratic.result_.dual == pytest.approx(explicit.result_.dual, rel=1e-5)


def test_few_free_points_do_better_than_rows(moons):
    X, y = moons

    def value(**options):
        model = KernelSVM(1.0, gamma=0.8, n_basis=6, tol=1e-4, **options)
        return model.fit(X, y).result_.primal

    free = value(kernel_method="cpsp")
    assert free < value(kernel_method="cpsp", basis="train")
    assert free < value(kernel_method="nystroem")
    assert free < value(kernel_method="cholesky")


def test_bounds_hold(moons):
    """The optimum in the span is within the bounds of the exact one."""
    X, y = moons
    options = {"gamma": 0.8, "tol": 1e-5, "fit_intercept": False}
    best = KernelSVM(1.0, **options).fit(X, y).result_.dual
    model = KernelSVM(1.0, kernel_method="cpsp", n_basis=10, **options).fit(X, y)
    last = model.basis_trace_[-1]
    excess = model.result_.primal - best
    assert 0 <= excess <= last["bound"] + 1e-9 <= last["theorem 6.4"] + 1e-9
    assert last["size"] == 10 and last["delta"] < last["norm"]
    # One cut per turn, projected onto the final basis; the theorem takes the worst.
    worst = max(row["cut delta"] for row in model.basis_trace_)
    assert last["theorem 6.4"] >= worst * np.sqrt(2 * 150) > 0
    primal = [row["primal"] for row in model.basis_trace_]
    assert primal[-1] < primal[0]
    sampled = KernelSVM(1.0, kernel_method="sampled", n_basis=50, **options)
    sampled.set_params(tol=1e-2).fit(X, y)
    assert sampled.result_.primal - best <= 2e-2 * sampled.result_.primal
    assert "theorem 6.2" not in sampled.result_.notes  # it is about another algorithm


def test_sampled_cuts_have_the_cut_as_expectation():
    rng = np.random.default_rng(0)
    R = np.where(rng.random((40, 2)) < 0.5, rng.normal(size=(40, 2)), 0.0)
    total, runs = np.zeros_like(R), 4000
    for _ in range(runs):
        ids, S = draw(R, 10, rng)
        assert len(ids) <= 10 and np.any(R[ids], axis=1).all()
        np.add.at(total, ids, S / runs)
    assert np.allclose(total, R, atol=5 * np.abs(R).max() * np.sqrt(4 / runs))
    ids, S = draw(R, 100, rng)  # fewer rows than samples: all of them
    assert np.allclose(S, R[ids])


@every_method
def test_precomputed_values(moons, method):
    X, y = moons
    train, test = np.arange(100), np.arange(100, 150)
    gram = Rbf(0.8)(X, X)
    own = KernelSVM(kernel=Rbf(0.8), kernel_method=method, n_basis=15, basis="train")
    own.fit(X[train], y[train])
    given = KernelSVM(
        kernel="precomputed", kernel_method=method, n_basis=15, basis="train"
    )
    given.fit(gram[np.ix_(train, train)], y[train])
    found = given.decision_function(gram[np.ix_(test, train)])
    assert np.allclose(found, own.decision_function(X[test]), atol=0.05)
    with pytest.raises(ValueError, match="square matrix"):
        KernelSVM(kernel="precomputed", kernel_method=method).fit(X, y)


def test_a_function_and_sparse_rows(moons):
    X, y = moons
    own = KernelSVM(kernel=lambda a, b: Rbf(0.8)(a, b)).fit(X, y)
    named = KernelSVM(kernel="rbf", gamma=0.8).fit(sp.csr_array(X), y)
    assert np.allclose(own.decision_function(X), named.decision_function(X), atol=1e-6)
    basis = KernelSVM(kernel=lambda a, b: Rbf(0.8)(a, b), kernel_method="cpsp")
    assert len(basis.set_params(n_basis=9).fit(X, y).basis_) == 9


@pytest.mark.parametrize("method", ["exact", "cpsp"])
def test_machines_are_saved_and_loaded(moons, iris, method, tmp_path):
    for X, y in (moons, iris):
        model = KernelSVM(kernel_method=method, n_basis=9).fit(X, y)
        save(model, tmp_path / "machine")
        again = load(tmp_path / "machine")
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
    X, Y = sequences(10)
    chain = ChainSVM(kernel="quadratic", kernel_method=method, n_basis=9).fit(X, Y)
    save(chain, tmp_path / "chain")
    assert list(load(tmp_path / "chain").predict(X)) == list(chain.predict(X))


def test_what_is_no_kernel_is_said(moons):
    X, y = moons
    with pytest.raises(NotSemidefiniteError, match="not positive semi-definite"):
        KernelSVM(kernel=lambda a, b: -(a @ b.T)).fit(X, y)
    # Where no check looked, the dual finds out.
    bad = Function(lambda a, b: -Rbf(1.0)(a, b))
    model = KernelSVM()
    problem = model._plan(model._training_data(X, y, None)).problem
    assert BinarySmo(kernel=bad).solve(problem).result.status is Status.NOT_SEMIDEFINITE


def test_wrong_choices_and_memory_are_refused(moons, iris):
    X, y = moons
    with pytest.raises(ValueError, match="kernel_method='magic' is not known"):
        KernelSVM(kernel_method="magic").fit(X, y)
    with pytest.raises(ValueError, match="basis='any'"):
        KernelSVM(kernel_method="cpsp", basis="any").fit(X, y)
    with pytest.raises(ValueError, match="n_basis=0: a whole number, at least 1"):
        KernelSVM(kernel_method="cpsp", n_basis=0).fit(X, y)
    for method in ("exact", "sampled", "cpsp", "cholesky"):
        with pytest.raises(MemoryError, match=r"needs .* MB, more than"):
            KernelSVM(kernel_method=method, memory=1e3).fit(*iris)
    model = KernelSVM(kernel_method="cpsp", n_basis=5).fit(X, y)
    with pytest.raises(AttributeError, match="see basis_"):
        _ = model.support_
    assert KernelSVM().fit(X, y).support_.max() < len(y)


@every_method
def test_memory_stays_within_the_bound(method):
    n = 900 if method == "exact" else 6000
    X = np.random.default_rng(0).normal(size=(n, 4))
    y = np.arange(n) % 3
    size = 8 * n * {"exact": 4 * n, "sampled": 4 * 60}.get(method, 3 * 100)
    model = KernelSVM(kernel_method=method, n_basis=100, tol=0.3, memory=size + 16)
    model.fit(X, y)  # compiled
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    slack = 4e6  # inputs, dual variables, blocks of kernel values
    assert peak < size + slack
    with pytest.raises(
        MemoryError, match=r"needs .* MB, more than the .* MB allowed: "
    ):
        few = 15.0 * n if method == "exact" else size / 3  # not even two columns
        model.set_params(memory=few).fit(X, y)


def sequences(n=25, seed=0):
    """Labels that follow each other, tokens that are told apart by products."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        length = rng.integers(2, 6)
        x = rng.choice([-1.0, 1.0], size=(length, 3))
        y = (x[:, 0] * x[:, 1] > 0).astype(int)
        X.append(x + 0.1 * rng.normal(size=x.shape))
        Y.append(["ab"[k] for k in y])
    return X, Y


def chain_graphs(X):
    ends = [np.arange(len(x)) for x in X]
    return [(x, np.c_[e[:-1], e[1:]]) for x, e in zip(X, ends, strict=True)]


def products(X):
    return [np.einsum("tf,tg->tfg", x, x).reshape(len(x), -1) for x in X]


def test_chains_with_kernels_are_chains_over_features():
    X, Y = sequences()
    options = {"C": 0.5, "tol": 1e-6}
    plain = ChainSVM(**options).fit(X, Y)
    linear = ChainSVM(**options, kernel="linear").fit(X, Y)
    assert linear.result_.dual == pytest.approx(plain.result_.dual, rel=1e-5)
    explicit = ChainSVM(**options).fit(products(X), Y)
    kernel = ChainSVM(**options, kernel=Polynomial(2, 1.0, 0.0)).fit(X, Y)
    assert kernel.result_.dual == pytest.approx(explicit.result_.dual, rel=1e-5)
    new, _ = sequences(seed=9)
    assert list(kernel.predict(new)) == list(explicit.predict(products(new)))
    assert len(kernel.support_) <= sum(map(len, X))
    best = kernel.predict_nbest(new[:2], 2)
    other = explicit.predict_nbest(products(new[:2]), 2)
    for a, b in zip(best, other, strict=True):
        assert [s for _, s in a] == pytest.approx([s for _, s in b], abs=1e-3)
    with pytest.raises(ValueError, match="a kernel has none"):
        kernel.top_features("a")


@pytest.mark.parametrize("penalty", ["linear", "squared"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_every_formulation_takes_a_kernel(penalty, rescaling):
    X, Y = sequences(12)
    options = {"C": 0.5, "tol": 1e-5, "penalty": penalty, "rescaling": rescaling}
    explicit = ChainSVM(**options).fit(products(X), Y)
    kernel = ChainSVM(**options, kernel=Polynomial(2, 1.0, 0.0)).fit(X, Y)
    assert kernel.result_.dual == pytest.approx(explicit.result_.dual, rel=1e-4)


@every_method
@pytest.mark.parametrize("kind", [ChainSVM, NetworkSVM])
def test_structures_learn_by_every_method(kind, method):
    X, Y = sequences(40)
    new, truth = sequences(40, seed=5)
    if kind is NetworkSVM:
        X, new = chain_graphs(X), chain_graphs(new)
    assert kind(1.0).fit(X, Y).score(new, truth) < 0.8
    model = kind(1.0, kernel="quadratic", kernel_method=method, n_basis=30, tol=1e-2)
    assert model.fit(X, Y).score(new, truth) > 0.95


def test_named_features_meet_kernels_too():
    X = [[{"w": "Ana"}, {"w": "ríe"}], [{"w": "hoy"}, {"w": "ríe"}, {"w": "Ana"}]]
    Y = [["B", "O"], ["O", "O", "B"]]
    model = ChainSVM(1.0, kernel=Polynomial(2), window=1).fit(X, Y)
    assert model.predict(X).tolist() == Y
    edges = ChainSVM(1.0, kernel=Polynomial(2), edge_features=True).fit(X, Y)
    assert edges.predict(X).tolist() == Y


def switching(n=30, seed=0):
    """A label changes where two signs agree, and stays where they do not."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        x = rng.choice([-1.0, 1.0], size=(6, 2))
        y = np.cumsum(np.append(1, x[1:, 0] * x[1:, 1] > 0)) % 2
        X.append(x + 0.1 * rng.normal(size=x.shape))
        Y.append(["ab"[k] for k in y])
    return X, Y


def test_kernels_on_edges_learn_what_neither_part_can(tmp_path):
    X, Y = switching()
    new, truth = switching(seed=7)
    linear = ChainSVM(1.0, edge_features=True).fit(X, Y)
    nodes = ChainSVM(1.0, kernel="quadratic").fit(X, Y)
    edges = ChainSVM(1.0, kernel="quadratic", edge_features=True).fit(X, Y)
    assert linear.score(new, truth) < 0.8 and nodes.score(new, truth) < 0.8
    assert edges.score(new, truth) > 0.95
    edges.save(tmp_path / "model.mm")
    assert list(load(tmp_path / "model.mm").predict(new)) == list(edges.predict(new))
    few = edges.set_params(kernel_method="cpsp", n_basis=8).fit(X, Y)
    assert len(few.basis_) <= 8 and few.score(new, truth) > 0.95


def test_bigram_templates_keep_their_weights_beside_a_kernel():
    words = [["a", "b", "c"], ["b", "c"], ["c", "a", "b", "a"]]
    Y = [["N", "V", "N"], ["V", "N"], ["N", "V", "V", "N"]]
    templates = Templates(["U:%x[0,0]"], ["B:%x[-1,0]/%x[0,0]"])
    plain = ChainSVM(1.0, features=templates, tol=1e-8).fit(words, Y)
    linear = ChainSVM(1.0, features=templates, tol=1e-8, kernel=Linear()).fit(words, Y)
    assert linear.result_.dual == pytest.approx(plain.result_.dual, rel=1e-6)
    assert list(linear.predict(words)) == list(plain.predict(words))


def test_a_limit_on_time_is_kept_and_said():
    X, y = make_moons(300, noise=0.3, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelSVM(1e4, tol=0.0, max_iter=50).fit(X, y)
    assert model.result_.status is Status.MAX_ITER


@every_method
def test_warm_start_continues_with_a_kernel(moons, iris, method):
    options = {"kernel_method": method, "n_basis": 20, "tol": 1e-3, "random_state": 0}
    for X, y in (moons, iris):
        model = KernelSVM(warm_start=True, **options).fit(X, y)
        first = model.result_
        again = model.fit(X, y).result_
        assert again.primal <= first.primal * (1 + 2e-3)
        assert again.iterations <= first.iterations
        if method != "sampled":  # whose rows are drawn anew
            assert again.oracle_calls <= first.oracle_calls
        # Another C: the problem changes, the rows of the kernel stay.
        changed = model.set_params(C=2.0).fit(X, y).result_
        cold = KernelSVM(C=2.0, **options).fit(X, y).result_
        assert changed.primal <= cold.primal * (1.1 if method == "cpsp" else 1.02)


@every_method
def test_a_path_over_C_with_a_kernel(iris, moons, method):
    options = {"kernel_method": method, "n_basis": 30, "tol": 1e-3, "random_state": 0}
    for X, y in (moons, iris):
        model = KernelSVM(C=7.0, **options)
        path = model.fit_path(X, y, [1.0, 0.1])
        assert model.C == 7.0
        for C, result in zip([1.0, 0.1], path, strict=True):
            cold = KernelSVM(C=C, **options).fit(X, y)
            share = 0.1 if method == "cpsp" else 0.02
            assert result.primal <= cold.result_.primal * (1 + share)
            assert result.dual <= cold.result_.primal * (1 + 1e-9)
        best = KernelSVM(C=1.0, **options).fit(X, y)
        assert np.mean(model.predict(X) == best.predict(X)) > 0.95


@every_method
def test_time_steps_and_callbacks_are_limits_for_kernels(iris, method):
    X, y = iris
    rows = []

    def stop(row):
        rows.append(int(row["iteration"]))
        return len(rows) == 2

    options = {"kernel_method": method, "n_basis": 20, "tol": 1e-12}
    for y_ in (y, y > 0):
        rows.clear()
        with pytest.warns(ConvergenceWarning):
            model = KernelSVM(C=10.0, callbacks=stop, **options).fit(X, y_)
        assert rows in ([1, 2], [1]) and len(model.result_.history) == len(rows)
        assert np.isfinite(model.result_.primal) and model.score(X, y_) > 0.6
        with pytest.warns(ConvergenceWarning):
            model = KernelSVM(C=10.0, max_time=1e-9, **options).fit(X, y_)
        assert model.result_.status is Status.MAX_TIME
        assert len(model.result_.history) == 1


def test_max_time_holds_within_a_step():
    X = np.random.default_rng(0).normal(size=(1500, 20))
    y = np.arange(1500) % 2
    options = {"C": 1e4, "tol": 1e-9, "max_iter": 10**9}
    for method in ("exact", "cpsp", "sampled"):
        KernelSVM(kernel_method=method, tol=0.5).fit(X[:50], y[:50])  # compiled
        begin = time.perf_counter()
        with pytest.warns(ConvergenceWarning):
            model = KernelSVM(kernel_method=method, max_time=0.2, **options).fit(X, y)
        assert model.result_.status is Status.MAX_TIME
        assert time.perf_counter() - begin < 10.0


def test_streams_are_refused_for_kernels(iris):
    X, y = iris
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as told:
        MulticlassSVM(kernel="rbf").partial_fit(X, y)
    assert "not available for kernels" in str(told.value.__cause__)


@pytest.mark.parametrize("gamma", ["scale", "auto"])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("sparse", [False, True])
def test_gamma_by_the_rules_of_scikit_learn(iris, gamma, kernel, sparse, tmp_path):
    X, y = iris[0][50:], iris[1][50:]
    X = sp.csr_array(X) if sparse else X
    settings = {"C": 0.5, "kernel": kernel, "gamma": gamma, "degree": 3, "coef0": 0.5}
    model = KernelSVM(**settings, tol=1e-5).fit(X, y)
    peer = SVC(**settings, tol=1e-6).fit(X, y)
    assert model.expansion_.kernel.gamma == pytest.approx(peer._gamma, rel=1e-12)
    scores = peer.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=0.02)
    save(model, tmp_path / "m.mm")
    again = load(tmp_path / "m.mm")
    assert again.gamma == gamma
    assert again.expansion_.kernel.gamma == model.expansion_.kernel.gamma
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_gamma_of_rows_that_are_all_alike():
    X = np.ones((4, 2))
    assert named_kernel("rbf", X, gamma="scale") == Rbf(1.0)  # as scikit-learn has it
    assert named_kernel("rbf", X, gamma="auto") == Rbf(0.5)
    with pytest.raises(ValueError, match="'scale' and 'auto' need rows"):
        named_kernel("rbf", gamma="scale")
