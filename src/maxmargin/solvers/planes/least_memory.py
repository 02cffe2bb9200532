"""How much memory one plane per example takes: asked before training begins."""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.memory import refuse_larger
from maxmargin.core.problem import Problem

SAMPLE = 32  # examples whose planes are looked at
PLENTY = 1e5  # bytes per example with which nothing needs to be looked at
STEPS = 3  # of a perceptron, whose planes are merged


def refuse_too_little(
    problem: Problem,
    memory: float,
    fixed: float,
    entry: float,
    share: float,
    outer: bool,
) -> None:
    """Raise MemoryError unless one plane of each example fits into the memory.

    Parameters
    ----------
    problem : Problem
    memory : float
        Bytes allowed.
    fixed, entry : float
        Bytes of an example, and of an entry of its plane.
    share : float
        Of the memory that planes may take.
    outer : bool
        Whether planes are in the coordinates of `Problem.planes`, else in those of w.
    """
    if memory >= problem.n * PLENTY or not problem.exact:
        return
    entries = _entries(problem, outer)
    refuse_larger(
        problem.n * (fixed + entry * entries) / share, memory,
        f"training with a cutting plane for each of {problem.n} examples",
        "allow more, or use solver='one-slack', which keeps sums over examples only",
    )  # fmt: skip


def _entries(problem: Problem, outer: bool) -> float:
    """Entries of a plane that was merged from several, on average over a few examples."""
    here, w = problem.shared_data, np.zeros(problem.dim)
    ids = np.unique(np.linspace(0, problem.n - 1, min(SAMPLE, problem.n)).astype(int))
    seen: list[set[int]] = [set() for _ in ids]
    for _ in range(STEPS):
        cuts = here.cuts(w, ids)
        planes = here.planes(w, ids) if outer else cuts
        for k, held in enumerate(seen):
            held.update(planes.a.idx[planes.a.ptr[k] : planes.a.ptr[k + 1]].tolist())
        np.add.at(w, cuts.a.idx, cuts.a.val)
    return sum(map(len, seen)) / max(len(ids), 1)
