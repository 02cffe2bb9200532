"""A real dask cluster on loopback: same bits, and workers that die, stall or are gone."""

import operator
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")
if sys.platform == "win32":
    pytest.skip("workers are killed and stopped by signals", allow_module_level=True)

from cases.own import Knapsack
from cluster import Cluster
from distributed import Client
from small.problems import chain_problem

from maxmargin import ChainSVM, Checkpoint, StructuralSVM
from maxmargin.core import ClusterGoneError
from maxmargin.core.compiled import compile_seconds, working_time
from maxmargin.core.data.vector_changes import Change, Weights
from maxmargin.engines import DaskEngine, VersionMismatchError
from maxmargin.engines import dask_tasks as tasks
from maxmargin.solvers import OneSlack
from maxmargin.solvers.distributed import Cocoa

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(2, scratch=tmp_path_factory.mktemp("dask")) as it:
        yield it


@pytest.fixture
def engine(cluster):
    while len(cluster.workers) < 2:
        cluster.add_worker()
    it = DaskEngine(cluster.address, patience=30.0)
    yield it
    it.close()


def problem_of(n=64, seed=0):
    return chain_problem(seed, n=n, longest=5)


def agree(result, expected):
    assert (result.w == expected.w).all()
    assert (result.primal, result.dual) == (expected.primal, expected.dual)


@pytest.mark.parametrize(
    "solver", [OneSlack(tol=0.05), Cocoa(tol=0.05, shards=2, portions=2)]
)
def test_the_cluster_gives_the_bits_of_one_core(engine, solver):
    problem = problem_of()
    expected = solver.solve(problem)[0]
    assert expected.converged
    agree(solver.solve(replace(problem, engine=engine))[0], expected)


def test_compiling_on_workers_stops_the_clock(engine):
    """What workers compile, side by side, in each kind of question."""

    def compiled(data, w, chunk):
        import numba

        return np.array([numba.njit(lambda x: x + len(chunk))(1.0)])

    def shard(part, memory, lease, message):
        return Change.of(), compiled(part, None, "")

    problem, w, spans = problem_of(4), np.zeros(2), [(0, 2), (2, 4)]
    for ask in (
        lambda: list(engine.ask(problem, compiled, w, ["a", "b"])),
        lambda: engine.total(problem, compiled, operator.add, w, spans),
        lambda: engine.call_shards(
            "run", problem, shard, Weights(w, 0, None), spans, "ab"
        ),
    ):
        begin, compiling, wall = working_time(), compile_seconds(), time.perf_counter()
        ask()
        seconds, wall = compile_seconds() - compiling, time.perf_counter() - wall
        assert 0.0 < seconds < wall
        assert working_time() - begin == pytest.approx(wall - seconds, abs=0.05)


def test_an_estimator_takes_the_address(cluster, engine):
    rng = np.random.default_rng(0)
    y = [rng.integers(3, size=4) for _ in range(40)]
    X = [np.eye(3)[row] + 0.3 * rng.normal(size=(4, 3)) for row in y]
    model = ChainSVM(tol=0.05, solver="one-slack", engine=cluster.address).fit(X, y)
    plain = ChainSVM(tol=0.05, solver="one-slack").fit(X, y)
    assert (model.coef_ == plain.coef_).all()
    assert [list(r) for r in model.predict(X)] == [list(r) for r in plain.predict(X)]


@pytest.mark.parametrize(
    "solver", [OneSlack(tol=0.01), Cocoa(tol=0.01, shards=2, portions=2)]
)
def test_a_worker_killed_in_mid_run_changes_nothing_but_the_time(
    cluster, engine, solver
):
    problem = problem_of(n=128)
    expected = solver.solve(problem)[0]
    steps = []

    def watch(row, ended):
        steps.append(row)
        if len(steps) == 4:
            threading.Timer(0.02, cluster.kill, [0]).start()

    result = solver.solve(replace(problem, engine=engine), watch=watch)[0]
    assert len(steps) > 4 and len(cluster.workers) == 1
    assert result.converged and result.gap <= 0.01
    assert result.dual <= expected.primal * (1 + 1e-9)
    if isinstance(solver, OneSlack):
        agree(result, expected)


