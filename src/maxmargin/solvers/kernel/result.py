"""What training with a kernel leads to: an expansion with a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

from maxmargin.core.data.arrays import Floats
from maxmargin.kernels.maps import Expansion
from maxmargin.solvers.base import Result


@dataclass(frozen=True)
class KernelResult(Result):
    """A result whose machine is f_a(x) = sum_j beta_ja K(b_j, x) for the labels a.

    Attributes
    ----------
    expansion : Expansion
        Points b and coefficients beta.
    rest : array
        Weights of all that is not input (transitions, constants).
    trace : list of dict
        How the basis grew, turn by turn, where it did.
    """

    expansion: Expansion = field(repr=False)
    rest: Floats = field(repr=False)
    trace: list[dict[str, float]] = field(repr=False)
