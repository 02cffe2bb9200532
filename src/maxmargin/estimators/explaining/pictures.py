"""Pictures of outputs, for notebooks, reports and pages."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

from maxmargin.estimators.fitting.inputs import by_position
from maxmargin.reports.drawing.marked_text import Drawing, plain_html


class DrawnOutputs:
    """What every estimator has to draw; those with a picture of their own have `_draw`."""

    _predicts_sets: ClassVar[bool] = False  # of labels

    def score(self, X: Any, y: Any) -> float:
        """How good the predictions are; larger is better."""
        raise NotImplementedError

    def best_few(self, x: Any, k: int = 3) -> list[tuple[Any, float]]:
        """The k best outputs of ONE input with their scores, best first."""
        raise NotImplementedError

    def draw(self, x: Any, output: Any = None, truth: Any = None) -> Drawing:
        """A picture of the output of ONE input, for notebooks and pages.

        Parameters
        ----------
        x : one input
        output : optional
            What to draw; by default what the model predicts.
        truth : optional
            True output; what differs is marked.
        """
        made = self.best_few(x, 1)[0][0] if output is None else by_position(output)
        return Drawing(self._draw(x, made, by_position(truth)))

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        """One output as HTML for reports and pages; differences to the truth marked."""
        return plain_html(output, truth)

    def _out_of_reach(self, X: Any, y: Any, predicted: Any, most: int) -> Sequence[int]:
        """Mistakes whose true output the model cannot predict: `hardest` has no score."""
        return ()

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        """Figures that people quote for this task, besides `score`, for reports."""
        return []

    def _structure_name(self) -> str:
        """What the class of the structure is called."""
        return type(vars(self)["structure_"]).__name__

    def _score_name(self) -> str:
        """What `score` is, for reports: the first line of its docstring."""
        text = (inspect.getdoc(type(self).score) or "score").splitlines()[0]
        if "accuracy" in text:  # scikit-learn's own
            return "Share of right predictions"
        return text.split(";")[0].rstrip(".")
