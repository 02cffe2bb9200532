"""Explain: why an output, and which training examples shaped a weight.

`explain` takes the best output apart into pieces (tokens, nodes, columns, rules) and
these into features; `support_structures` takes a weight apart into the constraints
that carry dual weight: w = sum alpha * a. Trainers do not keep the outputs behind
their planes, so the convex problem is solved once more with a record of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats, Ints, Labels, Ragged, Rows
from maxmargin.core.cuts import Cuts
from maxmargin.core.problem import Problem
from maxmargin.core.structure import MostViolated, Structure
from maxmargin.reports.explanation import (
    Explanation,
    Part,
    Support,
    SupportTable,
    Term,
)
from maxmargin.solvers.base import Solver
from maxmargin.solvers.cccp import LatentResult
from maxmargin.solvers.n_slack.block_dual import BlockDual
from maxmargin.solvers.planes.store import planes_of
from maxmargin.solvers.summed.sdcd import SDCD


class ExplainMixin:
    """`explain` and `support_structures` for all estimators."""

    structure_: Structure
    coef_: Floats
    result_: Any
    tol: float
    _schedule: Any

    def explain(self, x: Any, *, n: int | None = None) -> Explanation:
        """Why the model predicts what it predicts for ONE input.

        Parameters
        ----------
        x : one input
        n : int, optional
            Features kept per part, those that add most; all by default.

        Returns
        -------
        Explanation
            Output, score, runner-up, margin, and `parts` with their features by name;
            print it, loop over it, or call `to_frame()`.
        """
        check_is_fitted(self, "coef_")
        structure, inputs, w = self.structure_, self._one(x), self._weights()
        row = structure.argmax(inputs, np.zeros(1, np.int64), w).labels.row(0)
        other = structure.runner_up(inputs, 0, w, row)
        names, psi = structure.explain_pieces(inputs, 0, row)
        parts = self._parts(self._piece_names(names), psi, w, n)
        score = float(psi.dot(w).sum())
        margin = rival = None
        if other is not None:
            theirs = float(structure.explain_pieces(inputs, 0, other).psi.dot(w).sum())
            margin, rival = score - theirs, self._said(inputs, other)
        return Explanation(self._said(inputs, row), score, parts, rival, margin)

    def support_structures(
        self, feature: str | int, X: Any, y: Any, n: int = 10, sample_weight: Any = None
    ) -> SupportTable:
        """Which training examples, against which wrong outputs, made a weight.

        Parameters
        ----------
        feature : str or int
            Name of a weight (as `explain` shows it), or its number.
        X, y, sample_weight
            What the model was trained on. The convex problem is solved once more,
            with a record of outputs, so this takes about as long as `fit`; where
            parts are hidden, they are held as training completed them.
        n : int
            Rows kept, those that add most.

        Returns
        -------
        SupportTable
            Rows of example, truth, wrong output, loss, alpha and what they add; all
            rows together (also those cut short) add up to the weight.
        """
        check_is_fitted(self, "coef_")
        names = self._weight_names()
        at = _find(feature, names, len(self._weights()))
        record = _Record(getattr(self.result_, "truth", None), self.tol)
        twin: Any = clone(self)  # type: ignore[type-var]
        twin._schedule = record.runs
        twin.fit(X, y, sample_weight)
        who = self._examples(y, sample_weight)
        items = self._inputs(X)
        rows = []
        for i, labels, loss, alpha, value in record.planes(at):
            source = int(who[i])
            wrong = None
            if labels is not None:
                inputs = self.structure_.encode(_items(items, source))
                wrong = self._said(inputs, labels)
            rows.append(Support(source, y[source], wrong, loss, alpha, alpha * value))
        rows.sort(key=lambda row: -abs(row.adds))
        name = names[at] if names is not None else f"w[{at}]"
        return SupportTable(name, sum(row.adds for row in rows), tuple(rows[:n]))

    def top_weights(self, n: int = 12) -> list[tuple[str, float]]:
        """The n largest and the n smallest weights by name, largest first."""
        check_is_fitted(self, "coef_")
        names, w = self._weight_names(), self._weights()
        if self.structure_.offers(MostViolated) is None:
            return []  # a kernel has no weights to speak of
        order = np.argsort(-w, kind="stable")
        some = [*order[:n], *order[max(len(order) - n, n) :]]
        return [
            (names[j] if names is not None else f"w[{j}]", float(w[j]))
            for j in some
            if w[j]
        ]

    def _one(self, x: Any) -> Any:
        """One input, encoded."""
        return self.structure_.encode(self._inputs([x]))

    def _inputs(self, X: Any) -> Any:
        """Inputs as the structure takes them."""
        return X

    def _outputs(self, decoded: Sequence[Any]) -> Sequence[Any]:
        """Outputs of the structure as `predict` gives them."""
        return decoded

    def _examples(self, y: Any, sample_weight: Any) -> Ints:
        """Numbers of the examples that take part in training."""
        return np.arange(len(y))

    def _weights(self) -> Floats:
        """Weights in the coordinates of the structure."""
        return self.coef_

    def _weight_names(self) -> Sequence[str] | None:
        return self.structure_.feature_names()

    def _piece_names(self, names: list[str]) -> list[str]:
        return names

    def _said(self, inputs: Any, row: Labels) -> Any:
        """An encoded output of the only example of `inputs`, as `predict` gives it."""
        return self._outputs(self.structure_.decode_labels(inputs, _single(row)))[0]

    def _parts(
        self, titles: Sequence[str], psi: Rows, w: Floats, n: int | None
    ) -> tuple[Part, ...]:
        names = self._weight_names()
        out = []
        for q, title in enumerate(titles):
            some = slice(psi.ptr[q], psi.ptr[q + 1])
            terms = [
                Term(
                    names[j] if names is not None else f"w[{j}]", float(v),
                    float(w[j]), float(w[j] * v),
                )
                for j, v in zip(psi.idx[some].tolist(), psi.val[some], strict=True)
                if v
            ]  # fmt: skip
            terms.sort(key=lambda term: -abs(term.adds))
            score = sum(term.adds for term in terms)
            out.append(Part(title, score, tuple(terms[:n])))
        return tuple(out)


def _single(row: Labels) -> Ragged:
    return Ragged.pack([row])


def _items(X: Any, i: int) -> Any:
    """Example i alone, as a matrix of one row or a list of one."""
    return X[i : i + 1] if hasattr(X, "shape") else [X[i]]


def _find(feature: str | int, names: Sequence[str] | None, dim: int) -> int:
    if isinstance(feature, str):
        if names is None:
            names = [f"w[{j}]" for j in range(dim)]
        for j, name in enumerate(names):
            if name == feature:
                return j
        raise ValueError(
            f"feature={feature!r} is not the name of a weight; see explain(x), or give "
            "its number"
        )
    if not -dim <= feature < dim:
        raise ValueError(f"feature={feature}: there are {dim} weights")
    return int(feature) % dim


@dataclass(frozen=True)
class _Recorded(Problem):
    """A problem that remembers the outputs it has answered with."""

    seen: dict[int, dict[bytes, Labels]] = field(default_factory=dict)

    def parts(self) -> None:
        """Planes in the coordinates of w, so that they can be compared."""
        return

    def outputs(self) -> None:
        """Ask the oracle even where all outputs could be listed."""
        return

    def _map_cuts(
        self, w: Floats, ids: Ints | None, question: Any, chunk: int | None = None
    ) -> Cuts:
        return self._noted(super()._map_cuts(w, ids, question, chunk))

    def several(self, w: Floats, ids: Ints, k: int) -> Cuts:
        """As for any problem, with a record."""
        return self._noted(super().several(w, ids, k))

    def _noted(self, cuts: Cuts) -> Cuts:
        for q, i in enumerate(cuts.ids.tolist()):
            row = cuts.labels.row(q)
            self.seen.setdefault(i, {}).setdefault(row.tobytes(), row)
        return cuts


class _Record:
    """One run with a record, and the planes that carry weight in it."""

    def __init__(self, truth: Ragged | None, tol: float) -> None:
        self.truth, self.tol = truth, tol
        self.problem: _Recorded
        self.state: Any = None

    def runs(self, solver: Any, problem: Problem, watch: Any) -> Iterator[Any]:
        """What `fit` runs instead of the trainer."""
        if problem.structure.offers(MostViolated) is None:
            raise ValueError("support_structures: a kernel has no weights to ask about")
        known = {k: v for k, v in vars(problem).items() if k in _FIELDS}
        if self.truth is not None and self.truth.n == problem.n:
            known["truth"] = self.truth
        self.problem = _Recorded(**known)
        kind: type[Solver] = BlockDual
        if problem.formulation.penalty == "summed":
            kind = SDCD
        result, state = kind(tol=self.tol).solve(self.problem, None, watch)
        self.state = state
        if self.truth is not None:  # for estimators that look for it
            result = LatentResult(**{**vars(result), "truth": self.problem.truth})
        yield result, state

    def planes(self, at: int) -> Iterator[tuple[int, Labels | None, float, float, Any]]:
        """(example, output, loss, alpha, a[at]) of planes with weight that have `at`."""
        blocks = getattr(self.state, "blocks", None) or self.state.sets.blocks
        for i in np.flatnonzero(blocks.counts()).tolist():
            (ptr, idx, val), _, alpha = planes_of(blocks.store, i)
            stored = Rows(ptr, idx, val).csr(self.problem.dim)
            value = stored[:, [at]].toarray()[:, 0]
            for j in np.flatnonzero((alpha > 0) & (value != 0)).tolist():
                labels, loss = self._behind(i, stored[[j]])
                yield i, labels, loss, float(alpha[j]), float(value[j])

    def _behind(self, i: int, plane: Any) -> tuple[Labels | None, float]:
        """The recorded output whose plane this is, and its loss."""
        problem, rows = self.problem, list(self.problem.seen[i].values())
        ids, labels = np.full(len(rows), i), Ragged.pack(rows)
        truth, features = problem.truth.take(ids), problem.structure.features
        dpsi = features(problem.x, ids, truth).minus(features(problem.x, ids, labels))
        delta = problem.loss.value(truth, labels)
        a = problem.formulation.plane(dpsi, delta)[0].csr(problem.dim)
        away = a - sp.vstack([plane] * len(rows))
        distance = np.asarray(away.multiply(away).sum(axis=1)).ravel()
        best = int(np.argmin(distance))
        if distance[best] > 1e-12 * (1.0 + float(plane.multiply(plane).sum())):
            return None, float("nan")
        return rows[best], float(delta[best])


_FIELDS = ("structure", "loss", "formulation", "x", "truth", "C", "engine")
