"""Runs of the trainers that write checkpoints: `RUNS[name]` is (made, data, step).

`made(**settings)` is an estimator, `data()` is (X, y), and a run makes more than `step`
steps.
"""

import numpy as np

from maxmargin import KernelSVM, MulticlassSVM, NetworkSVM, StructuralSVM
from maxmargin.solvers.distributed import Cocoa
from maxmargin.solvers.frank_wolfe import BCFW
from maxmargin.structures import Matching


def matchings(n=30):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3, 2)) for _ in range(n)]
    noise = 0.5 * rng.normal(size=(n, 3))
    return X, [np.argsort(x[:, :, 0].sum(1) + e).tolist() for x, e in zip(X, noise)]


def points(n=60):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    return X, (X @ rng.normal(size=(4, 3)) + rng.normal(size=(n, 3))).argmax(axis=1)


def graphs():
    rng = np.random.default_rng(2)
    path = np.array([[0, 1], [1, 2], [2, 3]])
    X = [(rng.normal(size=(4, 2)), path) for _ in range(20)]
    return X, [(x[0][:, 0] + 0.5 * rng.normal(size=4) > 0).astype(int) for x in X]


def structural(**settings):
    return lambda **more: StructuralSVM(Matching(), C=1.0, tol=1e-6, **settings, **more)


RUNS = {
    **{
        name: (structural(solver=name), matchings, 3)
        for name in ("auto", "block-dual", "n-slack-block", "one-slack", "sdm", "bcfw")
    },
    "bcfw pairwise": (
        structural(solver=BCFW(1e-6, cache=8, steps="pairwise", average=False)),
        matchings, 3,
    ),
    "cocoa": (structural(solver=Cocoa(1e-6, shards=3, portions=2)), matchings, 7),
    "squared": (structural(penalty="squared", solver="block-dual"), matchings, 3),
    "subgradient": (structural(solver="subgradient", max_iter=20), matchings, 7),
    "sdcd": (structural(penalty="summed", solver="sdcd"), matchings, 5),
    "lse": (
        structural(penalty="summed", solver="lse-cutting-plane", max_iter=40),
        matchings, 5,
    ),
    "sdcd as written": (
        structural(penalty="summed", solver="sdcd-as-written", max_iter=20),
        matchings, 5,
    ),
    "lse n-slack": (
        structural(penalty="summed", solver="lse-n-slack", max_iter=40), matchings, 5
    ),
    "proximal l1": (structural(regularizer="l1", max_iter=40), matchings, 5),
    "enumerated": (lambda **s: MulticlassSVM(tol=1e-8, **s), points, 3),
    "kernel, explicit map": (
        lambda **s: KernelSVM(kernel_method="nystroem", n_basis=20, tol=1e-8, **s),
        points, 3,
    ),
    "smo": (
        lambda **s: NetworkSVM(solver="smo", tol=1e-6, C=1.0, max_iter=60, **s),
        graphs, 3,
    ),
    "smo with a kernel": (
        lambda **s: NetworkSVM(kernel="rbf", tol=1e-6, C=1.0, max_iter=60, **s),
        graphs, 3,
    ),
}  # fmt: skip
