"""How a loss becomes a plane, and what the dual may do with it.

With dpsi = psi(x, truth) - psi(x, y), s = <w, dpsi> and delta = loss(truth, y), an
example's slack is at least b - <a, w> for the plane (a, b) of each y; the dual is

    max  sum alpha * b - 1/2 ||sum alpha * a||^2 - 1/2 sum_i ridge_i (sum_y alpha_iy)^2

| formulation               | a             | b       | dual set          | ridge |
|---------------------------|---------------|---------|-------------------|-------|
| SVM0, hard margin         | dpsi          | delta   | alpha >= 0        | 0     |
| SVM1, margin rescaling    | dpsi          | delta   | sum alpha <= C    | 0     |
| SVM1, slack rescaling     | delta * dpsi  | delta   | sum alpha <= C    | 0     |
| SVM2, margin rescaling    | dpsi          | rt delta| alpha >= 0        | 1 / C |
| SVM2, slack rescaling     | rt delta *dpsi| rt delta| alpha >= 0        | 1 / C |
| LSE, linear summed error  | dpsi          | delta   | 0 <= alpha <= C   | 0     |

SVM0, SVM1 and SVM2 without a loss are margin rescaling with the zero-one loss, so
`rescaling=None` chooses that loss and nothing else. C multiplies the plain sum of
slacks (scikit-learn's scale); each example has its own C through its sample weight.

[1] Tsochantaridis et al. 2005, section 2.2 and Propositions 4-9.
[2] Balamurugan et al. 2012, OP2 (linear summed error).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Rows

RESCALINGS = ("margin", "slack", None)
PENALTIES = ("linear", "squared", "hard", "summed")


class DualSet(NamedTuple):
    """What the dual may do with the planes of each example."""

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
class Formulation:
    """One row of the table: `rescaling` x `penalty`."""

    rescaling: str | None = "margin"
    penalty: str = "linear"

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

    @property
    def scales(self) -> bool:
        """Whether planes are multiplied by the loss (slack rescaling)."""
        return self.rescaling == "slack"

    @property
    def aim(self) -> str:
        """Which output is the worst: "margin", "slack", each perhaps "squared"."""
        return ("slack" if self.scales else "margin") + (
            " squared" if self.penalty == "squared" else ""
        )

    def plane_offset(self, delta: Floats) -> Floats:
        """B of the plane: the loss, or its root under the squared penalty."""
        return np.sqrt(delta) if self.penalty == "squared" else delta

    def violation(self, delta: Floats, margin: Floats) -> Floats:
        """B - <a, w> from the loss and s = <w, dpsi>: H(y) of Algorithm 1 in [1]."""
        b = self.plane_offset(delta)
        return b * (1.0 - margin) if self.scales else b - margin

    def plane(self, dpsi: Rows, delta: Floats) -> tuple[Rows, Floats]:
        """(a, b) from (dpsi, delta)."""
        b = self.plane_offset(delta)
        return (dpsi.scale(b) if self.scales else dpsi), b

    def linear_in_loss(self, zero_one: bool) -> bool:
        """Whether the worst output maximises  <w, psi> + delta  itself."""
        return zero_one or not (self.scales or self.penalty == "squared")

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

    def ideal_weight(self, delta: Floats, margin: Floats) -> Floats:
        """Weight of the loss for which (delta, margin) would be a stationary choice."""
        safe = np.maximum(delta, 1e-300)
        slope = np.ones(len(delta)) if not self.scales else (1.0 - margin) / safe
        if self.penalty == "squared":
            slope = 0.5 * slope / (np.sqrt(safe) if not self.scales else 1.0)
        return slope

    def line_bound(self, weight: Floats, value: Floats, most: Floats) -> Floats:
        """Largest violation with  weight * delta - margin <= value, delta <= most."""
        reach = 1.0 + value
        if not self.scales:
            at = 0.25 / weight**2 if self.penalty == "squared" else most
        elif self.penalty == "squared":
            at = np.maximum(reach, 0.0) / (3.0 * weight)
        else:
            at = np.maximum(reach, 0.0) / (2.0 * weight)
        at = np.clip(at, 0.0, most)
        return np.maximum(self.violation(at, weight * at - value), 0.0)
