"""Which solver runs: by name, or chosen by `auto` from what the problem costs.

Where all outputs can be enumerated, "block-dual" and "sdcd" train them all at once
(`Enumerated`): the same blocks without an oracle.

`auto` decides before the run and says why in the notes of the result. It counts work and
never looks at a clock, so that the choice repeats: the oracle's work per example
(`Structure.work`), the entries of a plane (from the planes of a few examples), the
number of examples, and what the structure offers.

| what is seen                                      | trainer                         |
|---------------------------------------------------|---------------------------------|
| L1 regularisation                                 | proximal steps                  |
| two outputs, few dense features, one weight each  | Newton steps                    |
| a kernel on the nodes of networks                 | SMO on the factored dual        |
| outputs few enough to hold all alpha              | all outputs at once             |
| summed error                                      | SDCD                            |
| many tokens, loss per token, linear penalty       | lanes                           |
| one example has most of the data                  | one slack for the whole sample  |
| some planes per example fit into the memory       | block dual, may merge planes    |
| not even that                                     | one slack for the whole sample  |
| workers on other machines                         | see `distributed/choice.py`     |

The block dual weighs oracle passes against sweeps over cached planes while it runs, by
the same counts; `share` is the oracle's part of a visit. It is also chosen where memory
is short: merging planes costs time but no further passes, while Frank-Wolfe with one
plane per example needs more passes and, in the coordinates of w, more memory
(docs/solver_guide).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import FewOutputs, MostViolated
from maxmargin.solvers.base import Resolved, Solver, Trainer
from maxmargin.solvers.distributed.choice import choose_spread
from maxmargin.solvers.distributed.cocoa import Cocoa
from maxmargin.solvers.enumerated.block_dual import Enumerated
from maxmargin.solvers.enumerated.newton import Newton, newton_applies
from maxmargin.solvers.frank_wolfe.bcfw import BCFW
from maxmargin.solvers.lanes.solver import Lanes, fits
from maxmargin.solvers.n_slack.block_dual import PER_ENTRY, PER_PLANE, BlockDual
from maxmargin.solvers.n_slack.cutting_plane import NSlack, NSlackBlock
from maxmargin.solvers.n_slack.sdm import SDM
from maxmargin.solvers.one_slack.cutting_plane import OneSlack
from maxmargin.solvers.smo import Smo
from maxmargin.solvers.sparse.proximal import ProximalL1
from maxmargin.solvers.subgradient import Subgradient
from maxmargin.solvers.summed.cutting_plane import LSECuttingPlane
from maxmargin.solvers.summed.cutting_plane_as_written import LSECuttingPlaneAsWritten
from maxmargin.solvers.summed.n_slack import LSENSlack
from maxmargin.solvers.summed.sdcd import SDCD
from maxmargin.solvers.summed.sdcd_as_written import SDCDAsWritten

MANY_TOKENS = (
    10_000  # with fewer, any trainer is done before the loops of lanes compile
)
FEW_TOKENS = 2000  # with fewer, any trainer is fast, however long the examples are
MOST = 0.5  # share of one example from which a sum over all is as good as its plane
SAMPLE = 32  # examples whose planes are looked at
HELD = 12  # planes per example that the block dual ends up with, about
TIGHT = 4  # and with how few it still gets along
ENTRY = 12.0  # bytes of an entry of a plane

SOLVERS: dict[str, type[Solver[Any]]] = {
    "block-dual": BlockDual,
    "lanes": Lanes,
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
    "lse-n-slack": LSENSlack,
    "proximal-l1": ProximalL1,
}
# Algorithms as their papers print them, beside our variants: they end by the rules of
# the papers, and need not reach `tol`.
AS_WRITTEN: dict[str, type[Solver[Any]]] = {
    "sdcd-as-written": SDCDAsWritten,
    "lse-cutting-plane-as-written": LSECuttingPlaneAsWritten,
}


def choose(solver: str | Trainer, problem: Problem, **settings: Any) -> Trainer:
    """The trainer for a name (or the object given), with its settings.

    Parameters
    ----------
    solver : str or Trainer
        A name from `SOLVERS` or `AS_WRITTEN`, "auto", or an object, which is taken as it is.
    problem : Problem
        What is to be trained.
    **settings
        tol, max_iter, max_time, seed; those that are None keep their default.
    """
    if isinstance(solver, Solver) and solver.expands:
        raise ValueError(
            f"solver={type(solver).__name__}(..) trains a kernel machine, not weights: "
            "it is chosen by kernel= and kernel_method="
        )
    if isinstance(solver, Trainer):
        return solver
    if not isinstance(solver, str):
        raise TypeError(f"solver={solver!r} is neither a name nor a Solver object")
    settings = {k: v for k, v in settings.items() if v is not None}
    if solver in ("block-dual", "sdcd") and _enumerable(problem):
        return Enumerated(**settings)
    if solver == "auto":
        return Auto(**settings)
    known = {**SOLVERS, **AS_WRITTEN}
    if solver not in known:
        names = ", ".join(repr(k) for k in ("auto", *known))
        raise ValueError(f"solver={solver!r} is not known: choose from {names}")
    return known[solver](**settings)


def resolve(solver: str | Trainer, problem: Problem, **settings: Any) -> Resolved:
    """The solver that will run, decided now: see `choose` and `Auto`."""
    return choose(solver, problem, **settings).resolve(problem)


def _enumerable(problem: Problem) -> bool:
    if problem.structure.offers(FewOutputs) is None:
        return False
    return 8.0 * problem.n * problem.structure.label_count() <= MEMORY


class Costs(NamedTuple):
    """What was counted."""

    n: int
    dim: int
    oracle: float  # multiply-adds per example
    entries: float  # of a plane, as the trainer stores it
    outputs: int  # per example where they are few, else 0
    share: float = 0.0  # of the oracle in a visit, the planes held being the rest
    cores: int = 1  # that this process may use


@dataclass(frozen=True)
class Auto(Trainer):
    """Picks a solver before the run; `notes` in the result say which and why.

    Parameters
    ----------
    memory : float
        Bytes for dual variables and planes at most.
    """

    max_iter: int = 10_000
    memory: float = MEMORY

    def resolve(self, problem: Problem) -> Resolved:
        """The solver for this problem, and the notes that say why."""
        sequences = _many_tokens(problem) and fits(problem, self.memory)
        costs = count(problem, sample=0 if sequences else SAMPLE)
        penalty, here = problem.formulation.penalty, False
        kind: type[Solver[Any]]
        options: dict[str, Any]
        if problem.formulation.regularizer == "l1":
            kind, options = ProximalL1, {"memory": self.memory}
            why = "L1 regularisation: proximal steps"
        elif costs.outputs == 2 and newton_applies(problem):
            kind, options = Newton, {}
            why = (
                f"two outputs over {problem.dim} dense features, few for {costs.n} rows"
            )
        elif problem.structure.offers(MostViolated) is None:
            kind, options = Smo, {}
            why = "a kernel on the nodes: only the factored dual can be trained"
        elif problem.engine.remote and not costs.outputs and penalty in Cocoa.penalties:
            planes = TIGHT * costs.n * costs.entries * ENTRY
            kind, options, why, here = choose_spread(
                problem, costs.share, planes, self.memory
            )
        elif sequences:
            kind, options = Lanes, {"memory": self.memory}
            why = "many tokens, a loss that adds up over them, linear penalty"
        elif penalty == "linear" and not costs.outputs and _one_example(problem):
            kind, options = OneSlack, {"memory": self.memory}
            why = "one example has most of the data: planes of single ones do not help"
        else:
            kind, options, why = decide(costs, penalty, self.memory)
        notes: dict[str, Any] = {
            "chosen": kind.__name__,
            "why": why,
            "counted": costs._asdict(),
        }
        if here:  # the workers are not worth the way
            notes["here"] = True
            problem = problem.shared_data
        solver = kind(self.tol, self.max_iter, self.max_time, self.seed, **options)
        return Resolved(solver, problem, notes)


def _many_tokens(problem: Problem) -> bool:
    """Whether there are so many tokens that it pays to compile the loops of lanes."""
    return bool(problem.truth.ptr[-1] >= MANY_TOKENS)


def _one_example(problem: Problem) -> bool:
    """Whether one example of several has most of a large sample."""
    size = problem.truth.ptr[-1]
    longest = np.diff(problem.truth.ptr).max(initial=0)
    return bool(problem.n > 1 and size >= FEW_TOKENS and longest > MOST * size)


def count(problem: Problem, sample: int = SAMPLE) -> Costs:
    """Count what a pass of the oracle and a plane cost, the latter on a sample."""
    ids = np.unique(np.linspace(0, problem.n - 1, min(sample, problem.n)).astype(int))
    few = problem.structure.offers(FewOutputs) is not None
    entries = 0.0
    if sample and not few and problem.structure.offers(MostViolated) is not None:
        planes = problem.shared_data.planes(np.zeros(problem.dim), ids)
        entries = float(np.diff(planes.a.ptr).mean())
    oracle = float(problem.work().mean())
    visit = oracle + PER_PLANE + PER_ENTRY * HELD * entries
    return Costs(
        problem.n, problem.dim, oracle, entries,
        problem.structure.label_count() if few else 0, oracle / visit, cores(),
    )  # fmt: skip


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def decide(
    costs: Costs, penalty: str, memory: float
) -> tuple[type[Solver[Any]], dict[str, Any], str]:
    """Trainer, options and reason.

    Examples
    --------
    >>> decide(Costs(10**7, 10**6, 1e5, 1e4, 0), "linear", 4e9)[0].__name__
    'OneSlack'
    >>> decide(Costs(10**4, 10**6, 1e5, 1e3, 0), "linear", 4e9)[0].__name__
    'BlockDual'
    """
    if costs.outputs and 8.0 * costs.n * costs.outputs <= memory:
        return Enumerated, {}, f"{costs.outputs} outputs: all alpha are kept"
    if penalty == "summed":
        return SDCD, {"memory": 0.75 * memory}, "summed error: boxes, V_i grows"
    plane = costs.n * costs.entries * ENTRY
    if HELD * plane <= memory or penalty == "hard":
        why = f"about {HELD * plane / 1e6:.0f} MB for {HELD} planes per example"
        return BlockDual, {"memory": memory}, why
    if TIGHT * plane <= memory:
        why = (
            f"{HELD * plane / 1e6:.0f} MB for {HELD} planes per example is too much, "
            f"but {TIGHT * plane / 1e6:.0f} for {TIGHT} is not: planes are merged"
        )
        return BlockDual, {"memory": memory}, why
    why = f"{TIGHT * plane / 1e6:.0f} MB for {TIGHT} planes per example is too much"
    return OneSlack, {"memory": memory}, why
