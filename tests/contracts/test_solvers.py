"""Every trainer x every formulation against a dense QP with all constraints."""

from dataclasses import replace

import numpy as np
import pytest
from dense import ROWS, make, optimum
from hypothesis import given, settings
from hypothesis import strategies as st
from test_formulations import CASES, usable, without_layers

from maxmargin.core import Engine, FewOutputs, NBest, OracleError, Ragged
from maxmargin.engines import Threads
from maxmargin.losses import ZeroOne
from maxmargin.solvers import SOLVERS, OneSlack, Status
from maxmargin.solvers.base import check
from maxmargin.solvers.choose import choose
from maxmargin.solvers.enumerated import Enumerated
from maxmargin.solvers.n_slack import BlockDual, NSlack

ALL = {**SOLVERS, "enumerated": Enumerated}
# Trainers that reach any tolerance fast; the others are held to a coarser one.
COARSE = {"sdm": 1e-6, "bcfw": 1e-4, "subgradient": 0.2}
SUMMED = (
    "sdcd",
    "lse-cutting-plane",
    "lse-n-slack",
)  # exact where all outputs are asked for
SHARP = ("block-dual", "n-slack", "n-slack-block", "one-slack", "enumerated")
seeds = st.integers(0, 2**31)
each_solver = pytest.mark.parametrize("solver", ALL)
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def trainer(solver, problem, tol=1e-6, **settings):
    """The trainer, or a skip where it does not claim this problem."""
    kind = ALL[solver]
    if problem.formulation.penalty not in kind.penalties:
        pytest.skip("not claimed")
    if solver == "enumerated" and problem.structure.offers(FewOutputs) is None:
        pytest.skip("outputs cannot be enumerated")
    if solver in SUMMED:
        if problem.structure.offers(NBest) is None:
            pytest.skip("outputs cannot be asked for in numbers")
        settings.update(k=200, outside=0.0)
    if solver == "bcfw":  # plain Frank-Wolfe steps have a long tail
        settings.update(steps="pairwise", cache=50, average=False)
    tol = max(tol, COARSE.get(solver, 0.0))
    settings.setdefault("max_iter", 2000 if solver == "subgradient" else 20_000)
    made = kind(tol=tol, **settings)
    try:
        check(made, problem)
    except ValueError as refusal:
        pytest.skip(str(refusal))
    return made


def check_certificate(result, dense, tol):
    """What a result says is true, by enumeration."""
    duals = result.history["dual"]
    assert (np.diff(duals) >= -1e-9 * np.abs(duals[1:])).all(), "the dual fell"
    assert result.primal >= result.dual - 1e-9 * abs(result.dual)
    assert result.gap <= tol
    true = dense.primal(result.w)
    assert result.primal == pytest.approx(true, rel=1e-6, abs=1e-9)


@each_solver
@each_case
@pytest.mark.parametrize("name", [r for r in ROWS if r != "SVM0"])
def test_the_optimum_is_that_of_all_constraints(solver, case, name):
    usable(case, name)
    if (solver, name, case.__name__) == (
        "subgradient",
        "SVM2-slack",
        "cases.dependency",
    ):
        pytest.xfail(
            "steps grow without bound where psi is long and slacks are squared"
        )
    for seed in (1, 2):
        problem, dense = make(case, seed, name, loss=-1 - seed % len(case.LOSSES))
        slow = solver == "subgradient"  # no rate to wait for: its bounds must hold
        most = (200 if slow else 20_000) if problem.exact else 30
        made = trainer(solver, problem, max_iter=most)
        result, _ = made.solve(problem)
        best, _ = optimum(dense)
        if slow and problem.exact:
            assert result.dual <= best * (1 + 1e-7) + 1e-9
            assert result.primal >= best * (1 - 1e-7)
            continue
        if not problem.exact:
            assert result.certificate == "bound"
            assert result.dual <= best * (1 + 1e-7) + 1e-9
            assert result.primal >= dense.primal(result.w) * (1 - 1e-9)
            continue
        assert result.certificate == ("reduced" if solver in SUMMED else "exact")
        assert result.status is Status.CONVERGED, result.summary()
        check_certificate(result, dense, made.tol)
        close = max(1e-6, made.tol)
        assert result.dual == pytest.approx(best, rel=close, abs=1e-8)
        assert result.primal == pytest.approx(best, rel=close, abs=1e-8)


