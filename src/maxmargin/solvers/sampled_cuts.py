"""One slack with sampled cuts: kernels in time linear in the number of rows.

A cut below the risk is g = sum_i R_i phi(x_i) over the rows I that its outputs get
wrong. It is replaced by r rows drawn from I,

    g^ = |I| / r  sum_j R_{S_j} phi(x_{S_j}),     E g^ = g,

whose products with all training rows are computed once and kept (rows x cuts). The
height of the cut is exact, and so is the test for the end: the exact cut at w is not
more than epsilon above the sampled ones. Further weights (transitions, constants) are
linear and stay exact. With probability 1 - d the objective is within epsilon +
sqrt(4 C R^2 / r log(T / d)) times C of the best.

[1] Yu 2011, Algorithm 6.2 and Theorem 6.2; section 6.6 for structures.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints
from maxmargin.kernels.functions import Kernel
from maxmargin.kernels.gram import refuse_large
from maxmargin.kernels.maps import Expansion
from maxmargin.solvers.base import HISTORY, Result, Status
from maxmargin.solvers.kernel_cuts import TokenCut, TokenCuts
from maxmargin.solvers.qp import maximise

PATIENCE = 20  # rounds without weight after which a cut is dropped
FEWEST = 30  # cuts that must fit into the memory
BLOCK = 2**17  # kernel values at once: what a cache holds
DOUBT = 0.05  # 1 - probability of the bound


class Sampled(NamedTuple):
    """A machine from sampled cuts."""

    expansion: Expansion
    rest: Floats
    result: Result


class _Cut(NamedTuple):
    ids: Ints  # rows drawn
    R: Floats  # (r, z)
    rest: Floats
    b: float
    scores: Floats  # (rows, z) products with all training rows, single precision


def train_sampled(
    cuts: TokenCuts,
    kernel: Kernel,
    r: int = 400,
    tol: float = 1e-3,
    *,
    max_iter: int | None = None,
    max_time: float | None = None,
    seed: int = 0,
    memory: float = 4e9,
) -> Sampled:
    """Cutting planes until the exact cut is within `tol` of the model, relatively."""
    begin = time.perf_counter()
    X, rng = cuts.X, np.random.default_rng(seed)
    n, z = X.shape[0], cuts.z
    refuse_large(
        n, FEWEST * z // 2 + 1, memory, f"products of {FEWEST} cuts with all rows",
        "allow more memory, or use kernel_method='cpsp' or 'nystroem'",
    )  # fmt: skip
    most = int(memory // (4 * n * z))
    model = _Model(kernel, X, z, cuts.others)
    rows: list[tuple[Any, ...]] = []
    limit = max_iter if max_iter is not None else 1000
    status = None
    while status is None:
        scores, rest = model.scores()
        cut = cuts.at(scores, rest)
        risk = float(cuts.problem.formulation.cost(cuts.problem.C, cut.slack).sum())
        primal = 0.5 * model.square() + risk
        gap = (risk - model.height()) / max(primal, 1e-300)
        rows.append((
            len(rows) + 1, time.perf_counter() - begin, (len(rows) + 1) * len(cut.slack),
            len(model.cuts), primal, model.dual(), max(gap, 0.0),
        ))  # fmt: skip
        if gap <= tol:
            status = Status.CONVERGED
        elif len(rows) >= limit:
            status = Status.MAX_ITER
        elif max_time is not None and time.perf_counter() - begin > max_time:
            status = Status.MAX_TIME
        else:
            model.add(cut, r, rng)
            model.solve(most)
    radius = float(np.sqrt(max(kernel.diagonal(X[:1000]).max(), 0.0)))
    total = float(cuts.problem.C.sum())
    term = np.sqrt(4.0 * total * radius**2 / r * np.log(max(len(rows), 2) / DOUBT))
    result = Result(
        model.coefficients()[1].ravel(), status, primal, model.dual(), max(gap, 0.0),
        "sampled", rows[-1][2], len(model.cuts), len(rows),
        time.perf_counter() - begin, np.array(rows, dtype=HISTORY),
        {"sampling term of theorem 6.2": float(total * term), "samples": r},
    )  # fmt: skip
    ids, beta = model.coefficients()
    expansion = Expansion(kernel, kernel.points(X, ids), beta, ids)
    return Sampled(expansion, rest, result)


class _Model:
    """The sampled cuts, their Gram matrix and weights."""

    def __init__(self, kernel: Kernel, X: Any, z: int, others: int) -> None:
        self.kernel, self.X, self.z, self.others = kernel, X, z, others
        self.cuts: list[_Cut] = []
        self.gram, self.b = np.zeros((0, 0)), np.zeros(0)
        self.alpha, self.idle = np.zeros(0), np.zeros(0, np.int64)

    def scores(self) -> tuple[Floats, Floats]:
        """Scores of the training rows, and further weights, at w = sum alpha g^."""
        out, rest = np.zeros((self.X.shape[0], self.z)), np.zeros(self.others)
        for alpha, cut in zip(self.alpha, self.cuts, strict=True):
            if alpha > 0.0:
                out += alpha * cut.scores
                rest += alpha * cut.rest
        return out, rest

    def square(self) -> float:
        """||w||^2."""
        return float(self.alpha @ self.gram @ self.alpha)

    def height(self) -> float:
        """The highest sampled cut at w, or zero."""
        return float((self.b - self.gram @ self.alpha).max(initial=0.0))

    def dual(self) -> float:
        """Dual of the model: no bound on the exact one."""
        return float(self.b @ self.alpha) - 0.5 * self.square()

    def add(self, cut: TokenCut, r: int, rng: np.random.Generator) -> None:
        """Draw r of the rows of a cut and keep their products with all rows."""
        ids, R = draw(cut.R, r, rng)
        scores = np.empty((self.X.shape[0], self.z), dtype=np.float32)
        points = self.kernel.points(self.X, ids)
        step = max(1, BLOCK // max(len(ids), 1))
        for s in range(0, len(scores), step):
            scores[s : s + step] = self.kernel(self.X[s : s + step], points) @ R
        new = _Cut(ids, R, cut.rest, cut.b, scores)
        m = len(self.cuts)
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m] = self.gram
        for k, other in enumerate([*self.cuts, new]):
            product = float(np.vdot(R, other.scores[ids]) + cut.rest @ other.rest)
            gram[m, k] = gram[k, m] = product
        self.gram, self.b = gram, np.append(self.b, cut.b)
        self.alpha, self.idle = np.append(self.alpha, 0.0), np.append(self.idle, 0)
        self.cuts.append(new)

    def solve(self, most: int) -> None:
        """The best weights; cuts without any for long are dropped, or for lack of room.

        What is dropped for lack of room are the cuts of least weight.
        """
        self.alpha = maximise(self.gram, self.b, self.alpha, 1.0)
        self.idle = np.where(self.alpha > 0.0, 0, self.idle + 1)
        keep = np.flatnonzero(self.idle < PATIENCE)
        if len(keep) >= most:
            keep = np.sort(keep[np.argsort(-self.alpha[keep])[: most - 1]])
        if len(keep) < len(self.cuts):
            self.cuts = [self.cuts[k] for k in keep]
            self.gram = np.ascontiguousarray(self.gram[np.ix_(keep, keep)])
            self.b, self.alpha = self.b[keep], self.alpha[keep]
            self.idle = self.idle[keep]

    def coefficients(self) -> tuple[Ints, Floats]:
        """Rows of the expansion of w, and their coefficients (rows, z)."""
        used = [(a, c) for a, c in zip(self.alpha, self.cuts, strict=True) if a > 0]
        if not used:
            return np.empty(0, np.int64), np.zeros((0, self.z))
        every = np.concatenate([c.ids for _, c in used])
        ids, place = np.unique(every, return_inverse=True)
        beta = np.zeros((len(ids), self.z))
        np.add.at(beta, place, np.concatenate([a * c.R for a, c in used]))
        return ids, beta


def draw(R: Floats, r: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Draw r rows of R that are not zero, scaled so that R is their expected sum.

    Examples
    --------
    >>> ids, S = draw(np.array([[2.0], [0.0]]), 3, np.random.default_rng(0))
    >>> ids.tolist(), round(float(S.sum()), 12)
    ([0], 2.0)
    """
    own = np.flatnonzero(np.any(R, axis=1))
    if len(own) <= r:
        return own, R[own]
    ids, times = np.unique(rng.integers(0, len(own), r), return_counts=True)
    return own[ids], R[own[ids]] * (times * (len(own) / r))[:, None]
