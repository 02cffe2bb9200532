"""Cutting planes: one per example, or their sum.

Oracles make them, workers send them, and solvers train with them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged, Rows


class Cuts(NamedTuple):
    """Planes b - <a, w>, one for each example asked about."""

    ids: Ints  # which example
    a: Rows
    b: Floats
    slack: Floats  # no plane of the example is higher at the w asked about
    labels: Ragged  # the output behind it


class SumCut(NamedTuple):
    """A plane below the whole risk that touches it at the w asked about."""

    a: Floats  # (dim,)
    b: float
    risk: float  # sum_i cost_i(slack_i)
    worst: float  # largest slack of those that count


class Risk(NamedTuple):
    """The risk alone, without a plane."""

    risk: float
    worst: float


def add(left: Any, right: Any) -> Any:
    """Sums of two neighbours; the arrays of the left one are used up."""
    out = left._replace(risk=left.risk + right.risk, worst=max(left.worst, right.worst))
    if isinstance(left, SumCut):
        np.add(left.a, right.a, out=left.a)
        out = out._replace(b=left.b + right.b)
    return out
