"""Report: the hardest examples of a model, and the page about it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats, Ragged
from maxmargin.core.structure import Latent, NBest
from maxmargin.estimators.explaining.explain import ExplainMixin
from maxmargin.reports.explanation import Hard


class ReportMixin(ExplainMixin):
    """`report`, `hardest` and `best_few` for all estimators."""

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        title: str | None = None,
        command: str | None = None,
    ) -> None:
        """Write one HTML page about the model: certificate, scores, what it learned.

        Parameters
        ----------
        path : str or path
            File to write; the page needs no other file and no network.
        X, y : optional
            Data to score the model on, best data that it has not seen.
        title, command : str, optional
            Heading, and the command that trained the model.
        """
        from maxmargin.reports.page import write

        check_is_fitted(self, "result_")
        write(self, path, X, y, title=title, command=command)

    def best_few(self, x: Any, k: int = 3) -> list[tuple[Any, float]]:
        """The k best outputs of ONE input with their scores, best first.

        Structures that cannot list outputs give the best and the runner-up.
        """
        check_is_fitted(self, "coef_")
        structure, inputs, w = self.structure_, self._one(x), self._weights()
        first = np.zeros(1, np.int64)
        nbest = structure.offers(NBest)
        if nbest is not None:
            found = nbest.nbest(inputs, first, w, k)
            rows = [found.labels.row(q) for q in range(found.labels.n)]
            scores = found.score.tolist()
        else:
            best = structure.argmax(inputs, first, w)
            rows, scores = [best.labels.row(0)], best.score.tolist()
            other = structure.runner_up(inputs, 0, w, rows[0])
            if other is not None:
                rows.append(other)
                theirs = structure.explain_pieces(inputs, 0, other).psi
                scores.append(float(theirs.dot(w).sum()))
        said = [self._said(inputs, row) for row in rows]
        return list(zip(said, scores, strict=True))[:k]

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """The examples whose truth lies furthest below the best output.

        Parameters
        ----------
        X, y : data
        n : int
            Examples returned.
        most : int
            Examples looked at, the first ones.

        Returns
        -------
        list of Hard
            Worst first; examples that are right have `short_by` zero and come last.
        """
        check_is_fitted(self, "coef_")
        X, y = by_position(X), by_position(y)
        some = slice(0, min(most, len(y)))
        x, truth = self._encoded(X[some], y[some])
        short = self._deficits(x, truth)
        out = []
        for i in np.argsort(-short, kind="stable")[:n].tolist():
            one = X[i : i + 1] if hasattr(X, "shape") else X[i]
            out.append(Hard(i, y[i], max(float(short[i]), 0.0), self.best_few(one)))
        return out

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        """Inputs and true outputs, hidden parts completed."""
        structure, ids = self.structure_, np.arange(len(y))
        x = structure.encode(self._inputs(X))
        truth = structure.encode_labels(x, y)
        latent = structure.offers(Latent)
        if latent is not None:
            truth = latent.complete(x, ids, self._weights(), truth)
        return x, truth

    def _deficits(self, x: Any, truth: Ragged) -> Floats:
        """Score of the best output less that of the truth."""
        ids, w = np.arange(truth.n), self._weights()
        own = self.structure_.features(x, ids, truth).dot(w)
        return self.structure_.argmax(x, ids, w).score - own


def by_position(values: Any) -> Any:
    """A list where numbers would mean the index of a pandas series."""
    one_series = hasattr(values, "iloc") and values.ndim == 1
    return values.tolist() if one_series else values
