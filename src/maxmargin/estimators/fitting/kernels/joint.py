"""Training with a joint kernel J((x, y), (x', y')).

    f(x, y) = sum_p beta_p J((x_p, y_p), (x, y))        over support pairs p

The dual over constraints is the one without a kernel, with J in place of products of
joint features [1]. Any trainer solves it, in coordinates that grow with the pairs of
its constraints (`structures.joint.growing`); what it leads to is a model over the
support pairs.

[1] Tsochantaridis et al. 2005, section 3.2, equation (14).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import real_numbers
from maxmargin.core.data.warned import warn
from maxmargin.core.engine import Serial
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.kernels.certificate import of_support_pairs
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.kernels.functions import Kernel, named_kernel
from maxmargin.kernels.joint import FeatureKernel, JointKernel, PairFunction
from maxmargin.solvers.base import Result, State
from maxmargin.solvers.choose import choose
from maxmargin.structures.joint.growing import Growing
from maxmargin.structures.joint.structure import OwnPairs, PairStructure

SCALED_BY = 200  # examples whose joint features set the scale of a named kernel


def joint_plan(
    estimator: StructuredEstimator,
    plain: PairStructure,
    data: TrainingData,
    C: float | None = None,
) -> TrainingPlan:
    """What to run where a joint kernel replaces weights by support pairs."""
    _check_settings(estimator)
    growing = Growing.over(plain, data.x)
    asked = estimator._problem(plain, *data[1:4], C)
    estimator._release(asked.engine)
    problem = replace(asked, structure=growing, engine=Serial())
    trainer = choose(
        estimator.solver, problem, tol=estimator.tol, max_iter=estimator.max_iter,
        max_time=estimator.max_time, seed=estimator._seed(),
    )  # fmt: skip

    def adopt(one: Any, result: Result, state: State | None) -> None:
        structure, beta = growing.model(result.w)
        notes = {**result.notes, "support pairs": len(beta)}
        one._adopt(structure, replace(result, w=beta, notes=notes))

    def certify(result: Result, state: State | None) -> Result:
        C = problem.C * result.notes.get("C", 1.0)  # of a path
        return of_support_pairs(problem.with_C(C), growing, result, estimator.tol)

    return TrainingPlan(
        trainer, problem, adopt, data.X, data.y, streams=False, certify=certify
    )


def _check_settings(estimator: StructuredEstimator) -> None:
    """Refuse what coordinates that grow cannot be used for."""
    if estimator.regularizer != "l2":
        raise ValueError(
            "regularizer='l1' is about the weights of features, and a joint kernel has "
            "none: leave out one of the two"
        )
    if estimator.checkpoint is not None:
        raise ValueError(
            "there are no checkpoints with a joint kernel, whose coordinates are those of "
            "one run: leave checkpoint out"
        )
    if estimator.warm_start:
        raise ValueError(
            "warm_start is not available for joint kernels, whose coordinates are those of "
            "one run; fit_path makes warm-started runs for several C"
        )
    if estimator.engine is not None or estimator.n_jobs not in (None, 1):
        warn(
            "joint kernels are trained on one core: n_jobs and engine are not used",
        )


def own_pairs(owner: Any, kernel: Any, X: Any, y: Any) -> OwnPairs:
    """The structure of a user's object under the kernel asked for."""
    _check_owner(owner)
    if isinstance(kernel, JointKernel):
        return OwnPairs(kernel, owner=owner)
    if isinstance(kernel, str | Kernel):
        if not callable(getattr(owner, "joint_feature", None)):
            raise TypeError(
                f"kernel={kernel!r} compares joint features, but the structure has no "
                "method joint_feature: give it one, or a kernel of pairs"
            )
        joint = FeatureKernel(owner, named_kernel(kernel, _some_features(owner, X, y)))
        return OwnPairs(joint, owner=owner)
    if not callable(kernel):
        raise TypeError(
            f"kernel={kernel!r} is neither a name nor a function of two pairs"
        )
    return OwnPairs(PairFunction(kernel), owner=owner)


def _check_owner(owner: Any) -> None:
    """With a kernel, an object needs a loss, and a list of outputs or a search."""
    has = {name: callable(getattr(owner, name, None)) for name in ("loss", "outputs")}
    searches = callable(getattr(owner, "argmax", None))
    if isinstance(owner, type) or not has["loss"]:
        raise TypeError(
            f"structure={owner!r}: a kernel of pairs needs an object with the methods "
            "loss(y, y_hat), and outputs(x) or argmax(score, x, y=None)"
        )
    if not has["outputs"] and not searches:
        raise TypeError(
            f"structure={owner!r} has neither outputs(x), which lists all outputs of x, "
            "nor argmax(score, x, y=None), which searches for the best by a function"
        )
    if callable(getattr(owner, "complete", None)):
        raise TypeError(
            f"structure={owner!r} has hidden parts (a method `complete`), which are not "
            "there for kernels of pairs"
        )


def _some_features(owner: Any, X: Any, y: Any) -> Any:
    """Joint features of a few true outputs, which set the scale of a named kernel."""
    few = range(min(len(y), SCALED_BY))
    pairs = [owner.joint_feature(X[i], y[i]) for i in few]
    dense = [p.toarray() if hasattr(p, "toarray") else p for p in pairs]
    return np.vstack([real_numbers(p).ravel() for p in dense])