@each_solver
@pytest.mark.parametrize("name", ["chain", "matching", "multiclass"])
@pytest.mark.parametrize("separable", [True, False])
def test_hard_margins(solver, name, separable):
    tried = 0
    for seed in range(6):
        problem, dense = make(CASES[name], seed, "SVM0", separable=separable)
        best, _ = optimum(dense)
        made = trainer(solver, problem, tol=1e-5)
        result, _ = made.solve(problem)
        if np.isinf(best):
            assert result.status is Status.NOT_SEPARABLE, result.summary()
            assert result.primal == np.inf
        elif best < 1e5:  # margins that are not absurdly small
            assert result.status is Status.CONVERGED, result.summary()
            assert result.dual == pytest.approx(best, rel=2e-5)
            assert dense.slack(result.w).max() <= 1e-9
            assert 0.5 * result.w @ result.w == pytest.approx(best, rel=2e-5)
        else:
            continue
        tried += 1
        if tried == 2:
            break
    assert tried


@given(seed=seeds)
@settings(max_examples=8)
@pytest.mark.parametrize("name", ["SVM1-margin", "SVM1-slack", "SVM2-margin"])
def test_all_trainers_agree(name, seed):
    problem, _ = make(CASES["multiclass"], seed, name)
    values, weights = [], []
    for solver in SHARP:
        made = ALL[solver](tol=1e-6, max_iter=20_000)
        result, _ = made.solve(problem)
        values.append(result.primal)
        weights.append(result.w)
    np.testing.assert_allclose(values, values[0], rtol=2e-6)
    scale = max(np.linalg.norm(weights[0]), np.sqrt(2 * values[0]))
    for w in weights[1:]:  # the primal is strongly convex: 1/2 |w - w*|^2 <= excess
        assert np.linalg.norm(w - weights[0]) <= 3e-3 * scale


def constants(dense):
    """R, the longest difference of psi, and the largest loss."""
    R = max(np.linalg.norm(e.A, axis=1).max() for e in dense.examples)
    return R, max(d.max() for d in dense.loss)


@given(seed=seeds, epsilon=st.sampled_from([0.02, 0.1, 0.5]))
@settings(max_examples=5)
@pytest.mark.parametrize(
    "name", ["SVM1-margin", "SVM1-slack", "SVM2-margin", "SVM2-slack"]
)
def test_theorem_18_bounds_the_working_set(name, seed, epsilon):
    """Tsochantaridis 2005; their C is n times ours."""
    problem, dense = make(CASES["multiclass"], seed, name, C=np.full(8, 0.5))
    result, state = NSlack(epsilon=epsilon, tol=1e-6).solve(problem)
    _, margin = make(CASES["multiclass"], seed, "SVM1-margin", C=np.full(8, 0.5))
    R, D = constants(margin)
    n, C = problem.n, problem.n * 0.5
    bound = {
        "SVM1-slack": max(2 * n * D / epsilon, 8 * C * D**3 * R**2 / epsilon**2),
        "SVM1-margin": max(2 * n * D / epsilon, 8 * C * D * R**2 / epsilon**2),
        "SVM2-slack": (C * D**2 * R**2 + n * D) / epsilon**2,
        "SVM2-margin": (C * D * R**2 + n * D) / epsilon**2,
    }[name]
    assert 0 < state.made <= bound
    # Nothing is violated by more than epsilon beyond the slack on the working set.
    best, _ = optimum(dense)
    slack = np.array([
        state.blocks.heights(i, state.w).max(initial=0.0) for i in range(n)
    ])  # fmt: skip
    assert (dense.slack(state.w) <= slack + epsilon + 1e-9).all()
    assert result.dual <= best * (1 + 1e-9)


