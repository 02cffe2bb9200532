"""Cuts in the coordinates of kernels: pairs (input row, label), and weights as they are.

For psi(x, y) = sum_t phi(x_t) (x) e(y_t) + rest, a plane a = sum_ia R_ia phi(x_i) (x) e_a
+ rest is a matrix R over the training rows and labels. The structure is asked with other
vectors in place of phi(x_t): with the scores of its labels (and weights of one) it
answers for any expansion, and with unit vectors its features are the coordinates R.

[1] Yu 2011, section 6.6, equation (6.11). [2] Tsochantaridis et al. 2005, eq. (14).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.problem import Problem
from maxmargin.core.structure import MappedInputs
from maxmargin.kernels.functions import rows_for
from maxmargin.solvers.base import State
from maxmargin.solvers.enumerated.block_dual import AlphaState
from maxmargin.solvers.n_slack.block_dual import BlockState

ASKED = 4096  # examples asked about at once


class Flat(NamedTuple):
    """Stands for a map where only the width of its vectors matters."""

    width: int
    sparse: bool


class TokenCut(NamedTuple):
    """A plane below the risk: R over (rows, labels), further weights, height."""

    R: Floats  # (rows, z)
    rest: Floats
    b: float
    slack: Floats  # (n,)


class Slope(NamedTuple):
    """A risk and its negative gradient: R over (rows, labels), and in further weights."""

    risk: float
    R: Floats
    rest: Floats


def _smooth(slack: Floats, C: Floats, form: Any, width: float) -> tuple[float, Floats]:
    """The risk of `TokenCuts.slope` and its gradient in the slacks."""
    if form.penalty == "squared":
        return float(form.cost(C, slack).sum()), C * slack
    part = np.minimum(slack / width, 1.0)
    return float(C @ (part * (slack - 0.5 * width * part))), C * part


@dataclass(frozen=True)
class ProductRisk:
    """Risk of scores where outputs are few and psi = phi(x) (x) Lambda(y)."""

    lambdas: Floats  # (k, z)
    truth: Ints  # (n,)
    b: Floats  # (k, k) height of the plane, by (true output, output)
    c: Floats  # (k, k) its factor on dpsi
    C: Floats  # (n,)
    form: Any
    constant: Floats  # values of the features behind further weights, 0 or 1 of them

    @classmethod
    def of(cls, problem: Problem) -> ProductRisk | None:
        """For a problem over scores (all zero); None if it is no product."""
        outputs = problem.outputs()
        if outputs is None or problem.formulation.penalty == "summed":
            return None
        vectors, lambdas = outputs.product
        form = problem.formulation
        b = np.ascontiguousarray(form.plane_offset(outputs.delta))
        c = b if form.scales else np.ones_like(b)
        constant = np.asarray(vectors.matrix()[0]).ravel()[lambdas.shape[1] :]
        return cls(lambdas, outputs.truth, b, c, problem.C, form, constant)

    def part(self, ids: Ints) -> ProductRisk:
        """Some of the examples, weighted to stand for all."""
        C = self.C[ids] * (self.C.sum() / self.C[ids].sum())
        return replace(self, truth=self.truth[ids], C=C)

    def slope(self, scores: Floats, rest: Floats, width: float) -> Slope:
        """As `TokenCuts.slope`."""
        z, t = self.lambdas.shape[1], self.truth
        rest = rest.reshape(-1, z)
        table = (scores + self.constant @ rest) @ self.lambdas.T
        rows = np.arange(len(t))
        heights = table - table[rows, t][:, None]
        heights *= self.c[t]
        heights += self.b[t]
        best = heights.argmax(axis=1)
        slack = np.maximum(heights[rows, best], 0.0)
        risk, factor = _smooth(slack, self.C, self.form, width)
        factor *= self.c[t, best]
        R = factor[:, None] * (self.lambdas[t] - self.lambdas[best])
        return Slope(risk, R, np.outer(self.constant, R.sum(axis=0)).ravel())


def carried(state: State) -> State | None:
    """The part of a state that fits any map: dual variables of enumerated outputs.

    Planes in the coordinates of w do not fit; the mapped rows are left out.
    """
    if not isinstance(state, AlphaState):
        return None
    tables = state.tables._replace(
        ptr=np.empty(0, np.int64), idx=np.empty(0, np.int32), val=np.empty(0)
    )
    return replace(state, tables=tables)


class TokenCuts:
    """Cuts of a problem whose structure takes mapped inputs.

    Parameters
    ----------
    problem : Problem
        Over the inputs as they are; its structure offers `MappedInputs`.
    """

    def __init__(self, problem: Problem) -> None:
        structure: Any = problem.structure.require(MappedInputs, "a kernel")
        self.problem = problem
        self.X = rows_for(structure.input_matrix(problem.x))
        rows = self.X.shape[0]
        weights, rest = structure.split_weights(np.zeros(problem.dim))
        self.z, self.others = weights.shape[1], len(rest)
        self._units = structure.mapped(Flat(rows, True))
        ones = sp.csr_array(
            (np.ones(rows), np.arange(rows), np.arange(rows + 1)), (rows, rows)
        )
        self._unit_x = structure.with_inputs(problem.x, ones)
        self._scores = structure.mapped(Flat(self.z, False))
        none = self._scores.with_inputs(problem.x, np.zeros((rows, self.z)))
        over = replace(problem, structure=self._scores, x=none)
        self.product = ProductRisk.of(over)

    def over(self, phi: Any, values: Floats) -> Problem:
        """The same problem over mapped inputs, whose values are at hand."""
        structure: Any = self.problem.structure
        x = structure.with_inputs(self.problem.x, values)
        return replace(self.problem, structure=structure.mapped(phi), x=x)

    def at(self, scores: Floats, rest: Floats) -> TokenCut:
        """The cut that touches the risk at these scores of the labels."""
        structure: Any = self._scores
        x = structure.with_inputs(self.problem.x, scores)
        problem = replace(self.problem, structure=structure, x=x)
        w = structure.join_weights(np.eye(self.z), rest)
        return self._sum(problem, w)

    def mixture(self, problem: Problem, state: State) -> Floats | None:
        """R of sum alpha * a for a trainer's state; None if it cannot be read from it."""
        if isinstance(state, AlphaState):
            t, alpha = state.tables, state.alpha
            weight = alpha * t.c[t.truth]
            return weight.sum(axis=1)[:, None] * t.lambdas[t.truth] - weight @ t.lambdas
        if isinstance(state, BlockState) and problem.outer_coordinates() is not None:
            flat = state.blocks.coordinates()
            return flat[: self.X.shape[0] * self.z].reshape(-1, self.z)
        return None

    def slope(self, scores: Floats, rest: Floats, width: float) -> Slope:
        """The risk at these scores, and its negative gradient in scores and weights.

        With the linear penalty a slack below `width` counts slack^2 / (2 width), one
        above it slack - width / 2: the risk then has a gradient.
        """
        if self.product is not None:
            return self.product.slope(scores, rest, width)
        structure: Any = self._scores
        x = structure.with_inputs(self.problem.x, scores)
        problem = replace(self.problem, structure=structure, x=x)
        cuts = problem.cuts(structure.join_weights(np.eye(self.z), rest), chunk=ASKED)
        form = problem.formulation
        risk, factor = _smooth(cuts.slack, problem.C, form, width)
        flat = self._flat(self.problem.truth, cuts.labels, factor, form, cuts.b)
        R, own = self._units.split_weights(flat)
        return Slope(risk, R, np.array(own))

    def _sum(self, problem: Problem, w: Floats) -> TokenCut:
        cuts = problem.cuts(w, chunk=ASKED)
        form, C = problem.formulation, problem.C
        if form.penalty == "squared":
            factor = C * cuts.slack
            b = float(factor @ (cuts.b - 0.5 * cuts.slack))
        else:
            factor = np.where(cuts.slack > 0.0, C, 0.0)
            b = float(factor @ cuts.b)
        flat = self._flat(self.problem.truth, cuts.labels, factor, form, cuts.b)
        R, rest = self._units.split_weights(flat)
        return TokenCut(R, np.array(rest), b, cuts.slack)

    def _flat(
        self, truth: Ragged, labels: Ragged, factor: Floats, form: Any, b: Floats
    ) -> Floats:
        ids = np.flatnonzero(factor)
        factor = (factor * b if form.scales else factor)[ids]
        features, dim = self._units.features, self._units.dim
        own = features(self._unit_x, ids, truth.take(ids)).total(dim, factor)
        return own - features(self._unit_x, ids, labels.take(ids)).total(dim, factor)
