"""`--C auto`: choose C by cross-validation along a path, showing each step."""

from __future__ import annotations

import sys
from typing import Any

import maxmargin
from maxmargin.core.data.tokens.label_schemes import recognise_scheme
from maxmargin.metrics.sequences import span_f1

FEW = 1000  # examples below which three folds are used instead of one


def fit_best(model: Any, data: Any, quiet: bool) -> Any:
    """The model, fitted with the C that scores best on examples that are held out."""
    folds = 3 if len(data.y) < FEW else 1
    name, scoring = _scoring(model, data.y)
    shown = _Shown(scoring, folds, name, quiet)
    verbose = model.get_params()["verbose"]
    search = maxmargin.PathCV(
        model.set_params(verbose=0), cv=folds, scoring=shown,
        random_state=model.random_state,
    ).fit(data.X, data.y)  # fmt: skip
    if not quiet:
        print(f"maxmargin: C={search.C_:.4g} is chosen", file=sys.stderr)
    found = search.estimator_
    found.set_params(verbose=verbose)
    return found


def _scoring(model: Any, y: Any) -> tuple[str, Any]:
    """F1 of spans where labels mark spans, else the score of the model."""
    if isinstance(model, maxmargin.ChainSVM):
        try:
            spans = recognise_scheme([list(row) for row in y]).scheme is not None
        except ValueError:  # mixed schemes: spans are read as conlleval reads them
            spans = True
        if spans:
            return "span F1", lambda one, X, y: span_f1(y, list(one.predict(X)))
    return "score", lambda one, X, y: one.score(X, y)


class _Shown:
    """A score that prints the mean over the folds for each C."""

    def __init__(self, scoring: Any, folds: int, name: str, quiet: bool) -> None:
        self.scoring, self.folds, self.name, self.quiet = scoring, folds, name, quiet
        self.values: list[float] = []

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        value = float(self.scoring(estimator, X, y))
        self.values.append(value)
        if len(self.values) % self.folds == 0 and not self.quiet:
            mean = sum(self.values[-self.folds :]) / self.folds
            C = estimator.result_.notes["C"]
            held = f"{self.folds} folds" if self.folds > 1 else "a quarter held out"
            print(
                f"maxmargin: C={C:.4g}: {self.name} {mean:.4f} ({held})",
                file=sys.stderr,
            )
        return value