@given(seed=seeds, tol=st.sampled_from([1e-1, 1e-2, 1e-3]))
@settings(max_examples=8)
def test_theorem_3_1_of_yu_bounds_the_cuts(seed, tol):
    """While the gap is above tol * optimum, a cut is violated by more than that / C."""
    problem, dense = make(CASES["multiclass"], seed, "SVM1-margin", C=np.full(8, 0.5))
    _, state = OneSlack(tol=tol).solve(problem)
    R, D = constants(dense)
    best, _ = optimum(dense)
    C = problem.n * 0.5
    epsilon = min(tol * best / C, 4 * R**2 * C)
    bound = np.ceil(np.log2(D / (4 * R**2 * C))) + np.ceil(16 * R**2 * C / epsilon)
    assert 0 < state.made <= max(bound, 1)


@pytest.mark.parametrize("name", ["SVM1-margin", "SVM1-slack", "SVM2-margin"])
@pytest.mark.parametrize("solver", ["block-dual", "n-slack-block", "one-slack"])
def test_four_threads_give_the_bits_of_one(solver, name):
    case = CASES["multiclass"]
    rng = np.random.default_rng(0)
    structure, _, _ = case.tiny(np.random.default_rng(5))
    X, Y = rng.normal(size=(200, 3)), rng.integers(case.K, size=200)
    structure = structure.bind(X, Y)
    x = structure.encode(X)
    problem, _ = make(case, 5, name)
    problem = replace(
        problem, structure=structure, x=x, truth=structure.encode_labels(x, Y),
        C=np.full(200, 0.1),
    )  # fmt: skip
    made = ALL[solver](tol=1e-2, max_iter=15)
    one, _ = made.solve(problem)
    engine = Threads(4)
    four, _ = made.solve(replace(problem, engine=engine))
    engine.close()
    assert (one.w == four.w).all()
    assert (one.history["dual"] == four.history["dual"]).all()
    assert (one.primal, one.oracle_calls) == (four.primal, four.oracle_calls)
    again, _ = made.solve(problem)
    assert (one.w == again.w).all()


@pytest.mark.parametrize("name", ["SVM1-margin", "SVM1-slack", "SVM2-slack"])
@pytest.mark.parametrize("solver", SHARP)
def test_a_warm_start_from_the_solution_stops_at_once(solver, name):
    problem, dense = make(CASES["multiclass"], 4, name)
    made = ALL[solver](tol=1e-4, max_iter=5000)
    cold, state = made.solve(problem)
    warm, state = made.solve(problem, state)
    assert warm.status is Status.CONVERGED
    assert warm.iterations <= 3
    assert warm.oracle_calls <= 3 * problem.n
    assert warm.dual >= cold.dual * (1 - 1e-12)
    # Another C: alphas are carried over, and the result is right.
    other = problem.with_C(3.0 * problem.C)
    result, _ = made.solve(other, state)
    best, _ = optimum(dense._replace(C=other.C))
    assert result.status is Status.CONVERGED
    assert result.dual == pytest.approx(best, rel=2e-4)
    assert result.primal == pytest.approx(best, rel=2e-4)


@pytest.mark.parametrize("solver", ["block-dual", "one-slack", "n-slack-block"])
@pytest.mark.parametrize("name", ["SVM1-slack", "SVM2-margin", "SVM2-slack"])
@pytest.mark.parametrize("case", [CASES["multiclass"], CASES["matching"]])
def test_without_layers_the_certificate_is_a_bound_and_true(solver, name, case):
    problem, dense = make(case, 6, name, loss=1)
    problem = without_layers(problem)
    made = ALL[solver](tol=1e-3, max_iter=300)
    result, _ = made.solve(problem)
    best, _ = optimum(dense)
    assert result.certificate == "bound"
    assert result.dual <= best * (1 + 1e-9)
    assert result.primal >= dense.primal(result.w) * (1 - 1e-9)
    assert result.primal >= best * (1 - 1e-9)
    assert dense.primal(result.w) <= 1.5 * best  # and the weights are of use


class Interrupting(Engine):
    """An engine under which Ctrl-C arrives at a given oracle call, once or for good."""

    def __init__(self, at, once=True):
        super().__init__()
        self.at, self.once, self.calls = at, once, 0

    def map(self, task, chunks):
        self.calls += 1
        if self.calls == self.at or (self.calls > self.at and not self.once):
            raise KeyboardInterrupt
        return [task(chunk) for chunk in chunks]


