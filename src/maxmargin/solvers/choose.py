"""Solvers by name.

Where all outputs can be enumerated, "block-dual" and "sdcd" train them all at once
(`Enumerated`): the same blocks without an oracle. "auto" decides by itself, see `auto`.
"""

from __future__ import annotations

from typing import Any

from maxmargin.core.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import FewOutputs
from maxmargin.solvers.auto import Auto
from maxmargin.solvers.base import Resolved, Solver, Trainer
from maxmargin.solvers.distributed.cocoa import Cocoa
from maxmargin.solvers.enumerated.block_dual import Enumerated
from maxmargin.solvers.frank_wolfe.bcfw import BCFW
from maxmargin.solvers.n_slack.block_dual import BlockDual
from maxmargin.solvers.n_slack.cutting_plane import NSlack, NSlackBlock
from maxmargin.solvers.n_slack.sdm import SDM
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.smo import Smo
from maxmargin.solvers.subgradient import Subgradient
from maxmargin.solvers.summed.cutting_plane import LSECuttingPlane
from maxmargin.solvers.summed.sdcd import SDCD

SOLVERS: dict[str, type[Solver[Any]]] = {
    "block-dual": BlockDual,
    "n-slack": NSlack,
    "n-slack-block": NSlackBlock,
    "one-slack": OneSlack,
    "smo": Smo,
    "sdm": SDM,
    "bcfw": BCFW,
    "cocoa": Cocoa,
    "subgradient": Subgradient,
    "sdcd": SDCD,
    "lse-cutting-plane": LSECuttingPlane,
}


def choose(solver: str | Trainer, problem: Problem, **settings: Any) -> Trainer:
    """The trainer for a name (or the object given), with its settings.

    Parameters
    ----------
    solver : str or Trainer
        A name from `SOLVERS`, "auto", or an object, which is taken as it is.
    problem : Problem
        What is to be trained.
    **settings
        tol, max_iter, max_time, seed; those that are None keep their default.
    """
    if isinstance(solver, Trainer):
        return solver
    if not isinstance(solver, str):
        raise TypeError(f"solver={solver!r} is neither a name nor a Solver object")
    settings = {k: v for k, v in settings.items() if v is not None}
    if solver in ("block-dual", "sdcd") and _enumerable(problem):
        return Enumerated(**settings)
    if solver == "auto":
        return Auto(**settings)
    if solver not in SOLVERS:
        names = ", ".join(repr(k) for k in ("auto", *SOLVERS))
        raise ValueError(f"solver={solver!r} is not known: choose from {names}")
    return SOLVERS[solver](**settings)


def resolve(solver: str | Trainer, problem: Problem, **settings: Any) -> Resolved:
    """The solver that will run, decided now: see `choose` and `Auto`."""
    return choose(solver, problem, **settings).resolve(problem)


def _enumerable(problem: Problem) -> bool:
    if problem.structure.offers(FewOutputs) is None:
        return False
    return 8.0 * problem.n * problem.structure.label_count() <= MEMORY
