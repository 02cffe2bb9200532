"""Same bits from every engine; clear errors; the fixed tree."""

import os
import threading
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from cases.own import Knapsack
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from small.problems import chain_problem

from maxmargin import ChainSVM, StructuralSVM
from maxmargin.core import FAN, ClusterGoneError, Serial, tree_sum
from maxmargin.engines import (
    Processes,
    Shipment,
    Threads,
    VersionMismatchError,
    check_versions,
    choose_engine,
    pack,
    unpack,
    versions,
)
from maxmargin.solvers import Auto
from maxmargin.solvers.choose import choose
from maxmargin.solvers.distributed import Cocoa, Reply, improve_shard

LEVELS = st.lists(st.integers(0, 9), min_size=1, max_size=200)


@given(LEVELS)
def test_the_tree_is_the_same_however_items_come(items):
    level = [str(i) for i in items]
    streamed = tree_sum(lambda a, b: f"({a}{b})", iter(level))
    while len(level) > 1:
        groups = [level[s : s + FAN] for s in range(0, len(level), FAN)]
        level = [reduce(lambda a, b: f"({a}{b})", g[1:], g[0]) for g in groups]
    assert streamed == level[0]


@pytest.fixture(scope="module")
def processes():
    engine = Processes(2)
    yield engine
    engine.close()


def trained(problem, solver, **settings):
    return choose(solver, problem, **settings).solve(problem)[0]


def same(a, b):
    assert (a.w == b.w).all() and a.primal == b.primal and a.dual == b.dual


@pytest.mark.parametrize("solver", ["one-slack", "block-dual", "bcfw", "sdm"])
def test_threads_and_processes_give_the_bits_of_one_core(solver, processes):
    problem = chain_problem(0, n=200, longest=6)
    expected = trained(problem, solver, tol=1e-2)
    assert expected.gap <= 1e-2
    for engine in (Threads(2), processes):
        same(trained(replace(problem, engine=engine), solver, tol=1e-2), expected)


def test_the_risk_does_not_need_planes_and_agrees_with_them():
    problem = chain_problem(1, n=300, longest=5)
    w = np.random.default_rng(0).normal(size=problem.dim)
    slack = problem.cuts(w).slack
    risk = problem.risk_at(w)
    assert risk.risk == pytest.approx((problem.C * slack).sum(), rel=1e-12)
    assert risk.worst == slack.max()
    assert (problem.slacks(w) == slack).all()
    cut = problem.sum_cut(w)
    assert cut.risk == risk.risk and cut.worst == risk.worst


def test_a_part_is_the_same_problem_for_its_examples():
    problem = chain_problem(2, n=50, longest=5)
    w = np.random.default_rng(0).normal(size=problem.dim)
    part, first = problem.slice(17, 40)
    assert part.n == 23 and first == 0
    assert (part.slacks(w) == problem.slacks(w)[17:40]).all()


def test_an_oracle_in_python_runs_in_processes(processes):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3)) for _ in range(40)]
    owner = Knapsack()
    y = [owner.argmax(np.ones(3), x) for x in X]
    plain = StructuralSVM(owner, C=1.0, tol=1e-2).fit(X, y)
    far = StructuralSVM(owner, C=1.0, tol=1e-2, engine=processes).fit(X, y)
    assert (plain.coef_ == far.coef_).all()
    assert list(plain.predict(X)) == list(far.predict(X))


class Mortal(Knapsack):
    """Kills its process once, the first time it is asked in another one."""

    def __init__(self, marker):
        super().__init__()
        self.home, self.marker = os.getpid(), str(marker)

    def argmax(self, w, x, y=None):
        if os.getpid() != self.home:
            try:
                os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
                os._exit(1)
            except FileExistsError:
                pass
        return super().argmax(w, x, y)


def test_a_process_that_dies_is_replaced(tmp_path):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3)) for _ in range(40)]
    y = [Knapsack().argmax(np.ones(3), x) for x in X]
    plain = StructuralSVM(Knapsack(), C=1.0, tol=1e-2).fit(X, y)
    engine = Processes(2)
    model = StructuralSVM(Mortal(tmp_path / "died"), C=1.0, tol=1e-2, engine=engine)
    try:
        model.fit(X, y)
    finally:
        engine.close()
    assert (tmp_path / "died").exists()
    assert (model.coef_ == plain.coef_).all()