@pytest.mark.parametrize("solver", ["block-dual", "n-slack", "one-slack"])
@pytest.mark.parametrize("once", [True, False])
def test_an_interrupt_keeps_the_best_weights(solver, once):
    problem, dense = make(CASES["multiclass"], 2, "SVM1-margin")
    made = ALL[solver](tol=1e-9)
    result, _ = made.solve(replace(problem, engine=Interrupting(6, once)))
    assert result.status is Status.INTERRUPTED
    assert len(result.w) == problem.dim
    if np.isfinite(result.primal):
        assert result.primal == pytest.approx(dense.primal(result.w))
        assert result.primal <= dense.primal(np.zeros(problem.dim))
    else:
        assert not once
    assert result.dual <= optimum(dense)[0] * (1 + 1e-9)


@pytest.mark.parametrize("solver", SHARP)
def test_an_interrupt_in_a_callback_keeps_the_best_weights(solver):
    problem, dense = make(CASES["multiclass"], 2, "SVM1-margin")

    def watch(row, ended):
        if row["iteration"] == 3:
            raise KeyboardInterrupt

    result, _ = ALL[solver](tol=1e-12).solve(problem, watch=watch)
    assert result.status is Status.INTERRUPTED
    assert len(result.history) == 3
    assert result.primal == pytest.approx(dense.primal(result.w))
    assert result.primal < dense.primal(np.zeros(problem.dim))


@pytest.mark.parametrize("solver", SHARP)
def test_callbacks_see_every_step_and_may_stop(solver):
    problem, dense = make(CASES["multiclass"], 2, "SVM1-margin")
    rows = []

    def watch(row, ended):
        rows.append(row)
        return len(rows) == 2

    result, _ = ALL[solver](tol=1e-12).solve(problem, watch=watch)
    assert result.status is Status.STOPPED
    assert [r["iteration"] for r in rows] == [1, 2]
    assert result.primal == pytest.approx(dense.primal(result.w))


@pytest.mark.parametrize("solver", SHARP)
def test_limits_on_steps_and_time(solver):
    problem, dense = make(CASES["multiclass"], 2, "SVM1-margin")
    result, _ = ALL[solver](tol=1e-13, max_iter=2).solve(problem)
    assert (result.status, result.iterations) == (Status.MAX_ITER, 2)
    assert result.primal == pytest.approx(dense.primal(result.w))
    result, _ = ALL[solver](tol=1e-13, max_time=0.0).solve(problem)
    assert result.status is Status.MAX_TIME
    assert result.iterations <= 2
    assert result.primal == pytest.approx(dense.primal(result.w))
    assert result.dual <= optimum(dense)[0] * (1 + 1e-9)


def crowd(n=30, seed=0):
    """Overlapping classes: many planes per example at a large C."""
    case = CASES["chain"]
    rng = np.random.default_rng(seed)
    problem, _ = make(case, seed, "SVM1-margin", loss=1)
    X = [rng.normal(size=(6, 2)) for _ in range(n)]
    Y = [rng.integers(3, size=6).tolist() for _ in range(n)]
    structure = type(problem.structure)().bind(X, Y)
    x = structure.encode(X)
    return replace(
        problem, structure=structure, x=x, truth=structure.encode_labels(x, Y),
        C=np.full(n, 5.0),
    )  # fmt: skip


def test_few_planes_per_example_keep_the_dual_rising():
    problem = crowd()
    free, _ = BlockDual(tol=1e-3).solve(problem)
    for most in (2, 3, 5):
        result, state = BlockDual(tol=1e-2, most=most, max_iter=300).solve(problem)
        duals = result.history["dual"]
        assert (np.diff(duals) >= -1e-9 * duals[1:]).all()
        assert state.blocks.counts().max() <= most
        assert result.dual <= free.primal * (1 + 1e-9)
        assert result.dual >= 0.9 * free.dual
        np.testing.assert_allclose(state.blocks.weights(), state.w, atol=1e-7)


