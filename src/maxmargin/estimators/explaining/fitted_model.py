"""What explanations and reports ask of a fitted estimator.

A structure works on flat arrays with labels that are numbers. Estimators translate
between these and what their users see: inputs, outputs and names of weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from maxmargin.core.data.arrays import Ints, Labels, Ragged
from maxmargin.core.structure import Pieces
from maxmargin.estimators.fitting.prediction import Predictor
from maxmargin.solvers.base import Result


class FittedModel(Predictor, Protocol):
    """A fitted estimator; `StructuredEstimator` has all of this."""

    @property
    def result_(self) -> Result:
        """Weights and certificate."""

    @property
    def tol(self) -> float:
        """Relative duality gap of training."""

    def best_few(self, x: Any, k: int = 3) -> list[tuple[Any, float]]:
        """The k best outputs of one input with their scores."""

    def _words(self, x: Any) -> tuple[str, ...]:
        """Words of one input, where it has any."""

    def _check_has_weights(self, what: str) -> None:
        """Refuse questions about weights where a kernel has replaced them."""

    def _inputs(self, X: Any) -> Any:
        """Inputs in the form that the structure takes."""

    def _outputs(self, decoded: Sequence[Any]) -> Sequence[Any]:
        """Outputs of the structure as `predict` returns them."""

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        """Encoded inputs and true outputs, hidden parts completed."""

    def _examples(self, y: Any, sample_weight: Any) -> Ints:
        """Numbers of the examples that training uses."""

    def _weight_names(self) -> Sequence[str] | None:
        """Names of the weights, where they have any."""

    def _piece_names(self, pieces: Pieces) -> list[str]:
        """Names of the pieces of an output, in the user's terms."""


def encode_one(model: FittedModel, x: Any) -> Any:
    """One input, encoded."""
    return model.structure_.encode(model._inputs([x]))


def decode_one(model: FittedModel, inputs: Any, row: Labels) -> Any:
    """An encoded output of the only example of `inputs`, as `predict` returns it."""
    decoded = model.structure_.decode_labels(inputs, Ragged.pack([row]))
    return model._outputs(decoded)[0]


def weight_name(names: Sequence[str] | None, j: int) -> str:
    """Name of weight j; "w[j]" if it has none."""
    return f"w[{j}]" if names is None else names[j]
