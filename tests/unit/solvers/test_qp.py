"""The small QP against three solvers of others, on all its dual sets."""

import clarabel
import daqp
import numpy as np
import piqp
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.solvers import maximise
from maxmargin.solvers.planes import block_gap, box_steps, pair_steps

SETS = ["simplex", "box", "cone", "ridge"]


def instance(seed, kind, m, rank):
    """(G, b, upper, ridge, box) with a bounded value."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, rank)) * rng.choice([0.1, 1.0, 10.0])
    if m > 2 and rng.integers(2):
        A[-1] = A[0]  # parallel planes: G is singular
    G = A @ A.T
    b = rng.normal(size=m) + 0.5
    upper = float(rng.choice([0.1, 1.0, 20.0]))
    if kind == "cone":
        b = A @ rng.normal(size=rank)  # in the range of G: bounded
        return G, b, np.inf, 0.0, False
    if kind == "ridge":
        return G, b, np.inf, 1.0 / upper, False
    return G, b, upper, 0.0, kind == "box"


def value(G, b, ridge, alpha):
    return b @ alpha - 0.5 * alpha @ G @ alpha - 0.5 * ridge * alpha.sum() ** 2


def constraints(m, upper, box):
    """Rows of  A alpha <= h  beside alpha >= 0."""
    if not np.isfinite(upper):
        return np.zeros((0, m)), np.zeros(0)
    if box:
        return np.eye(m), np.full(m, upper)
    return np.ones((1, m)), np.array([upper])


def by_clarabel(H, b, A, h):
    m = len(b)
    rows = sp.csc_array(np.vstack([-np.eye(m), A]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(m + len(h))]
    limits = np.append(np.zeros(m), h)
    P = sp.csc_array(np.triu(H))
    solver = clarabel.DefaultSolver(P, -b, rows, limits, cones, settings)
    return np.array(solver.solve().x)


def by_piqp(H, b, A, h):
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    m = len(b)
    G = np.vstack([-np.eye(m), A])
    limits = np.append(np.zeros(m), h)
    solver.setup(H, -b, None, None, G, np.full(len(limits), -np.inf), limits)
    solver.solve()
    return np.array(solver.result.x)


def by_daqp(H, b, A, h):
    m = len(b)
    rows = np.ascontiguousarray(np.vstack([np.eye(m), A]))
    lower = np.append(np.zeros(m), np.full(len(h), -1e30))
    upper = np.append(np.full(m, 1e30), h)
    H = H + 1e-11 * np.trace(H) / m * np.eye(m)  # it wants a definite one
    x, _, flag, _ = daqp.solve(
        H, np.ascontiguousarray(-b), rows, upper, lower, np.zeros(len(upper), np.int32)
    )
    return np.array(x) if flag > 0 else None


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("peer", [by_clarabel, by_piqp, by_daqp])
@given(seed=st.integers(0, 2**31), m=st.integers(1, 25), rank=st.integers(1, 12))
@settings(max_examples=20)
def test_the_optimum_is_that_of_others(kind, peer, seed, m, rank):
    G, b, upper, ridge, box = instance(seed, kind, m, rank)
    alpha = maximise(G, b, np.zeros(m), upper, ridge, box)
    assert (alpha >= 0).all()
    if box:
        assert (alpha <= upper).all()
    else:
        assert alpha.sum() <= upper * (1 + 1e-9)
    A, h = constraints(m, upper, box)
    other = peer(G + ridge * (not box), b, A, h)
    if other is None:
        return
    ours, theirs = value(G, b, ridge, alpha), value(G, b, ridge, other)
    assert ours >= theirs - 1e-7 * (1 + abs(theirs))


@pytest.mark.parametrize("kind", SETS)
@given(seed=st.integers(0, 2**31), m=st.integers(1, 25))
@settings(max_examples=20)
def test_a_warm_start_ends_at_the_same_value(kind, seed, m):
    G, b, upper, ridge, box = instance(seed, kind, m, 6)
    cold = maximise(G, b, np.zeros(m), upper, ridge, box)
    rng = np.random.default_rng(seed)
    start = rng.uniform(0, 1, size=m)
    start *= min(upper, 5.0) / (1.0 if box else start.sum())
    given_start = start.copy()
    warm = maximise(G, b, start, upper, ridge, box)
    assert (start == given_start).all()
    best = value(G, b, ridge, cold)
    assert value(G, b, ridge, warm) == pytest.approx(best, rel=1e-7, abs=1e-7)
    again = maximise(G, b, warm, upper, ridge, box)
    assert value(G, b, ridge, again) >= value(G, b, ridge, warm) - 1e-8 * (
        1 + abs(best)
    )


def test_a_value_without_bound_stops_when_it_is_enough():
    alpha = maximise(np.zeros((2, 2)), np.ones(2), np.zeros(2), np.inf, enough=1e6)
    assert np.isfinite(alpha).all()
    assert alpha.sum() > 1e6


@pytest.mark.parametrize("kind", SETS)
@given(seed=st.integers(0, 2**31), m=st.integers(1, 12))
@settings(max_examples=20)
def test_steps_rise_by_what_they_say_and_keep_the_gradient(kind, seed, m):
    G, b, upper, ridge, box = instance(seed, kind, m, 5)
    alpha, H = np.zeros(m), G + (0.0 if box else ridge)
    g = b.copy()
    before = value(G, b, ridge, alpha)
    if box:
        rise = box_steps(G, m, g, alpha, upper, 1e-12, 7)
    else:
        rise = pair_steps(G, ridge, m, g, alpha, upper, 1e-12, 7)
    assert rise >= 0.0
    scale = 1e-9 * (1 + np.abs(G).max() * (1 + alpha.max()) ** 2)
    assert value(G, b, ridge, alpha) - before == pytest.approx(rise, abs=scale)
    np.testing.assert_allclose(g, b - H @ alpha, atol=scale)


@pytest.mark.parametrize("kind", ["simplex", "box", "ridge"])
@given(seed=st.integers(0, 2**31), m=st.integers(1, 12))
@settings(max_examples=20)
def test_the_block_gap_bounds_what_is_left(kind, seed, m):
    G, b, upper, ridge, box = instance(seed, kind, m, 5)
    rng = np.random.default_rng(seed)
    alpha = rng.uniform(0, 1, size=m) * min(upper, 3.0) / m
    g = b - (G + (0.0 if box else ridge)) @ alpha
    gap = block_gap(m, g, alpha, upper, ridge, box)
    best = value(G, b, ridge, maximise(G, b, alpha, upper, ridge, box))
    assert gap >= best - value(G, b, ridge, alpha) - 1e-9 * (1 + abs(best))
