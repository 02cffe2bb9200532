"""Which trainer to use where examples are spread over machines.

The choice depends on n, dim and the network.

With t seconds of oracle per example, s the oracle's share of a visit, K workers and r
seconds to send w out and a vector back, all measured at the start,

    here        PASSES["here"]      *  n t / s                    planes fit into memory
    shards      PASSES["shards"]    * (1.1 n t / (s K) + r)       planes fit on K workers
    one slack   PASSES["one-slack"] * (n t / K + r)               always

and the smallest is taken. The passes are those to a gap of 1 % on OCR (docs/scaling.md);
on other tasks all three need more, and one slack most of all. These are measured times,
so the choice may differ between two runs; name a trainer where that matters.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver
from maxmargin.solvers.distributed.cocoa import Cocoa
from maxmargin.solvers.n_slack.block_dual import BlockDual
from maxmargin.solvers.one_slack.cutting_plane import OneSlack

PASSES = {"here": 7, "shards": 25, "one-slack": 447}
SAMPLE = 64  # examples that are clocked


def measure(problem: Problem) -> tuple[float, float]:
    """Seconds of oracle per example, and of a round trip of w."""
    ids = np.unique(np.linspace(0, problem.n - 1, min(SAMPLE, problem.n)).astype(int))
    w = np.zeros(problem.dim)
    problem.shared_data.planes(w, ids)  # compile
    start = time.perf_counter()
    problem.shared_data.planes(w, ids)
    seconds = (time.perf_counter() - start) / len(ids)
    return seconds, problem.engine.round_trip(w)


def decide_spread(
    n: int,
    seconds: float,
    share: float,
    trip: float,
    workers: int,
    fits_here: bool,
    fits_there: bool,
) -> tuple[str, dict[str, float]]:
    """The least of the three, and the seconds predicted for each.

    Examples
    --------
    >>> decide_spread(1000, 1e-4, 0.5, 0.1, 8, True, True)[0]  # sending takes longer
    'here'
    >>> decide_spread(10**7, 1e-3, 0.5, 0.1, 8, False, True)[0]
    'shards'
    >>> decide_spread(10**7, 1e-3, 0.9, 0.1, 8, False, False)[0]
    'one-slack'
    """
    visit = n * seconds / share
    predicted = {"one-slack": PASSES["one-slack"] * (n * seconds / workers + trip)}
    if fits_here:
        predicted["here"] = PASSES["here"] * visit
    if fits_there:
        predicted["shards"] = PASSES["shards"] * (1.1 * visit / workers + trip)
    return min(predicted, key=lambda name: predicted[name]), predicted


def choose_spread(
    problem: Problem, share: float, planes: float, memory: float
) -> tuple[type[Solver[Any]], dict[str, Any], str, bool]:
    """Trainer, options, reason, and whether it runs here without the workers."""
    workers = problem.engine.workers
    seconds, trip = measure(problem)
    name, predicted = decide_spread(
        problem.n, seconds, max(share, 1e-3), trip, workers, planes <= memory,
        planes <= memory * workers,
    )  # fmt: skip
    why = f"{workers} workers, {trip:.3f} s per round trip; predicted " + ", ".join(
        f"{k} {v:.3g} s" for k, v in sorted(predicted.items())
    )
    if name == "here":
        return BlockDual, {"memory": memory}, why, True
    if name == "shards":
        return Cocoa, {"memory": memory}, why, False
    return OneSlack, {}, why, False
