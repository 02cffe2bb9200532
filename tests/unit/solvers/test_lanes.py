"""The trainer in lanes against dense QPs, other trainers, and itself."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from small.problems import chain_problem, optimum

from maxmargin import ChainSVM
from maxmargin.core import Formulation, Problem
from maxmargin.engines import Threads
from maxmargin.losses import Hamming
from maxmargin.solvers import BlockDual, Lanes, Status, choose
from maxmargin.solvers.lanes import islands as islands_module
from maxmargin.solvers.lanes.crew import share_out
from maxmargin.structures.chain import Chain


def words(seed, n=60, labels=4, longest=14, sparse=True, C=0.5, weights=False, **kind):
    """Sequences whose tokens share features, so that their constraints interact."""
    rng = np.random.default_rng(seed)
    Y = [rng.integers(labels, size=rng.integers(1, longest + 1)) for _ in range(n)]
    Y[0] = np.arange(labels)
    X = []
    for y in Y:
        noisy = np.where(rng.random(len(y)) < 0.6, y, rng.integers(labels, size=len(y)))
        rows = np.zeros((len(y), 30))
        rows[np.arange(len(y)), noisy * 5 + rng.integers(5, size=len(y))] = 1.0
        rows[np.arange(len(y)), 20 + rng.integers(10, size=len(y))] = 0.5
        X.append(sp.csr_matrix(rows) if sparse else rows)
    structure = Chain(**kind).bind(X, Y)
    x = structure.encode(X)
    cost = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels))) ** 0.5
    each = rng.uniform(0.0, 2.0, n) if weights else np.ones(n)
    if weights:
        each[3] = 0.0
    return Problem(
        structure, Hamming(cost=cost).bind(labels), Formulation("margin", "linear"), x,
        structure.encode_labels(x, Y), C * each,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_reaches_the_optimum_of_the_dense_qp(seed, lanes):
    problem = chain_problem(seed, n=8, longest=5)
    best, w = optimum(problem)
    result, _ = Lanes(tol=1e-7, lanes=lanes).solve(problem)
    assert result.status is Status.CONVERGED
    assert result.dual <= best * (1 + 1e-6)
    assert result.dual == pytest.approx(best, rel=1e-6)
    assert result.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(result.w, w, atol=2e-3 * np.abs(w).max())


KINDS = [
    {},
    {"start_end": False, "bias": False},
    {"order": 2},
    {"order": 3, "labels": 3},
    {"sparse": False},
    {"sparse": False, "order": 2, "bias": False},
    {"eta": 0.3, "window": 1},
    {"weights": True},
    {"labels": 6, "longest": 30},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("lanes", [1, 3])
def test_agrees_with_the_block_dual(kind, lanes):
    problem = words(1, **kind)
    ours, state = Lanes(tol=1e-5, lanes=lanes).solve(problem)
    other, _ = BlockDual(tol=1e-6).solve(problem)
    assert ours.status is Status.CONVERGED
    assert ours.dual <= other.primal * (1 + 1e-9)
    assert ours.primal >= other.dual * (1 - 1e-9)
    assert ours.primal == pytest.approx(other.primal, rel=2e-5)
    # The dual belongs to feasible alpha: w is their sum, no group exceeds C.
    np.testing.assert_allclose(state.islands.weights(problem.dim), state.w, atol=1e-9)
    assert_feasible(state.islands, problem)


def assert_feasible(islands, problem):
    blocks, order = islands.blocks, problem.structure.order
    for b in range(len(blocks.held)):
        slots = slice(blocks.first[b], blocks.first[b] + blocks.held[b])
        group, alpha = blocks.group[slots], blocks.alpha[slots]
        upper = problem.C[islands.owner[b]]
        assert (alpha >= 0).all()
        places = []
        width = blocks.cut[b + 1] - blocks.cut[b]
        truth = islands.task.truth[blocks.cut[b] : blocks.cut[b + 1]]
        for g in np.unique(group):
            assert alpha[group == g].sum() <= upper * (1 + 1e-9)
            touched = set()
            for j in np.flatnonzero(group == g):
                at = blocks.label_at[b] + j * width
                low, high = blocks.low[slots][j], blocks.high[slots][j]
                labels = blocks.labels[at : at + high - low + 1]
                touched |= set(low + np.flatnonzero(labels != truth[low : high + 1]))
            places.append(touched)
        for one in range(len(places)):
            for two in range(one):
                near = [abs(s - t) for s in places[one] for t in places[two]]
                assert min(near, default=order + 1) > order


def test_masks_and_forced_labels():
    problem = words(2, scheme=None)
    legal = ~np.eye(4, k=-3, dtype=bool)  # 3 may not be followed by 0
    keep = [
        i for i in range(problem.n) if _legal(problem.truth.row(i), legal)
    ]  # fmt: skip
    rows = [problem.truth.row(i) for i in keep]
    X = [
        problem.x.vectors.matrix()[problem.x.ptr[i] : problem.x.ptr[i + 1]]
        for i in keep
    ]
    structure = Chain(allowed=legal).bind(X, rows)
    x = structure.encode(X)
    forced = [{0: row[0]} if i % 3 == 0 else {} for i, row in enumerate(rows)]
    x = structure.constrain(x, forced)
    truth = structure.encode_labels(x, rows)
    small = replace(
        problem, structure=structure, x=x, truth=truth, C=np.full(len(keep), 0.5)
    )
    ours, _ = Lanes(tol=1e-5).solve(small)
    other, _ = BlockDual(tol=1e-6).solve(small)
    assert ours.primal == pytest.approx(other.primal, rel=2e-5)


def _legal(row, legal):
    return all(legal[a, b] for a, b in pairwise(row))


def test_long_examples_are_cut_and_joined(monkeypatch):
    problem = words(3, n=12, longest=80)
    whole, _ = Lanes(tol=1e-5).solve(problem)
    monkeypatch.setattr(islands_module, "LONG", 20)
    monkeypatch.setattr(islands_module, "PIECE", 6)
    solver = Lanes(tol=1e-5)
    pieces = len(solver.start(problem).islands.blocks.cut)
    cut, state = solver.solve(problem)
    assert pieces > len(state.islands.blocks.cut)
    assert cut.status is Status.CONVERGED
    assert cut.primal == pytest.approx(whole.primal, rel=2e-5)
    assert_feasible(state.islands, problem)


@pytest.mark.parametrize("sparse", [True, False])
def test_bits_depend_on_lanes_not_on_threads(sparse):
    problem = words(4, n=150, sparse=sparse)
    results = []
    for engine in (problem.engine, Threads(2), Threads(3)):
        solver = Lanes(tol=1e-3, lanes=3)
        results.append(solver.solve(replace(problem, engine=engine))[0])
    for other in results[1:]:
        np.testing.assert_array_equal(other.w, results[0].w)
        assert other.dual == results[0].dual


def test_goes_on_from_a_snapshot_as_if_never_interrupted():
    problem = words(5)
    solver = Lanes(tol=1e-6, lanes=2)
    straight, resumed = solver.start(problem), solver.start(problem)
    for _ in range(4):
        solver.step(problem, straight)
    data = solver.snapshot(problem, straight)
    assert "share" not in data["islands"]["stored"]
    solver.restore(problem, resumed, data)
    for _ in range(3):
        solver.step(problem, straight)
        solver.step(problem, resumed)
    np.testing.assert_array_equal(straight.w, resumed.w)
    np.testing.assert_array_equal(straight.mean, resumed.mean)


def test_another_C_goes_on_from_the_constraints_held():
    problem = words(6)
    _, state = Lanes(tol=1e-4).solve(problem)
    dearer = problem.with_C(2.0 * problem.C)
    warm, _ = Lanes(tol=1e-5).solve(dearer, warm=state)
    cold, _ = Lanes(tol=1e-5).solve(dearer)
    assert warm.primal == pytest.approx(cold.primal, rel=2e-5)


@pytest.mark.parametrize("before, after", [(1, 3), (3, 1)])
def test_another_number_of_lanes_goes_on_from_a_snapshot(before, after):
    problem = words(5, C=2.0)
    one, two = Lanes(tol=1e-6, lanes=before), Lanes(tol=1e-6, lanes=after)
    state, other = one.start(problem), two.start(problem)
    for _ in range(4):
        one.step(problem, state)
    two.restore(problem, other, one.snapshot(problem, state))
    assert_products_of(other.islands, after)
    best = one.solve(problem)[0].primal
    for _ in range(300):
        two.step(problem, other)
        if other.dual >= best * (1 - 1e-4):
            break
    assert best * (1 + 1e-9) >= other.dual >= best * (1 - 1e-4)
    np.testing.assert_allclose(other.islands.weights(problem.dim), other.w, atol=1e-9)
    # The same where constraints are handed over in memory.
    warm, held = two.solve(problem, warm=one.solve(problem)[1])
    assert_products_of(held.islands, after)
    assert warm.primal == pytest.approx(best, rel=2e-5)


def assert_products_of(islands, lanes):
    """Inner products count shared weights as so many lanes should."""
    factor = share_out(islands.task, islands.vectors, lanes).factor
    assert islands.task.curve == factor
    blocks = islands.blocks
    kept = blocks.gram.copy()
    fresh = islands_module.Islands(
        islands.task, islands.vectors, 1e9,
        share_out(islands.task, islands.vectors, lanes).weight,
    )  # fmt: skip
    np.testing.assert_allclose(blocks.share, fresh.blocks.share, rtol=1e-6)
    islands._fill_gram()
    for b in range(len(blocks.held)):
        held, room, at = blocks.held[b], blocks.room[b], blocks.gram_at[b]
        part = slice(at, at + room * room)
        old, new = (a[part].reshape(room, room) for a in (kept, blocks.gram))
        np.testing.assert_allclose(old[:held, :held], new[:held, :held], atol=1e-5)


@pytest.mark.parametrize("threads, lanes", [(1, 1), (2, 2), (4, 2)])
def test_two_lanes_on_several_threads(threads, lanes):
    problem = replace(words(4, n=150), engine=Threads(threads))
    ours, state = Lanes(tol=1e-3).solve(problem)
    assert len(state.crew.lanes) == lanes
    again, _ = Lanes(tol=1e-3).solve(problem)
    same, _ = Lanes(tol=1e-3, lanes=lanes).solve(words(4, n=150))
    np.testing.assert_array_equal(again.w, ours.w)
    np.testing.assert_array_equal(same.w, ours.w)
    assert ours.converged
    problem.engine.close()


def test_one_lane_where_an_example_has_much_of_the_data():
    problem = replace(words(4, n=12), engine=Threads(2))
    assert len(Lanes().start(problem).crew.lanes) == 1
    problem.engine.close()


def test_lanes_agree_on_the_weights_after_each_round():
    problem = words(10, n=120)
    solver = Lanes(tol=1e-6, lanes=3)
    state = solver.start(problem)
    for _ in range(3):
        solver.step(problem, state)
        for lane in state.crew.lanes[1:]:
            np.testing.assert_allclose(lane.w, state.w, atol=1e-12)


def test_little_memory_is_enough():
    problem = words(7, C=5.0)
    free, state = Lanes(tol=1e-3).solve(problem)
    memory = 0.7 * state.islands.nbytes
    result, state = Lanes(tol=1e-3, memory=memory, max_iter=200).solve(problem)
    assert state.islands.short
    assert state.islands.nbytes <= memory
    assert free.primal >= result.dual >= 0.95 * free.dual
    duals = result.history["dual"]
    assert (np.diff(duals) >= -1e-9 * duals[1:]).all()
    with pytest.raises(MemoryError, match="use solver='block-dual'"):
        Lanes(memory=1000.0).solve(problem)


@pytest.mark.parametrize(
    "penalty, rescaling", [("squared", "margin"), ("linear", "slack"), ("linear", None)]
)
def test_refuses_what_it_does_not_know(penalty, rescaling):
    problem = chain_problem(0, penalty=penalty, rescaling=rescaling)
    with pytest.raises(ValueError, match="anes"):
        Lanes().solve(problem)


def test_the_dual_never_falls():
    for lanes in (1, 2):
        result, _ = Lanes(tol=1e-4, lanes=lanes).solve(words(8, n=200))
        duals = result.history["dual"]
        assert (np.diff(duals) >= -1e-9 * duals[1:]).all()


def test_examples_without_tokens_are_left_alone():
    problem = words(9, n=5)
    X = [problem.x.vectors.matrix()[:3], sp.csr_matrix((0, 30))]
    structure = problem.structure
    x = structure.encode(X)
    truth = structure.encode_labels(x, [[0, 1, 2], []])
    small = replace(problem, x=x, truth=truth, C=np.ones(2))
    ours, _ = Lanes(tol=1e-6).solve(small)
    assert ours.dual == pytest.approx(optimum(small)[0], rel=1e-5)


DAMAGE = [
    ("held", lambda a: a + 99), ("low", lambda a: a - 50), ("high", lambda a: a + 99),
    ("labels", lambda a: a + 30), ("group", lambda a: a + 2**20),
    ("alpha", lambda a: -a - 1.0), ("gram", lambda a: a * np.nan),
    ("room", lambda a: a * 3), ("cut", lambda a: a[::-1].copy()),
    ("first_block", lambda a: a + 1), ("b", lambda a: a[:-1]),
    ("full", lambda a: a.astype(float)), ("alpha", lambda a: a.astype(np.float32)),
]  # fmt: skip


@pytest.mark.parametrize("name, change", DAMAGE)
def test_a_damaged_checkpoint_is_refused(name, change):
    problem = words(5)
    solver = Lanes(tol=1e-6)
    state = solver.start(problem)
    solver.step(problem, state)
    data = solver.snapshot(problem, state)
    stored = data["islands"]["stored"]
    stored[name] = change(stored[name])
    with pytest.raises(ValueError):
        solver.restore(problem, solver.start(problem), data)


def test_auto_takes_lanes_where_there_are_many_tokens(monkeypatch):
    """With few, compiling the loops of lanes would take longer than training."""
    problem = chain_problem(0)
    assert isinstance(choose.Auto().resolve(problem).solver, BlockDual)
    monkeypatch.setattr(choose, "MANY_TOKENS", 1)
    assert isinstance(choose.Auto().resolve(problem).solver, Lanes)


@pytest.mark.parametrize("sizes", [[40] * 30, [40] * 30 + [1300]])
@pytest.mark.parametrize("loss", ["hamming", "zero-one"])
def test_auto_looks_at_the_longest_example(sizes, loss, monkeypatch):
    """Lanes if they can; else the block dual, or one slack if one example has most."""
    monkeypatch.setattr(choose, "MANY_TOKENS", 100)
    monkeypatch.setattr(choose, "FEW_TOKENS", 100)
    rng = np.random.default_rng(0)
    Y = [[str(k) for k in rng.integers(0, 3, n)] for n in sizes]
    X = [[[f"f{k}"] for k in row] for row in Y]
    result = ChainSVM(tol=0.1, loss=loss).fit(X, Y).result_
    other = "OneSlack" if max(sizes) == 1300 else "BlockDual"
    expected = "Lanes" if loss == "hamming" else other
    assert result.notes["chosen"] == expected and result.converged


def test_one_long_example_costs_little_more_than_its_parts():
    """Each visit asks the oracle about one block after the other, at fresh weights."""
    one = words(5, n=100, labels=3, longest=60)
    rows = [one.truth.row(i) for i in range(one.n)]
    X, Y = [one.x.vectors.matrix()], [np.concatenate(rows)]
    structure = Chain().bind(X, Y)
    x = structure.encode(X)
    long = replace(
        one, structure=structure, x=x, truth=structure.encode_labels(x, Y), C=one.C[:1]
    )
    short, _ = Lanes(tol=1e-2).solve(one)
    whole, state = Lanes(tol=1e-2).solve(long)
    assert whole.status is Status.CONVERGED
    assert whole.iterations <= 3 * short.iterations
    assert np.diff(state.islands.blocks.cut).max() <= 200
