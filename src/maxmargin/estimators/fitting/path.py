"""The path over C: one fit after the other, each from the dual of the one before.

A plane stays valid when C changes and alpha scales with C, so the next fit begins
near its solution and asks the oracle for what changed only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Result, Solver


class PathMixin:
    """`fit_path` for all estimators."""

    C: float

    def fit_path(
        self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None
    ) -> list[Result]:
        """Fit for each C, from the smallest to the largest, warm-started.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        Cs : sequence of float
            Penalties, in any order.

        Returns
        -------
        list of Result
            In the order of `Cs`; `result.w` are the weights. The estimator itself is
            left fitted, with `C` set, at the largest.

        Examples
        --------
        >>> from maxmargin.estimators.structural import StructuralSVM
        >>> from maxmargin.structures.classes.structure import Multiclass
        >>> X, y = np.array([[1.0, 0.1], [0.2, 1.0], [0.9, 0.0]]), [0, 1, 0]
        >>> path = StructuralSVM(Multiclass()).fit_path(X, y, [1.0, 0.1])
        >>> [round(result.primal, 3) for result in path]
        [0.69, 0.263]
        """
        values = np.asarray(Cs, dtype=np.float64).ravel()
        if len(values) == 0 or not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(f"Cs={Cs!r}: penalties must be numbers greater than zero")
        order = np.argsort(values, kind="stable")
        results: dict[int, Result] = {}

        def runs(solver: Solver, problem: Problem, watch: Any) -> Iterator[Any]:
            state = None
            for k in order:
                if state is not None:
                    state.drop_idle()
                result, state = solver.solve(
                    problem.with_C(problem.C * values[k]), state, watch
                )
                results[int(k)] = result
                yield result, state

        self.C = 1.0
        self._schedule = runs
        try:
            self.fit(X, y, sample_weight)  # type: ignore[attr-defined]
        finally:
            del self._schedule
            self.C = float(values[order[-1]])
        return [results[k] for k in range(len(values))]
