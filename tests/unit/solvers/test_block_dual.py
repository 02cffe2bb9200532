"""What is particular to the block dual."""

import numpy as np
import pytest
from small.problems import chain_problem

from maxmargin import ChainSVM
from maxmargin.solvers.n_slack import BlockDual


def sequences(n=60, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(4, 3))
    X = [rng.normal(size=(rng.integers(2, 6), 4)) for _ in range(n)]
    return X, [(x @ W + 0.5 * rng.normal(size=(len(x), 3))).argmax(1) for x in X]


def test_averaged_weights_have_a_certificate_of_their_own():
    X, y = sequences()
    last = ChainSVM(solver=BlockDual(tol=1e-4)).fit(X, y)
    mean = ChainSVM(solver=BlockDual(tol=1e-2, average=True)).fit(X, y)
    assert mean.result_.status.name == "CONVERGED"
    assert mean.result_.gap <= 1e-2
    assert mean.result_.dual <= last.result_.primal
    assert mean.result_.primal >= last.result_.dual
    problem = mean._problem(
        mean.structure_,
        x := mean.structure_.encode(X),
        mean.structure_.encode_labels(x, y),
        None,
    )
    again = problem.primal(mean.coef_, problem.cuts(mean.coef_).slack)
    np.testing.assert_allclose(again, mean.result_.primal, rtol=1e-9)
    assert not np.allclose(mean.coef_, last.coef_, rtol=1e-6)


def test_early_stops_return_the_better_of_last_and_average():
    problem = chain_problem(3, n=200, C=0.5, longest=6)
    better = []
    for steps in (1, 2, 3):
        result, state = BlockDual(tol=1e-6, max_iter=steps).solve(problem)
        values = [problem.primal(w, problem.slacks(w)) for w in (state.w, state.mean)]
        assert state.taken > 0
        assert result.primal == pytest.approx(min(values), rel=1e-12)
        better.append(values[1] < values[0])
    assert any(better)
    loose, _ = BlockDual(tol=0.1).solve(problem)
    assert loose.converged
    assert problem.primal(loose.w, problem.slacks(loose.w)) == pytest.approx(
        loose.primal, rel=1e-12
    )


def test_few_planes_per_example_reach_the_same_optimum():
    X, y = sequences()
    many = ChainSVM(solver=BlockDual(tol=1e-4)).fit(X, y).result_
    few = ChainSVM(solver=BlockDual(tol=1e-4, most=4)).fit(X, y).result_
    assert few.status.name == "CONVERGED"
    np.testing.assert_allclose(few.dual, many.dual, rtol=2e-4)
    assert few.planes <= 4 * len(X)


def test_planes_without_weight_are_forgotten_with_their_coordinates():
    problem = chain_problem(5, n=40, C=2.0, longest=5)
    solver = BlockDual(tol=1e-9)
    state = solver.start(problem)
    for _ in range(6):
        solver.step(problem, state)
    blocks, w, dual = state.blocks, state.w.copy(), state.dual
    held = blocks.counts()

    def weighted(i):
        heights, alpha = blocks.heights(i, w), blocks.alphas()[i]
        return sorted(zip(alpha[alpha > 0], heights[alpha > 0], strict=True))

    before = [weighted(i) for i in range(problem.n)]
    blocks.forget_idle(0)
    assert 0 < blocks.planes < held.sum()
    store = blocks.store
    for i in range(problem.n):
        np.testing.assert_allclose(weighted(i), before[i], rtol=1e-12)
        planes = range(store.first[i], store.first[i] + store.count[i])
        used = [store.idx[store.start[s] : store.stop[s]] for s in planes]
        used = set(np.concatenate(used).tolist()) if used else set()
        assert used <= set(range(store.width[i]))
        assert len(used) == store.width[i] or store.count[i] == held[i]
    np.testing.assert_allclose(blocks.weights(), w, atol=1e-9)
    assert blocks.dual(w) == pytest.approx(dual, rel=1e-12)
    for _ in range(200):  # and training goes on as if nothing had happened
        solver.step(problem, state)
    best = BlockDual(tol=1e-7).solve(problem)[0]
    assert state.dual == pytest.approx(best.dual, rel=1e-6)
