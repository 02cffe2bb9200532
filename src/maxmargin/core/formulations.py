"""How a loss becomes a plane, and the constraints on its dual variable.

With dpsi = psi(x, truth) - psi(x, y), s = <w, dpsi> and delta = loss(truth, y), an
example's slack is at least b - <a, w> for the plane (a, b) of each y; the dual is

    max  sum alpha * b - 1/2 ||sum alpha * a||^2 - 1/2 sum_i ridge_i (sum_y alpha_iy)^2

| formulation              | a                 | b           | dual set        | ridge |
|--------------------------|-------------------|-------------|-----------------|-------|
| SVM0, hard margin        | dpsi              | delta       | alpha >= 0      | 0     |
| SVM1, margin rescaling   | dpsi              | delta       | sum alpha <= C  | 0     |
| SVM1, slack rescaling    | delta * dpsi      | delta       | sum alpha <= C  | 0     |
| SVM2, margin rescaling   | dpsi              | sqrt(delta) | alpha >= 0      | 1 / C |
| SVM2, slack rescaling    | sqrt(delta) * dpsi| sqrt(delta) | alpha >= 0      | 1 / C |
| LSE, linear summed error | dpsi              | delta       | 0 <= alpha <= C | 0     |

SVM0, SVM1 and SVM2 without a loss are margin rescaling with the zero-one loss, so
`rescaling=None` chooses that loss and nothing else. C multiplies the plain sum of
slacks (scikit-learn's scale); each example has its own C through its sample weight.

[1] Tsochantaridis et al. 2005, section 2.2 and Propositions 4-9.
[2] Balamurugan et al. 2012, OP2 (linear summed error).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Rows

RESCALINGS = ("margin", "slack", None)
Number = TypeVar("Number", float, Floats)  # one loss or margin, or an array
PENALTIES = ("linear", "squared", "hard", "summed")
REGULARIZERS = ("l2", "l1")  # 1/2 ||w||^2, ||w||_1


class DualSet(NamedTuple):
    """Constraints on the dual variables of each example, and its ridge."""

    upper: Floats  # (n,) sum of alpha at most this (infinite: no bound)
    ridge: Floats  # (n,) added to every entry of the example's Gram matrix
    box: bool  # whether `upper` bounds each alpha instead of their sum

    def growth(self, new: DualSet) -> Floats:
        """Factor on alpha of each example that carries it over to another C."""
        if np.isfinite(self.upper).all() and np.isfinite(new.upper).all():
            return np.where(
                self.upper > 0, new.upper / np.maximum(self.upper, 1e-300), 0.0
            )
        if (self.ridge > 0).all() and (new.ridge > 0).all():
            return self.ridge / new.ridge
        return np.ones(len(new.upper))


@dataclass(frozen=True)
class Violation:
    """What the worst output of an example maximises: H(y) of Algorithm 1 in [1].

        H(delta, margin) = b - margin,   with slack rescaling  b * (1 - margin)
        b = weight * delta,              with the squared penalty  sqrt(delta)

    where margin = <w, dpsi>. Losses and margins may be numbers or arrays.

    Parameters
    ----------
    slack : bool
        Slack rescaling.
    squared : bool
        Squared penalty.
    weight : float
        Factor of the loss where it enters linearly.

    Examples
    --------
    >>> float(Violation(slack=True).value(0.5, -1.0))
    1.0
    """

    slack: bool = False
    squared: bool = False
    weight: float = 1.0

    @property
    def linear(self) -> bool:
        """Whether H is linear in loss and margin."""
        return not (self.slack or self.squared)

    def offset(self, delta: Number) -> Number:
        """The offset b of a plane: the weighted loss, or its root."""
        return np.sqrt(delta) if self.squared else self.weight * delta

    def value(self, delta: Number, margin: Number) -> Number:
        """H(delta, margin)."""
        b = self.offset(delta)
        return b * (1.0 - margin) if self.slack else b - margin

    def most_margin(self, above: float, delta: Floats) -> Floats:
        """Margin below which an output with such a loss violates more than `above`."""
        b = self.offset(delta)
        if not self.slack:
            return b - above
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(b > 0.0, 1.0 - above / b, -np.inf)

    def ideal_weight(self, delta: Number, margin: Number) -> Number:
        """Weight v for which (delta, margin) is stationary in  v * delta - margin."""
        safe = np.maximum(delta, 1e-300)
        slope: Number
        slope = self.weight + 0.0 * safe if not self.slack else (1.0 - margin) / safe
        if self.squared:
            slope = 0.5 * slope / (np.sqrt(safe) if not self.slack else 1.0)
        return slope

    def line_bound(self, weight: Floats, value: Floats, most: Floats) -> Floats:
        """Largest H with  weight * delta - margin <= value  and  delta <= most."""
        reach = 1.0 + value
        if not self.slack:
            at = 0.25 / weight**2 if self.squared else most
        elif self.squared:
            at = np.maximum(reach, 0.0) / (3.0 * weight)
        else:
            at = np.maximum(reach, 0.0) / (2.0 * weight)
        at = np.clip(at, 0.0, most)
        return np.maximum(self.value(at, weight * at - value), 0.0)

    def line_reaching(self, weight: float, above: float) -> float:
        """Least value for which `line_bound(weight, value, most=1)` reaches `above`.

        The inverse of `line_bound` where losses are at most 1 and `above` is positive:
        outputs with a smaller  weight * delta - margin  violate less.
        """
        v = weight
        if not self.slack:
            gain = max(self.weight - v, 0.0)
            if self.squared:
                gain = 0.25 / v if v >= 0.5 else 1.0 - v
            return above - gain
        if above >= (2.0 * v if self.squared else v):  # delta = 1 is the best choice
            return above + v - 1.0
        if self.squared:
            return float((1.5 * above * (3.0 * v) ** 0.5) ** (2.0 / 3.0)) - 1.0
        return float(2.0 * (v * above) ** 0.5) - 1.0


# Every criterion that a formulation may have.
CRITERIA = tuple(
    Violation(slack, squared) for slack in (False, True) for squared in (False, True)
)


@dataclass(frozen=True)
class Formulation:
    """One row of the table: `rescaling` x `penalty`; and what keeps w small."""

    rescaling: str | None = "margin"
    penalty: str = "linear"
    regularizer: str = "l2"

    def __post_init__(self) -> None:
        """Refuse what is not in the table."""
        if self.rescaling not in RESCALINGS:
            raise ValueError(
                f"rescaling={self.rescaling!r} is not one of 'margin', 'slack', None"
            )
        if self.penalty not in PENALTIES:
            raise ValueError(
                f"penalty={self.penalty!r} is not one of 'linear', 'squared', 'hard', "
                "'summed'"
            )
        if self.penalty == "summed" and self.rescaling == "slack":
            raise ValueError(
                "penalty='summed' (linear summed error) is defined with margin "
                "rescaling only: use rescaling='margin'"
            )
        if self.regularizer not in REGULARIZERS:
            raise ValueError(
                f"regularizer={self.regularizer!r} is neither 'l2' nor 'l1'"
            )
        if self.regularizer == "l1" and self.penalty != "linear":
            raise ValueError(
                f"regularizer='l1' is there for penalty='linear', not for "
                f"{self.penalty!r}"
            )

    @property
    def scales(self) -> bool:
        """Whether planes are multiplied by the loss (slack rescaling)."""
        return self.rescaling == "slack"

    @property
    def criterion(self) -> Violation:
        """What the worst output of an example maximises."""
        return Violation(self.scales, self.penalty == "squared")

    def plane_offset(self, delta: Floats) -> Floats:
        """The offset b of the plane: the loss, or its root under the squared penalty."""
        return self.criterion.offset(delta)

    def plane(self, dpsi: Rows, delta: Floats) -> tuple[Rows, Floats]:
        """(a, b) from (dpsi, delta)."""
        b = self.plane_offset(delta)
        return (dpsi.scale(b) if self.scales else dpsi), b

    def linear_in_loss(self, zero_one: bool) -> bool:
        """Whether the worst output maximises  <w, psi> + delta  itself."""
        return zero_one or self.criterion.linear

    def dual_set(self, C: Floats) -> DualSet:
        """Bounds and ridge for examples with penalties C (n,)."""
        zero, counts = np.zeros(len(C)), C > 0  # without weight, alpha stays zero
        if self.penalty == "hard":
            return DualSet(np.where(counts, np.inf, 0.0), zero, False)
        if self.penalty == "squared":
            ridge = 1.0 / np.where(counts, C, 1.0)
            upper = np.where(counts, np.inf, 0.0)
            return DualSet(upper, np.where(counts, ridge, 0.0), False)
        return DualSet(np.array(C, dtype=np.float64), zero, self.penalty == "summed")

    def cost(self, C: Floats, slack: Floats) -> Floats:
        """What each slack costs in the primal (hard margins: see `Problem.primal`)."""
        if self.penalty == "squared":
            return 0.5 * C * slack**2
        return C * slack