class Locked(Knapsack):
    """Holds what cannot be pickled."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def test_what_cannot_be_pickled_is_named(processes):
    X, y = [np.eye(3)] * 4, [(0,)] * 4
    model = StructuralSVM(Locked(), engine=processes)
    with pytest.raises(TypeError, match=r"cannot be sent to other processes.*lock"):
        model.fit(X, y)


def test_versions_that_differ_are_refused(monkeypatch):
    data = pack(np.arange(3))
    monkeypatch.setattr("maxmargin.__version__", "9.9")
    with pytest.raises(VersionMismatchError, match=r"maxmargin 9\.9 and 0"):
        unpack(data)
    with pytest.raises(VersionMismatchError, match="numba"):
        check_versions({**versions(), "numba": "0.1"}, "tcp://somewhere")


def test_arrays_in_files_travel_by_name(tmp_path):
    array = np.arange(1000.0)
    array.tofile(tmp_path / "a")
    inside = np.memmap(tmp_path / "a", "<f8", "c").view(np.ndarray)[100:900][50:]
    data = pack({"x": inside})
    assert len(data) < 2000
    assert (unpack(data)["x"] == array[150:900]).all()
    assert Shipment((array,)).__sizeof__() > 8000 > Shipment((inside,)).__sizeof__()


def test_engines_by_name():
    assert isinstance(choose_engine("serial", 4), Serial)
    assert choose_engine(None, 3).workers == 3
    with pytest.raises(ValueError, match="not known: choose 'serial', 'threads'"):
        choose_engine("gpu", 1)
    with pytest.raises(TypeError, match="DaskEngine"):
        choose_engine(3.0, 1)


def test_n_jobs_follows_joblib():
    model = ChainSVM()
    with parallel_config(backend="threading", n_jobs=3):
        engine = model._engine()
        assert engine.workers == 3
        engine.close()


@pytest.mark.parametrize("penalty", ["linear", "squared"])
@pytest.mark.parametrize("shards", [1, 3])
def test_shards_reach_the_same_optimum(penalty, shards):
    problem = chain_problem(3, n=60, longest=4, penalty=penalty)
    expected = trained(problem, "block-dual", tol=1e-5)
    result = Cocoa(tol=1e-4, shards=shards, portions=4).solve(problem)[0]
    assert result.converged
    assert result.primal == pytest.approx(expected.primal, rel=2e-4)
    assert result.dual <= expected.primal
    again = Cocoa(tol=1e-4, shards=shards, portions=4)
    same(again.solve(replace(problem, engine=Threads(2)))[0], result)


def test_shards_of_a_few_examples_need_few_rounds():
    """A sweep of single examples once ended at the first that gained nothing."""
    problem = chain_problem(3, n=24, longest=4)
    for shards in (1, 3):
        result = Cocoa(tol=1e-4, shards=shards, max_iter=500).solve(problem)[0]
        assert result.converged
        assert result.notes["portions"] == 24 // shards  # each has an example


def test_rounds_without_inference_save_oracle_calls():
    problem = chain_problem(3, n=60, longest=4)
    calls = [
        Cocoa(tol=1e-3, shards=4, portions=4, exchanges=most).solve(problem)[0]
        for most in (0, 8)
    ]
    assert all(result.converged for result in calls)
    assert calls[1].oracle_calls < 0.8 * calls[0].oracle_calls


def test_a_round_without_inference_raises_the_dual():
    problem = chain_problem(3, n=60, longest=4)
    solver = Cocoa(tol=1e-6, shards=4, portions=4, exchanges=3)
    state, seen = solver.start(problem), 0
    for _ in range(30):
        exchange, before, asked = state.exchange, state.value, state.oracle_calls
        solver.step(problem, state)
        assert (state.oracle_calls == asked) == exchange
        assert not exchange or state.value >= before - 1e-9 * abs(before)
        assert state.exchanges <= 3
        seen += exchange
    assert seen >= 5


class Forgetful(Serial):
    """Loses the memory of a shard, or an answer on its way, now and then."""

    def __init__(self, lose):
        super().__init__()
        self.calls, self.lose, self.lost = 0, lose, 0

    def call_shards(self, run, shared_data, question, w, shards, messages):
        self.calls += question is improve_shard
        if self.lose == "memory" and self.calls in (5, 9):
            self._memories.pop((run, shards[1]), None)
            self.lost += 1
        elif self.lose == "answer" and self.calls % 4 == 0:
            super().call_shards(run, shared_data, question, w, shards, messages)
            self.lost += 1
        return super().call_shards(run, shared_data, question, w, shards, messages)


@pytest.mark.parametrize("lose", ["memory", "answer"])
def test_nothing_is_counted_twice(lose):
    """The dual claimed is that of a feasible alpha: below every primal value."""
    problem = chain_problem(4, n=60, longest=4)
    optimum = trained(problem, "block-dual", tol=1e-6)
    engine = Forgetful(lose)
    solver = Cocoa(tol=1e-4, shards=3, portions=2)
    result = solver.solve(replace(problem, engine=engine))[0]
    assert engine.lost >= 1 and result.converged
    assert result.dual <= optimum.primal * (1 + 1e-9)
    assert result.primal >= optimum.dual * (1 - 1e-9)
    assert (result.history["dual"] <= optimum.primal * (1 + 1e-9)).all()
    if lose == "answer":
        same(result, solver.solve(problem)[0])
    else:
        assert result.notes["lost"] >= 1


def test_a_shard_without_memory_says_so():
    problem = chain_problem(5, n=20)
    solver = Cocoa(shards=2, portions=1)
    state = solver.start(problem)
    solver.step(problem, state)
    problem.engine.end_run(state.run)
    solver.step(problem, state)
    assert state.value == 0.0 and not state.w.any()  # alpha = 0 is what is left
    assert Reply(-1).turn == -1


class Far(Serial):
    """Eight workers, all of them here, behind a network of a given speed."""

    remote, workers = True, 8

    def __init__(self, trip):
        super().__init__()
        self.trip = trip

    def round_trip(self, w):
        return self.trip


@pytest.mark.parametrize(
    ("trip", "memory", "chosen", "here"),
    [
        (1e3, 4e9, "BlockDual", True),  # sending takes longer than all the work
        (0.0, 4e9, "Cocoa", False),
        (0.0, 1.0, "OneSlack", False),  # planes fit nowhere
    ],
)
def test_auto_weighs_the_network(trip, memory, chosen, here):
    problem = chain_problem(6, n=60, longest=40, labels=20)
    problem = replace(problem, engine=Far(trip))
    solver, _, notes = Auto(memory=memory).resolve(problem)
    assert notes["chosen"] == type(solver).__name__ == chosen
    assert notes.get("here", False) is here
    assert "8 workers" in notes["why"]


def test_gone_for_good_is_a_runtime_error():
    assert issubclass(ClusterGoneError, RuntimeError)
