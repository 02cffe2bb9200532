"""The optimisation problems of the papers, written out with all their constraints.

Nothing here is shared with the package but psi and the loss of an output: planes are
made from the table of the papers, and a dense QP is solved by clarabel.
"""

from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from maxmargin.core import Formulation, Problem, Ragged

ROWS = {  # name in the papers: rescaling, penalty
    "SVM0": (None, "hard"),
    "SVM1": (None, "linear"),
    "SVM1-margin": ("margin", "linear"),
    "SVM1-slack": ("slack", "linear"),
    "SVM2": (None, "squared"),
    "SVM2-margin": ("margin", "squared"),
    "SVM2-slack": ("slack", "squared"),
    "LSE": ("margin", "summed"),
}


class Example(NamedTuple):
    """All constraints of one example: slack >= b - A w."""

    A: np.ndarray  # (outputs, dim)
    b: np.ndarray  # (outputs,)


class Dense(NamedTuple):
    """A problem with all its constraints."""

    examples: list
    C: np.ndarray
    penalty: str
    loss: list  # per example, of each output
    psi: list  # per example, of each output

    def slack(self, w):
        """The smallest slack of each example at w (LSE: the sum of its slacks)."""
        heights = [np.maximum(e.b - e.A @ w, 0.0) for e in self.examples]
        if self.penalty == "summed":
            return np.array([h.sum() for h in heights])
        return np.array([h.max(initial=0.0) for h in heights])

    def risk(self, w):
        slack = self.slack(w)
        if self.penalty == "squared":
            return float((0.5 * self.C * slack**2).sum())
        return float((self.C * slack).sum())

    def primal(self, w):
        if self.penalty == "hard":
            return 0.5 * float(w @ w) if self.slack(w).max() <= 1e-6 else np.inf
        return 0.5 * float(w @ w) + self.risk(w)


def table(name, delta, dpsi, other):
    """(A, b) of outputs with the given losses and differences of psi."""
    rescaling, penalty = ROWS[name]
    if rescaling is None:
        delta = other.astype(float)  # the zero-one loss
    b = np.sqrt(delta) if penalty == "squared" else delta
    return Example(b[:, None] * dpsi if rescaling == "slack" else dpsi, b)


def make(case, seed, name, loss=-1, C=None, separable=False, least=0.5):
    """A tiny problem in the row `name`, and the same with all constraints."""
    rng = np.random.default_rng(seed)
    unbound, X, Y = case.tiny(rng)
    structure = unbound.bind(X, Y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, Y)
    if separable:
        w = rng.normal(size=structure.dim)
        truth = structure.argmax(x, np.arange(x.n), w).labels
    if C is None:
        C = rng.choice([0.1, 1.0, 3.0]) * rng.uniform(least, 1.5, size=x.n)
    chosen = case.LOSSES[loss].bind(structure.label_count())
    problem = Problem(structure, chosen, Formulation(*ROWS[name]), x, truth, C)
    return problem, written_out(case, problem, name, chosen)


def written_out(case, problem, name, loss):
    examples, losses, psis = [], [], []
    for i in range(problem.n):
        rows = Ragged.pack(case.outputs(problem.structure, problem.x, i))
        ids = np.full(rows.n, i)
        psi = problem.structure.features(problem.x, ids, rows)
        psi = psi.csr(problem.dim).toarray()
        truth = problem.truth.take(ids)
        own = problem.structure.features(problem.x, ids[:1], truth.take([0]))
        dpsi = own.csr(problem.dim).toarray() - psi
        delta = loss.value(truth, rows)
        other = np.array([
            rows.row(j).tolist() != truth.row(j).tolist() for j in range(rows.n)
        ])  # fmt: skip
        examples.append(table(name, delta, dpsi, other))
        losses.append(delta)
        psis.append(psi)
    return Dense(examples, problem.C, ROWS[name][1], losses, psis)


def separable(A):
    """Whether some w has A w >= 1: the largest margin with |w| <= 1 is positive."""
    m, dim = A.shape
    if m == 0:
        return True
    found = linprog(
        np.append(np.zeros(dim), -1.0),
        A_ub=np.hstack([-A, np.ones((m, 1))]),
        b_ub=np.zeros(m),
        bounds=[(-1, 1)] * dim + [(None, 1)],
    )
    return -found.fun > 1e-7


def optimum(dense):
    """Value and weights at the optimum; (inf, None) if nothing is feasible."""
    A = np.vstack([e.A for e in dense.examples])
    b = np.concatenate([e.b for e in dense.examples])
    owner = np.repeat(
        np.arange(len(dense.examples)), [len(e.b) for e in dense.examples]
    )
    real = (b > 0) | A.any(axis=1)  # the truth says 0 >= 0: no interior
    A, b, owner = A[real], b[real], owner[real]
    dim, m = A.shape[1], len(b)
    if dense.penalty == "hard":
        if not separable(A):
            return np.inf, None
        slacks, cost, curve = sp.csc_array((m, 0)), np.zeros(0), np.zeros(0)
    elif dense.penalty == "summed":
        slacks, cost, curve = sp.eye_array(m), dense.C[owner], np.zeros(m)
    else:
        n = len(dense.C)
        slacks = sp.csc_array((np.ones(m), (np.arange(m), owner)), shape=(m, n))
        squared = dense.penalty == "squared"
        cost = np.zeros(n) if squared else dense.C
        curve = dense.C if squared else np.zeros(n)
    k = len(cost)
    P = sp.diags_array(np.concatenate([np.ones(dim), curve])).tocsc()
    q = np.concatenate([np.zeros(dim), cost])
    G = sp.vstack([
        sp.hstack([sp.csc_array(-A), -slacks]),
        sp.hstack([sp.csc_array((k, dim)), -sp.eye_array(k)]),
    ]).tocsc() if k else sp.csc_array(-A)  # fmt: skip
    h = np.concatenate([-b, np.zeros(k)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solution = clarabel.DefaultSolver(
        P, q, G, h, [clarabel.NonnegativeConeT(len(h))], settings
    ).solve()
    assert "Solved" in str(solution.status), str(solution.status)
    return solution.obj_val, np.array(solution.x)[:dim]
