"""Small problems with all their planes, the dense QP over them (clarabel), and Sign."""

from itertools import product

import clarabel
import numpy as np
import scipy.sparse as sp

from maxmargin.core import Formulation, Problem, Ragged
from maxmargin.losses import Hamming
from maxmargin.structures.chain import Chain
from maxmargin.structures.classes import Multiclass


def chain_problem(
    seed, n=7, C=0.3, penalty="linear", rescaling="margin", longest=3, labels=3
):
    """Random words whose letters depend on their labels, so that margins matter."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(labels, 4))
    Y = [rng.integers(labels, size=rng.integers(1, longest + 1)) for _ in range(n)]
    Y[0] = np.arange(labels)
    X = [centres[y] + 0.8 * rng.normal(size=(len(y), 4)) for y in Y]
    structure = Chain(start_end=False).bind(X, Y)
    x = structure.encode(X)
    return Problem(
        structure, Hamming().bind(labels), Formulation(rescaling, penalty), x,
        structure.encode_labels(x, Y), np.full(n, float(C)),
    )  # fmt: skip


def multiclass_problem(seed, n=30, C=0.3, penalty="linear", k=4, d=5):
    """Random points around k centres."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    X = rng.normal(size=(k, d))[y] + 0.8 * rng.normal(size=(n, d))
    structure = Multiclass().bind(X, y)
    x = structure.encode(X)
    return Problem(
        structure, Hamming().bind(k), Formulation("margin", penalty), x,
        structure.encode_labels(x, y), np.full(n, float(C)),
    )  # fmt: skip


def all_planes(problem):
    """(example, a dense, b) of every output but the truth."""
    owner, planes, heights = [], [], []
    k = problem.structure.label_count()
    for i in range(problem.n):
        truth = problem.truth.row(i)
        for row in product(range(k), repeat=len(truth)):
            if list(row) == truth.tolist():
                continue
            labels = Ragged.pack([row])
            own = Ragged.pack([truth])
            features = problem.structure.features
            ids = np.array([i])
            dpsi = features(problem.x, ids, own).minus(features(problem.x, ids, labels))
            a, b = problem.formulation.plane(dpsi, problem.loss.value(own, labels))
            owner.append(i)
            planes.append(a.total(problem.dim))
            heights.append(b[0])
    return np.array(owner), np.array(planes), np.array(heights)


def optimum(problem):
    """Value of the dual by a dense QP over all planes, and w."""
    owner, A, b = all_planes(problem)
    m, n = len(b), problem.n
    dual_set = problem.dual_set
    ridge = dual_set.ridge[owner][:, None] * (owner[:, None] == owner[None, :])
    P = sp.csc_matrix(np.triu(A @ A.T + ridge + 1e-11 * np.eye(m)))
    rows, bounds = [-sp.eye(m)], [np.zeros(m)]
    if dual_set.box:
        rows.append(sp.eye(m))
        bounds.append(dual_set.upper[owner])
    elif np.isfinite(dual_set.upper).all():
        rows.append(sp.csr_matrix((np.ones(m), (owner, np.arange(m))), shape=(n, m)))
        bounds.append(dual_set.upper)
    G, h = sp.csc_matrix(sp.vstack(rows)), np.concatenate(bounds)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(len(h))]
    answer = clarabel.DefaultSolver(P, -b, G, h, cones, settings).solve()
    alpha = np.maximum(np.array(answer.x), 0.0)
    w = A.T @ alpha
    mass = np.bincount(owner, alpha, n)
    value = alpha @ b - 0.5 * w @ w - 0.5 * dual_set.ridge @ mass**2
    return float(value), w


class Sign:
    """Two classes, told apart by the sign of a product."""

    def joint_feature(self, x, y):
        return y * np.asarray(x)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, w, x, y=None):
        def worth(z):
            return w @ self.joint_feature(x, z) + (0 if y is None else self.loss(y, z))

        return max((-1, 1), key=worth)
