"""Certificates of models that are sums over kernel values.

Training with a kernel works with coordinates, which come from a triangular system. The
model that comes out of it has coefficients of kernel values,

    f = sum_k beta_k K(p_k, .),     ||f||^2 = beta' K beta

and where the system is badly conditioned (kernel values of 1e8, say, or a large C) the
two differ in more digits than the tolerance asks for. So the objective of the result is
that of the model itself, with a bound on its own rounding error: a value of f is off by
at most a small share of  sum_k |beta_k| sqrt(K(p_k, p_k) K(x, x)), however much of this
sum cancels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import UNIT, Floats, summation_error
from maxmargin.core.oracle import find_cuts
from maxmargin.core.problem import SAMPLE, Problem, cost_error, rounding_of
from maxmargin.kernels.functions import Precomputed, rows_for
from maxmargin.kernels.maps import Expansion
from maxmargin.solvers.base import Result, Status, relative_gap
from maxmargin.solvers.kernel.cuts import Flat, TokenCuts
from maxmargin.structures.joint.growing import Growing
from maxmargin.structures.joint.structure import PairStructure

VALUES = 1 << 17  # kernel values at a time
MEASURED = 1000  # rows whose length in the space of the kernel is looked at


def recertified(
    result: Result, primal: float, dual: float, rounding: float, tol: float
) -> Result:
    """The result with other values; converged only if its gap still is small.

    Without a dual value, the gap is what the trainer makes of its last steps.
    """
    if dual == -np.inf and result.dual == -np.inf:
        return replace(result, primal=primal, rounding=rounding)
    gap = relative_gap(primal, dual, rounding)
    status = result.status
    if status is Status.CONVERGED and gap > tol:
        status = Status.ROUNDING
    return replace(
        result, primal=primal, dual=dual, gap=gap, rounding=rounding, status=status
    )


def of_support_pairs(
    problem: Problem, growing: Growing, result: Result, tol: float
) -> Result:
    """The certificate of a model over support pairs, from that of its coordinates."""
    model, beta = growing.model(result.w)
    if not np.isfinite(result.primal) or len(beta) == 0:
        return result
    over = replace(problem, structure=model)
    if problem.formulation.penalty == "summed":  # slacks of all outputs found are in it
        moved = abs(model.square(beta) - growing.square(result.w)) / 2.0
        error = _deviation(over, growing, result.w, beta)
        rounding = moved + _pair_rounding(
            over, beta, result.primal, result.planes, error
        )
        primal = result.primal
    else:
        primal = over.primal_at(beta, over.risk_at(beta))
        rounding = _pair_rounding(over, beta, primal, result.planes)
        result = replace(result, oracle_calls=result.oracle_calls + problem.n)
    error = _dual_error(over, beta, growing.mismatch(), primal)
    dual = max(result.dual - error, min(result.dual, 0.0))  # costs are never negative
    return recertified(result, primal, dual, rounding, tol)


def _pair_rounding(
    over: Problem, beta: Floats, primal: float, planes: int, moved: float = 0.0
) -> float:
    """Bound on the rounding error of the objective; scores may be off by `moved`, too."""
    model, ids = _pairs_of(over), _sample(over)
    share = summation_error(len(beta) + 1.0) + model.value_error()
    size = float(np.abs(beta) @ model.sizes(model.inputs, model.outputs))
    cuts = find_cuts(over, beta, ids)
    reach = 0.0
    for q, i in enumerate(map(int, ids)):
        rows = [over.truth.row(i), cuts.labels.row(q)]
        if model.lists:
            every = model.candidates(over.x, i).rows
            rows += [every.row(int(k)) for k in _spread(every.n)]
        outputs = [model.output_of(row) for row in rows]
        sizes = model.sizes([over.x.items[i]] * len(outputs), outputs)
        reach = max(reach, float(sizes.max()))
    loss = float(np.abs(cuts.b).max(initial=1.0))
    error = 2.0 * (share * size * reach + moved) + UNIT * loss
    if over.formulation.scales:
        error *= loss
    return cost_error(over, error, primal, planes) + share * size**2


def _dual_error(over: Problem, beta: Floats, mismatch: float, primal: float) -> float:
    """How far the dual may be too high because coordinates are not exactly J.

    With v = sum alpha (psi - psi) the dual has ||v||^2 in coordinates, which is off by at
    most (2 sum alpha)^2 times the error of an inner product (with slack rescaling sum
    alpha b). At the optimum, sum alpha b is the dual and as much again as what it
    subtracts: at most twice the objective.
    """
    model = _pairs_of(over)
    largest = float(model.sizes(model.inputs, model.outputs).max()) ** 2
    share = summation_error(len(beta) + 1.0) + model.value_error()
    error = mismatch + share * largest
    cuts = find_cuts(over, beta, _sample(over))
    found = cuts.b[cuts.b > 0.0]
    least = 1.0 if over.formulation.scales else float(found.min(initial=np.inf))
    mass = 2.0 * abs(primal) / least
    if over.formulation.penalty == "linear" and not over.formulation.scales:
        mass = min(mass, float(over.C.sum()))
    return 2.0 * mass**2 * error


def _deviation(over: Problem, growing: Growing, w: Floats, beta: Floats) -> float:
    """How far scores by coordinates and by kernel values differ."""
    model, worst = _pairs_of(over), 0.0
    ours, theirs = model.scorer(over.x, beta), growing.scorer(over.x, w)
    for i in range(over.n):
        outputs = model.candidates(over.x, i).outputs
        apart = np.abs(ours(i, outputs) - theirs(i, outputs))
        worst = max(worst, float(apart.max()))
    return worst


def _pairs_of(over: Problem) -> PairStructure:
    assert isinstance(over.structure, PairStructure)
    return over.structure


def _sample(over: Problem) -> np.ndarray:
    return _spread(over.n)


def _spread(n: int) -> np.ndarray:
    """Some numbers below n, evenly spread; all if they are few."""
    return np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.int64))


def of_expansion(
    cuts: TokenCuts, expansion: Expansion, rest: Floats, result: Result, tol: float,
    mapped: Floats | None = None,
) -> Result:  # fmt: skip
    """The certificate of a machine over scores, from that of vectors for its kernel.

    `rest` are the weights of what is not input; `mapped` are the scores that training
    has had, where these may differ.
    """
    if not np.isfinite(result.primal) or len(expansion.beta) == 0:
        return result
    kernel, X, beta = expansion.kernel, cuts.X, expansion.beta
    scores = _scores(expansion, X)
    over = cuts.over(Flat(expansion.width, False), scores)
    structure: Any = over.structure
    w = structure.join_weights(np.eye(expansion.width), rest)
    square = float(np.vdot(beta, _at_points(expansion, X, scores))) + float(rest @ rest)
    share = summation_error(len(beta) + 1.0) + kernel.rounding(X)
    sizes = np.sqrt(np.maximum(_squares(expansion, X), 0.0)) @ np.abs(beta)
    some = np.unique(np.linspace(0, X.shape[0] - 1, MEASURED).astype(np.int64))
    reach = float(np.sqrt(max(float(kernel.diagonal(X, some).max()), 0.0)))
    off = share * float(sizes.max()) * reach
    primal, moved = result.primal, 0.0
    if over.formulation.penalty == "summed":  # slacks of all outputs found are in it
        moved = (
            0.0 if mapped is None else float(np.abs(mapped - scores).max(initial=0.0))
        )
    else:
        risk = over.risk_at(w)
        primal = 0.5 * square + risk.risk
        if over.formulation.penalty == "hard":
            margin = 1.0 - risk.worst
            primal = 0.5 * square / margin**2 if margin > 0.0 else np.inf
        result = replace(result, oracle_calls=result.oracle_calls + over.n)
    most = float(np.diff(over.truth.ptr).max(initial=1))  # scores in one of an output
    inexact = most * (off + moved)
    rounding = rounding_of(over, w, primal, result.planes, inexact, square)
    rounding += share * float(sizes @ sizes)
    return recertified(result, primal, result.dual, rounding, tol)


def _at_points(expansion: Expansion, X: Any, scores: Floats) -> Floats:
    """Scores of the points themselves."""
    if expansion.rows is not None:
        return scores[expansion.rows]
    if isinstance(expansion.kernel, Precomputed):  # points are numbers of rows
        return scores[np.asarray(expansion.points, dtype=np.int64).ravel()]
    return _scores(expansion, expansion.points)


def _scores(expansion: Expansion, X: Any) -> Floats:
    """Scores of rows, few at a time: kernel values are not kept."""
    X, out = rows_for(X), np.empty((X.shape[0], expansion.width))
    size = max(VALUES // max(len(expansion.beta), 1), 16)
    for s in range(0, X.shape[0], size):
        out[s : s + size] = expansion(X[s : s + size])
    return out


def _squares(expansion: Expansion, X: Any) -> Floats:
    """K(p, p) of the points."""
    kernel, points = expansion.kernel, expansion.points
    if expansion.rows is not None:
        return kernel.diagonal(X, expansion.rows)
    if isinstance(kernel, Precomputed):
        return kernel.diagonal(X, np.asarray(points, dtype=np.int64).ravel())
    return kernel.diagonal(points)
