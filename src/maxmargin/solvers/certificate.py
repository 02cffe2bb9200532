"""A result: the weights, why training ended, and what is proved about them.

Pages, summaries and the command line take their sentences from `meaning`; notebooks
show `gap_svg`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, SparseWeights, sparse_weights
from maxmargin.core.data.validation import check_finite, check_types, require


class Status(Enum):
    """Why training ended, a sentence each."""

    CONVERGED = "the duality gap is at or below the tolerance"
    MAX_ITER = "the iteration limit was reached before the tolerance"
    MAX_TIME = "the time limit was reached before the tolerance"
    NO_PROGRESS = (
        "training ended above the tolerance because the dual no longer rises: "
        "inference is not exact, or rounding errors have become as large as the steps"
    )
    ROUNDING = (
        "the tolerance is below the rounding error of the objective: no smaller gap can "
        "be proved in double precision; a smaller C or features of smaller size help"
    )
    STEADY = "a loop over all examples changed the dual variables less than asked"
    WITHIN_EPSILON = "no constraint is violated by more than the epsilon asked for"
    NOT_SEPARABLE = "no weights separate the data: a hard margin has no solution"
    NOT_SEMIDEFINITE = (
        "the kernel is not positive semi-definite: the dual has no maximum to find"
    )
    INTERRUPTED = "training was interrupted; the best weights so far are kept"
    STOPPED = "a callback asked to stop; the best weights so far are kept"

    @property
    def as_asked(self) -> bool:
        """Whether a stopping rule that the user set was met, the tolerance or another."""
        return self in AS_ASKED

    @property
    def unfinished(self) -> bool:
        """Whether a limit, a callback or a signal ended the run: it could be continued."""
        return self in (
            Status.MAX_ITER,
            Status.MAX_TIME,
            Status.STOPPED,
            Status.INTERRUPTED,
        )


# A stopping rule that the user set was met, the tolerance or another.
AS_ASKED = (Status.CONVERGED, Status.STEADY, Status.WITHIN_EPSILON)
MEANINGS = {
    "exact": "Inference is exact: no weights have an objective below the dual.",
    "relaxed": "Inference is relaxed: the gap is that of the relaxed problem, an upper "
    "bound on the exact one.",
    "bound": "The search for the most violated outputs is approximate here: primal and "
    "gap are upper bounds, and part of the gap that remains may be due to it.",
    "reduced": "The certificate is that of the problem over the outputs found so far; "
    "outputs not found yet may raise the objective.",
    "local": "Outputs have hidden parts, so the problem is not convex: dual and gap "
    "certify the last convex problem only, with the hidden parts held fixed. Another "
    "start (restarts, random_state) may reach a lower objective.",
    "basis": "Primal, dual and gap are those of the problem over the chosen basis of "
    "the kernel: with more basis points the objective may be lower.",
    "estimate": "The dual is estimated from a sample of the examples: the gap is an "
    "estimate, not a bound.",
    "none": "The dual is no lower bound here: nothing is known about the distance to "
    "the best weights.",
}


def meaning(certificate: str) -> str:
    """What a certificate of this name proves about the weights, as sentences.

    Examples
    --------
    >>> meaning("exact")
    'Inference is exact: no weights have an objective below the dual.'
    """
    return MEANINGS[certificate]


@dataclass(frozen=True)
class Result:
    """Weights with their certificate.

    Attributes
    ----------
    w : array
        Weights with the lowest primal value seen.
    status : Status
        Why training ended.
    primal, dual, gap : float
        Objective at w, best lower bound, and (primal + rounding - dual) / primal.
    certificate : str
        "exact"; "relaxed" where answers may be fractional; "bound" where inference or
        slack rescaling only bounds the slack: primal and gap are then upper bounds; or
        "reduced" where they are those of the problem over the outputs found so far
        (summed error; see `notes`); "local" where outputs have hidden parts: dual and
        gap are those of the last convex problem; "basis" where a kernel has been
        replaced by a basis; "estimate" where the dual comes from a sample; "none" where
        the dual bounds nothing. `meaning()` says it in a sentence.
    oracle_calls, planes, iterations : int
        Examples asked about, planes held at the end, steps made.
    seconds : float
        Wall clock, without the time that loops were compiled.
    history : structured array
        One row per step: iteration, seconds, oracle_calls, planes, primal, dual, gap.
    notes : dict
        What the solver chose and why.
    rounding : float
        How far rounding may have moved the primal from the objective at w; NaN where
        this is not known. It matters where C is very large.
    """

    w: Floats = field(repr=False)
    status: Status
    primal: float
    dual: float
    gap: float
    certificate: str
    oracle_calls: int
    planes: int
    iterations: int
    seconds: float
    history: np.ndarray = field(repr=False)
    notes: dict[str, Any] = field(repr=False)
    rounding: float = field(default=float("nan"), kw_only=True)

    def validate(self) -> None:
        """Weights that are finite, and a history with columns."""
        check_types(self)
        require(self.w.ndim == 1, "the weights are not a vector")
        check_finite(self.w, "weights")
        require(self.history.dtype.names is not None, "the history has no columns")

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the weights without zeros, where these are many."""
        return {**vars(self), "w": sparse_weights(self.w)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Undo `__getstate__`."""
        w = state["w"]
        state["w"] = w.dense() if isinstance(w, SparseWeights) else w
        vars(self).update(state)

    @property
    def converged(self) -> bool:
        """Whether the tolerance was met."""
        return self.status is Status.CONVERGED

    def meaning(self) -> str:
        """What is proved about the weights, in a sentence or two."""
        return meaning(self.certificate)

    def summary(self) -> str:
        """The certificate in a few words."""
        return (
            f"{self.status.name.lower()}: primal {self.primal:.6g}, dual "
            f"{self.dual:.6g}, gap {self.gap:.2e} ({self.certificate}) after "
            f"{self.iterations} iterations, {self.oracle_calls} oracle calls, "
            f"{self.planes} planes, {self.seconds:.2f} s"
        )

    def _repr_html_(self) -> str:
        """The certificate and the picture of the gap, for notebooks."""
        calls, gaps = self.history["oracle_calls"], self.history["gap"]
        picture = gap_svg(calls.tolist(), gaps.tolist(), self.gap)
        return f"<p>{self.summary()}</p><p>{self.meaning()}</p>{picture}"


def gap_svg(calls: Sequence[float], gaps: Sequence[float], reached: float) -> str:
    """The duality gap against calls of inference, on a log scale, as SVG.

    A dashed line shows the gap that was reached.

    Examples
    --------
    >>> gap_svg([10, 20, 30], [0.5, 0.1, 0.01], 0.01).count("<polyline")
    1
    >>> "nan" in gap_svg([10, 20, 30], [0.5, 0.1, 0.1], float("inf"))
    False
    """
    points = [
        (float(x), math.log10(float(g)))
        for x, g in zip(calls, gaps, strict=True)
        if 0.0 < g < math.inf
    ]
    if len(points) < 2:
        return ""
    most = max(x for x, _ in points) or 1.0
    last = [math.log10(reached)] if 0.0 < reached < math.inf else []
    heights = [y for _, y in points] + last
    low, high = min(heights), max(max(heights), min(heights) + 1e-9)

    def place(x: float, y: float) -> str:
        return f"{44 + 250 * x / most:.1f},{112 - 100 * (y - low) / (high - low):.1f}"

    line = " ".join(place(x, y) for x, y in points)
    dashes = "".join(
        f'<path d="M{place(0.0, y)} L{place(most, y)}" stroke="#8a94a0" '
        'stroke-dasharray="4 3"/>'
        for y in last
    )
    return (
        '<svg viewBox="0 0 300 132" width="300" height="132" font-size="10" '
        'fill="currentColor" role="img" aria-label="duality gap during training">'
        f'<polyline points="{line}" fill="none" stroke="#1d7fd1" stroke-width="2"/>'
        f"{dashes}"
        f'<text x="2" y="16">{10**high:.0e}</text><text x="2" y="112">{10**low:.0e}</text>'
        '<text x="110" y="128">calls of inference</text></svg>'
    )
