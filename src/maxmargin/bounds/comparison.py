"""Bounds of the papers beside what happened in a run.

`training_bounds` looks up in `result.notes` what the trainer counted, and puts the
theorem that limits it in the next column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.bounds.formulas import least_rise, most_completions, most_constraints
from maxmargin.bounds.margin_loss import margin_bound
from maxmargin.bounds.norms import Constants, constants_of
from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.validation import check_shape
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Latent
from maxmargin.solvers.kernel.theorems import most_cuts


class Comparison(NamedTuple):
    """A bound and what happened; `happened` is NaN where nothing was counted."""

    name: str
    source: str
    bound: float
    happened: float

    @property
    def holds(self) -> bool:
        """Whether what happened is within the bound (true if nothing was counted)."""
        return not self.happened > self.bound


def training_bounds(
    problem: Problem, epsilon: float, notes: dict[str, Any] | None = None,
    R: float | None = None, Delta: float | None = None,
) -> list[Comparison]:  # fmt: skip
    """How many constraints and cuts at most for this epsilon, beside the notes of a run.

    Parameters
    ----------
    problem : Problem
        There are no rows for penalties other than "linear" and "squared", nor for
        regularizer "l1": the theorems are about 1/2 ||w||^2.
    epsilon : float
        Of Algorithm 1 of Tsochantaridis et al. (`NSlack`), or of Algorithm 3.1 of Yu
        (`OneSlack`).
    notes : dict, optional
        `result.notes`: "constraints_added", "cuts_added" and "completions" are looked
        up. With hidden parts the first two are those of the last convex problem.
    R, Delta : float, optional
        By default from the data, where these tell.
    """
    form, nothing, notes = problem.formulation, float("nan"), notes or {}
    if form.regularizer != "l2" or form.penalty not in ("linear", "squared"):
        return []
    n, C, R, Delta = constants_of(problem, R, Delta)
    rows = [
        Comparison(
            "constraints", "Tsochantaridis et al. 2005, Theorem 18",
            most_constraints(form, epsilon, n, C, R, Delta),
            float(notes.get("constraints_added", nothing)),
        )
    ]  # fmt: skip
    if form.penalty == "linear":
        factor = Delta if form.scales else 1.0  # slack rescaling: longer planes
        rows.append(
            Comparison(
                "cuts", "Yu 2011, Theorem 3.1", most_cuts(epsilon, C, factor * R, Delta),
                float(notes.get("cuts_added", nothing)),
            )
        )  # fmt: skip
        if "completions" in notes:
            rows.append(
                Comparison(
                    "completions", "Yu 2011, Algorithm 5.1",
                    most_completions(epsilon, Delta), float(notes["completions"]),
                )
            )  # fmt: skip
    return rows


def risk_bound(problem: Problem, w: Floats) -> Comparison:
    """The mean loss of predictions on the training data is at most the mean slack.

    Propositions 1 and 2 of Tsochantaridis et al.; for outputs with hidden parts the
    constraints of Optimization Problem 5.1 of Yu. Means are weighted by C, and squared
    slacks count squared. The search for the best output must be exact.

    Examples
    --------
    >>> from maxmargin import MulticlassSVM, bounds
    >>> X, y = np.eye(3).repeat(5, axis=0), np.arange(15) % 3
    >>> model = MulticlassSVM().fit(X, y)
    >>> x, truth = model._encoded(X, y)
    >>> problem = model._problem(model.structure_, x, truth, None)
    >>> bounds.risk_bound(problem, model.result_.w).holds
    True
    """
    check_shape(w, (problem.dim,), "all weights, as in result_.w")
    ids, weight = np.arange(problem.n), problem.C / problem.C.sum()
    latent, source = problem.structure.offers(Latent), "Tsochantaridis et al. 2005"
    if latent is not None:
        truth = latent.complete(problem.x, ids, w, problem.truth)
        problem, source = problem.with_truth(truth), "Yu 2011, Problem 5.1"
    else:
        scales = problem.formulation.scales
        source += f", Proposition {2 if scales else 1}"
    found = problem.structure.argmax(problem.x, ids, w).labels
    losses, slacks = problem.loss.value(problem.truth, found), problem.slacks(w)
    if problem.formulation.penalty == "squared":
        slacks = slacks**2
    means = float(weight @ slacks), float(weight @ losses)
    return Comparison("training loss", source, *means)


def generalisation_bound(
    problem: Problem, w: Floats, error: float = float("nan"), doubt: float = 0.05
) -> Comparison:
    """Expected loss per label at most, beside an error on new data if one is given."""
    found = margin_bound(problem, w, doubt=doubt)
    return Comparison(
        "loss per label", "Taskar et al. 2003, Theorem 6.1", found.total, error
    )


def model_bounds(
    problem: Problem, w: Floats | None, epsilon: float, notes: dict[str, Any],
    R: float | None = None, Delta: float | None = None,
) -> list[Comparison]:  # fmt: skip
    """`training_bounds`, `risk_bound` and, for labels and edges, `generalisation_bound`.

    w is None for a machine with a kernel: there is the first only, and R must be given.
    """
    if w is None and R is None:
        raise ValueError(
            "the features behind a kernel have no lengths that the data tell: give R, for "
            "instance class_difference(s) or sequence_difference(s, T) of "
            "maxmargin.bounds, where s is the square root of the largest K(x, x)"
        )
    rows = training_bounds(problem, epsilon, notes, R, Delta)
    if w is None:
        return rows
    if problem.structure.exact:
        rows.append(risk_bound(problem, w))
    try:
        rows.append(generalisation_bound(problem, w))
    except ValueError:  # another loss than a sum over labels, or unknown edges
        return rows
    return rows


def smallest_rise(problem: Problem, epsilon: float, **given: float) -> float:
    """By how much each added constraint raises the dual at least: Propositions 14-17."""
    known: Constants = constants_of(problem, **given)
    return least_rise(problem.formulation, epsilon, *known)


def table(rows: list[Comparison]) -> str:
    """The rows as lines of text.

    Examples
    --------
    >>> print(table([Comparison("cuts", "Theorem 3.1", 1600.0, 12.0)]))
    cuts           bound     1600  happened       12  (Theorem 3.1)
    """
    lines = []
    for row in rows:
        happened = "-" if np.isnan(row.happened) else f"{row.happened:.4g}"
        lines.append(
            f"{row.name:14s} bound {row.bound:8.4g}  happened {happened:>8s}  ({row.source})"
        )
    return "\n".join(lines)