def test_memory_for_planes_is_bounded():
    problem = crowd()
    free, state = BlockDual(tol=1e-3, max_iter=100).solve(problem)
    needed = state.blocks.nbytes
    memory = 0.5 * needed
    result, state = BlockDual(tol=1e-3, max_iter=100, memory=memory).solve(problem)
    duals = result.history["dual"]
    assert (np.diff(duals) >= -1e-9 * duals[1:]).all()
    assert state.blocks.nbytes <= 1.05 * memory
    assert result.dual >= 0.9 * free.dual
    np.testing.assert_allclose(state.blocks.weights(), state.w, atol=1e-7)
    with pytest.raises(MemoryError, match=r"use solver='one-slack'"):
        BlockDual(memory=1000.0).solve(problem)


def test_examples_without_weight_are_ignored():
    for name in ("SVM1-margin", "SVM2-margin", "SVM1-slack", "LSE"):
        problem, _ = make(CASES["multiclass"], 3, name, C=np.full(8, 1.0))
        C = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
        with_zeros = problem.with_C(C)
        _, dense = make(CASES["multiclass"], 3, name, C=C)
        best, _ = optimum(dense)
        for solver in SHARP:
            if problem.formulation.penalty not in ALL[solver].penalties:
                continue
            result, _ = ALL[solver](tol=1e-5, max_iter=5000).solve(with_zeros)
            assert result.status is Status.CONVERGED, (name, solver, result.summary())
            assert result.dual == pytest.approx(best, rel=1e-4), (name, solver)


def test_a_broken_oracle_is_named():
    problem, _ = make(CASES["multiclass"], 1, "SVM1-margin")

    class Worst(type(problem.structure)):
        def argmax(self, x, ids, w, augment=None):
            found = super().argmax(x, ids, -w, None)
            return found

        cuts = None

    from maxmargin.core import Structure

    Worst.cuts = Structure.cuts
    broken = Worst(problem.structure.outputs, problem.structure.bias)
    for field in ("k", "width", "sparse"):
        object.__setattr__(broken, field, getattr(problem.structure, field))
    with pytest.raises(OracleError, match=r"example \d+: argmax of Worst returned"):
        BlockDual().solve(replace(problem, structure=broken))


def test_names_of_solvers():
    problem, _ = make(CASES["multiclass"], 1, "SVM1-margin")
    assert isinstance(choose("auto", problem).resolve(problem).solver, Enumerated)
    chain, _ = make(CASES["chain"], 1, "SVM1-margin")
    assert isinstance(choose("auto", chain, tol=0.5).resolve(chain).solver, BlockDual)
    assert choose("auto", chain, tol=0.5).tol == 0.5
    assert choose(OneSlack(tol=0.3), chain, tol=0.5).tol == 0.3
    with pytest.raises(ValueError, match="solver='quick' is not known: choose from"):
        choose("quick", chain)
    with pytest.raises(TypeError, match="solver=3 is neither"):
        choose(3, chain)
    for bad in ({"tol": -1.0}, {"tol": float("nan")}, {"max_iter": 0}):
        with pytest.raises(ValueError, match=r"tol=|max_iter="):
            BlockDual(**bad).solve(chain)


def test_one_example_with_one_output_is_trivial():
    """Nothing can be wrong: the primal is zero, and that is optimal."""
    case = CASES["chain"]
    rng = np.random.default_rng(0)
    structure, _, _ = case.tiny(rng)
    X, Y = [rng.normal(size=(2, 2))], [[0, 0]]
    structure = structure.bind(X, Y)
    x = structure.encode(X)
    problem, _ = make(case, 0, "SVM1-margin")
    problem = replace(
        problem, structure=structure, x=x, truth=structure.encode_labels(x, Y),
        C=np.ones(1), loss=ZeroOne(1),
    )  # fmt: skip
    assert isinstance(problem.truth, Ragged)
    for solver in SHARP[:-1]:
        result, _ = ALL[solver]().solve(problem)
        assert result.status is Status.CONVERGED
        assert result.primal == result.dual == 0.0