@pytest.mark.parametrize("moment", ["visited", "added", "brought"])
def test_a_worker_that_dies_with_its_answer_is_asked_elsewhere(
    cluster, engine, moment, monkeypatch
):
    """Its shard had been visited; the result went down with it, at each later step."""
    solver, problem = Cocoa(tol=0.01, shards=2, portions=2), problem_of(n=128)
    expected = solver.solve(problem)[0]
    gates = iter(["visited", "added", "brought"] * 3)
    watch = engine._wait_until

    def watch_and_kill(ended, owners=()):
        gate = next(gates, None)
        if gate == "visited":
            watch(ended, owners)
        if gate == moment and len(cluster.workers) == 2:
            cluster.kill(0)
        if gate != "visited":
            watch(ended, owners)

    monkeypatch.setattr(engine, "_wait_until", watch_and_kill)
    result = solver.solve(replace(problem, engine=engine))[0]
    assert len(cluster.workers) == 1
    assert result.converged and result.dual <= expected.primal * (1 + 1e-9)


def test_a_worker_that_stands_still_is_gone_round(cluster):
    while len(cluster.workers) < 2:
        cluster.add_worker()
    engine = DaskEngine(cluster.address, patience=8.0)
    problem = problem_of()
    solver = OneSlack(tol=0.05)
    expected = solver.solve(problem)[0]
    cluster.kill(0, signal.SIGSTOP)
    try:
        agree(solver.solve(replace(problem, engine=engine))[0], expected)
    finally:
        cluster.kill(0, signal.SIGCONT)
        engine.close()


def test_a_slow_worker_is_waited_for(cluster, engine):
    """It stands still most of the time, but gives signs of life."""
    problem = problem_of()
    solver = OneSlack(tol=0.05)
    expected = solver.solve(problem)[0]
    over = threading.Event()

    def hold_up():
        while not over.is_set():
            cluster.kill(0, signal.SIGSTOP)
            time.sleep(0.2)
            cluster.kill(0, signal.SIGCONT)
            time.sleep(0.05)

    brake = threading.Thread(target=hold_up)
    brake.start()
    try:
        agree(solver.solve(replace(problem, engine=engine))[0], expected)
    finally:
        over.set()
        brake.join()


def test_a_worker_of_another_version_is_refused(tmp_path):
    other = tmp_path / "other.py"
    other.write_text("import maxmargin\nmaxmargin.__version__ = '0.0.1'\n")
    cluster = Cluster(1, scratch=tmp_path, preload=str(other))
    refused = pytest.raises(VersionMismatchError, match=r"maxmargin .* and 0\.0\.1")
    with cluster, refused:
        DaskEngine(cluster.address)


class Locked(Knapsack):
    """Holds what cannot be pickled."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def test_what_cannot_be_pickled_is_named(engine):
    model = StructuralSVM(Locked(), solver="one-slack", engine=engine)
    with pytest.raises(TypeError, match=r"cannot be sent to other processes.*lock"):
        model.fit([np.eye(3)] * 4, [(0,)] * 4)


def test_a_closed_client_is_no_cluster(cluster):
    client = Client(cluster.address)
    client.close()
    with pytest.raises(ClusterGoneError, match="client is closed"):
        DaskEngine(client)


def test_a_cluster_that_is_gone_for_good_is_named(tmp_path):
    with Cluster(1, scratch=tmp_path) as cluster:
        engine = DaskEngine(cluster.address, patience=2.0)
        problem = replace(problem_of(), engine=engine)

        def watch(row, ended):
            if row["iteration"] == 2:
                cluster.kill(0)

        start = time.monotonic()
        with pytest.raises(ClusterGoneError, match=r"went away.*checkpoint=path"):
            OneSlack(tol=1e-9).solve(problem, watch=watch)
        assert time.monotonic() - start < 60
        engine.close()
    with pytest.raises(ClusterGoneError, match="no dask scheduler at"):
        DaskEngine(cluster.address, patience=1.0)


@pytest.mark.parametrize("solver", ["one-slack", Cocoa(0.05, shards=2, portions=2)])
def test_a_new_cluster_goes_on_from_the_checkpoint_of_the_old(tmp_path, solver):
    """The scheduler and all workers die; the second run takes the steps left."""
    rng = np.random.default_rng(0)
    y = [rng.integers(3, size=4) for _ in range(60)]
    X = [np.eye(3)[row] + 0.6 * rng.normal(size=(4, 3)) for row in y]

    def model(**settings):
        return ChainSVM(C=1.0, tol=0.05, solver=solver, **settings)

    whole = model().fit(X, y).result_
    assert whole.iterations > 6
    where = Checkpoint(tmp_path / "run.ck", every=0.0)
    with Cluster(2, scratch=tmp_path) as cluster:
        engine = DaskEngine(cluster.address, patience=2.0)

        def die(row):
            if row["iteration"] == 5:
                cluster.stop()

        with pytest.raises(ClusterGoneError, match="checkpoint=path"):
            model(engine=engine, checkpoint=where, callbacks=die).fit(X, y)
        engine.close()
    assert where.path.exists()
    seen = []
    with Cluster(1, scratch=tmp_path) as cluster:
        engine = DaskEngine(cluster.address)
        again = model(engine=engine, checkpoint=where, callbacks=seen.append).fit(X, y)
        engine.close()
    assert seen[0]["iteration"] > 1
    agree(again.result_, whole)


def test_a_new_scheduler_goes_on_from_the_state_of_the_old(tmp_path):
    solver, problem = OneSlack(tol=0.01), problem_of()
    expected = solver.solve(problem)[0]
    with Cluster(1, scratch=tmp_path) as cluster:
        engine = DaskEngine(cluster.address)
        early = replace(solver, max_iter=5)
        result, state = early.solve(replace(problem, engine=engine))
        assert not result.converged
        engine.close()
    with Cluster(1, scratch=tmp_path) as cluster:
        engine = DaskEngine(cluster.address)
        result, _ = solver.solve(replace(problem, engine=engine), warm=state)
        engine.close()
    assert result.converged and result.iterations < expected.iterations
    assert result.primal == pytest.approx(expected.primal, rel=0.01)


CLIENT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # may ignore both, as nohup does
import numpy as np
sys.path.insert(0, sys.argv[2])
from dataclasses import replace
from small.problems import chain_problem
from maxmargin.engines import DaskEngine
from maxmargin.solvers.distributed import Cocoa

def tell(row, result):
    print("step", flush=True)
    time.sleep(0.05)

engine = DaskEngine(sys.argv[1])
problem = replace(chain_problem(0, n=64, longest=5), engine=engine)
Cocoa(tol=1e-12, max_iter=10**6, shards=2, portions=2).solve(problem, watch=tell)
"""


def kept(client):
    """Runs that the workers keep anything of, and the data on the cluster."""

    def keys(dask_scheduler):
        return {str(key) for key in dask_scheduler.tasks}

    runs = client.run(tasks.runs_kept)
    return {run for some in runs.values() for run in some} | client.run_on_scheduler(
        keys
    )


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_nothing_of_a_client_stays_on_the_cluster(name, tmp_path):
    """Shards, copies of w and data go with the client, however it ended."""
    here = str(Path(__file__).parents[2])
    with (
        Cluster(2, scratch=tmp_path) as cluster,
        Client(cluster.address, set_as_default=False) as client,
    ):
        command = [sys.executable, "-c", CLIENT, cluster.address, here]
        parent = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for _ in range(3):
            assert parent.stdout.readline() == "step\n"
        assert len(client.run(tasks.runs_kept)) == 2 and kept(client)
        parent.send_signal(getattr(signal, name))
        parent.wait(60)
        parent.stdout.close()
        end = time.monotonic() + 30
        while time.monotonic() < end and kept(client):
            time.sleep(0.1)
        assert not kept(client)
