"""The planes of some examples: what an engine runs, and what `Problem` asks for.

    slack_i(w) = max_y  b_iy - <a_iy, w>        the highest plane of example i at w

An `Oracle` has everything but the engine: structure, loss, formulation and data. Where
the loss enters linearly, one loss-augmented argmax finds the highest plane. Otherwise
(slack rescaling, squared penalty) it is exact if the structure can find the best output
for each value of the loss. If not, a search over the weight of the loss finds the best
vertex of the hull of (loss, score) pairs and a bound on what it may have missed;
`exact` is then False.

[1] Tsochantaridis et al. 2005, Algorithm 1, line 5-6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from maxmargin.core.cuts import Cuts, Risk, SumCut
from maxmargin.core.data.arrays import Floats, Ints, Ragged, Rows
from maxmargin.core.data.mapped import Pages
from maxmargin.core.formulations import DualSet, Formulation
from maxmargin.core.loss import Loss
from maxmargin.core.structure import (
    Answer,
    Augment,
    ByLoss,
    FactoredPlanes,
    FewOutputs,
    Found,
    NBest,
    OuterCoordinates,
    OuterProductFeatures,
    Structure,
)

CHUNK = 32  # examples per task: fixed, so that sums do not depend on the threads
PARTS, LARGEST = 32, 4096  # parts of a sum, and examples in one at most: fixed likewise
SEARCHES = 24  # weights tried per example where the loss does not enter linearly
ADVICE = "check_structure(structure, X, Y) tells what is wrong with it"

S = TypeVar("S", bound=Structure)
A = TypeVar("A")
OutputQuestion = Callable[[S, Any, Ints, Floats], A]


def answer(
    question: OutputQuestion[S, A], shared_data: tuple[S, Any], w: Floats, ids: Ints
) -> A:
    """Ask a structure about some examples at weights w: what engines run to predict."""
    structure, x = shared_data
    return question(structure, x, ids, w)


def best_outputs(structure: Structure, x: Any, ids: Ints, w: Floats) -> Found:
    """The best output of each example, with its score and bound."""
    return structure.argmax(x, ids, w)


class OracleError(ValueError):
    """A structure's argmax returned an output that is not the best one."""


class Outputs(NamedTuple):
    """All planes of a problem with few outputs, see `OuterProductFeatures`."""

    product: OuterProductFeatures
    truth: Ints  # (n,)
    delta: Floats  # (k, k) loss of each pair (true output, output)


@dataclass(frozen=True)
class Oracle:
    """structure x loss x formulation x data; never altered.

    Parameters
    ----------
    structure, loss : bound
        What outputs are and how wrong they may be.
    formulation : Formulation
        How the loss enters the dual.
    x, truth : encoded inputs and outputs
    C : array (n,)
        Penalty of each example: C times its sample weight.
    first : int
        Number of the first example in the whole sample, for messages.
    """

    structure: Structure
    loss: Loss
    formulation: Formulation
    x: Any
    truth: Ragged
    C: Floats
    first: int = field(default=0, kw_only=True)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields, not what was derived from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __post_init__(self) -> None:
        """SVM0, SVM1 and SVM2 proper are margin rescaling with the zero-one loss."""
        if self.formulation.rescaling is None or self.formulation.penalty == "hard":
            loss = self.loss.zero_one(self.structure.label_count())
            object.__setattr__(self, "loss", loss)
        if self.loss.form not in self.structure.losses:
            name = type(self.structure).__name__
            why = " (penalty='hard', or no rescaling)" * (self.loss.form == "zero-one")
            raise ValueError(
                f"{name} cannot be trained for a loss of form {self.loss.form!r}{why}; "
                f"it knows {', '.join(map(repr, self.structure.losses))}"
            )

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.truth.n

    def slice(self, start: int, stop: int) -> tuple[Self, int]:
        """Neighbouring examples: an object that has them, and where they begin in it.

        A structure that cannot cut its inputs leaves them whole.
        """
        x = self.structure.slice(self.x, start, stop)
        if x is None:
            return self, start
        ptr = self.truth.ptr[start : stop + 1]
        truth = Ragged(ptr - ptr[0], self.truth.data[ptr[0] : ptr[-1]])
        C, first = self.C[start:stop], self.first + start
        return replace(self, x=x, truth=truth, C=C, first=first), 0

    def spans(self) -> list[tuple[int, int]]:
        """The parts that sums are made of, by the number of examples alone."""
        size = -(-self.n // (PARTS * CHUNK)) * CHUNK
        size = min(max(size, CHUNK), LARGEST)
        return [(s, min(s + size, self.n)) for s in range(0, self.n, size)]

    @cached_property
    def pages(self) -> Pages:
        """The files that inputs and outputs lie in, if any."""
        return Pages((self.x, self.truth), self.n)

    @property
    def dim(self) -> int:
        """Length of w."""
        return self.structure.dim

    @property
    def dual_set(self) -> DualSet:
        """Bounds and ridge of the dual."""
        return self.formulation.dual_set(self.C)

    @property
    def exact(self) -> bool:
        """Whether `slack` is attained, or only a bound."""
        return self.structure.exact and (self._linear or self._layered)

    @property
    def certificate(self) -> str:
        """What slacks are worth: "exact", or "relaxed" or "bound" (above the exact).

        "reduced" (below it) where a structure may miss the most violated output.
        """
        if self.exact:
            return "exact"
        known = self.structure.certificate
        return known if self._linear or known == "reduced" else "bound"

    @cached_property
    def _linear(self) -> bool:
        return self.formulation.linear_in_loss(self.loss.form == "zero-one")

    @cached_property
    def _layered(self) -> bool:
        return self.structure.layered(self.loss)

    def outer_coordinates(self) -> OuterCoordinates | None:
        """The coordinates that `planes` uses, if the structure has any of its own."""
        return self._outer

    @cached_property
    def _outer(self) -> OuterCoordinates | None:
        factored = self.structure.offers(FactoredPlanes)
        if factored is None or not (self._linear or self._layered):
            return None
        return factored.outer_coordinates(self.x)

    @cached_property
    def factored(self) -> FactoredPlanes:
        """The structure, which has coordinates of its own; to ask it takes 25 us."""
        return self.structure.require(FactoredPlanes, "planes in factored coordinates")

    def most(self, k: int) -> int:
        """How many planes of an example `several` can find, up to k."""
        return k if self._linear and self.structure.listed(self.loss) else 1

    def primal(self, w: Floats, slack: Floats) -> float:
        """Objective at w, given all slacks; with a hard margin, at the scaled-up w."""
        return self.primal_at(w, self.costs(slack, np.arange(self.n)))

    def primal_at(self, w: Floats, risk: Risk | SumCut) -> float:
        """Objective at w, from the whole answer of `risk_at` or `sum_cut` at this w.

        With a hard margin it is the objective at the scaled-up w.
        """
        if self.formulation.penalty == "hard":
            margin = 1.0 - risk.worst
            return 0.5 * self.structure.square(w) / margin**2 if margin > 0 else np.inf
        if self.formulation.regularizer == "l1":
            return float(np.abs(w).sum()) + risk.risk
        return 0.5 * self.structure.square(w) + risk.risk

    def costs(self, slack: Floats, ids: Ints) -> Risk:
        """What the slacks of some examples cost."""
        C = self.C[ids]
        worst = float((slack * (C > 0)).max(initial=0.0))
        if self.formulation.penalty == "hard":
            return Risk(0.0, worst)
        return Risk(float(self.formulation.cost(C, slack).sum()), worst)

    def work(self) -> Floats:
        """Cost of the oracle per example, about in multiply-adds."""
        rounds = 1 if self._linear else 4 if self._layered else SEARCHES
        structure = self.structure
        if not self.pages.files or structure.slice(self.x, 0, 1) is None:
            return structure.work(self.x) * rounds
        out = np.empty(self.n)
        for a, b in self.spans():
            out[a:b] = structure.work(structure.slice(self.x, a, b))
            self.pages.touched(b - a)
        return out * rounds

    def outputs(self) -> Outputs | None:
        """All planes in factored form, where outputs are few and psi is a product."""
        few = self.structure.offers(FewOutputs)
        if few is None:
            return None
        product = few.outer_product(self.x)
        truth = self.truth.data.astype(np.int64)
        return Outputs(product, truth, np.ascontiguousarray(self.loss.table))

    def _cuts(self, w: Floats, ids: Ints, ask: Any, features: Any) -> Cuts:
        if self._linear:
            answer = ask(self.x, ids, w, self._augment(self._ones))
            slack = answer.bound
        elif self._layered:
            answer, slack = self._best_layer(w, ids, features)
        else:
            answer, slack = self._search(w, ids)
        self._check(ids, slack, w)
        a, b = self.formulation.plane(answer.dpsi, answer.delta)
        return Cuts(ids, a, b, np.maximum(slack, 0.0), answer.labels)

    def _several(self, w: Floats, ids: Ints, k: int) -> Cuts:
        plain = self.loss.form == "zero-one"  # adds the same to all but the truth
        augment = None if plain else self._augment(self._ones)
        nbest = self.structure.require(NBest, "a list of planes per example")
        layers = nbest.nbest(self.x, ids, w, k + plain, augment)
        sizes = np.diff(layers.ptr)
        who, features = np.repeat(ids, sizes), self.structure.features
        truth_score = features(self.x, ids, self.truth.take(ids)).dot(w)
        factored = self.structure.offers(FactoredPlanes)
        if factored is not None and self.exact and self.outer_coordinates() is not None:
            features = factored.outer_features
        truth = self.truth.take(who)
        dpsi = features(self.x, who, truth).minus(features(self.x, who, layers.labels))
        a, b = self.formulation.plane(dpsi, self.loss.value(truth, layers.labels))
        height = b - np.repeat(truth_score, sizes) + layers.score  # linear: a is dpsi
        return Cuts(who, a, b, np.maximum(height, 0.0), layers.labels)

    def _sum_cut(self, w: Floats, ids: Ints) -> SumCut:
        a, b, squared = np.zeros(self.dim), 0.0, self.formulation.penalty == "squared"
        slacks = []
        for chunk in chunks_of(ids):
            cuts = find_cuts(self, w, chunk)
            C, height = self.C[chunk], cuts.b - cuts.a.dot(w)
            if squared:
                factor = C * np.maximum(height, 0.0)
                b += float(0.5 * factor @ np.maximum(height, 0.0))
                b += float(factor @ (cuts.b - height))
            else:
                factor = np.where(height > 0, 1.0 if np.isinf(C).any() else C, 0.0)
                b += float(factor @ cuts.b)
            cuts.a.add_to(a, factor)
            slacks.append(cuts.slack)
        return SumCut(a, b, *self.costs(np.concatenate(slacks), ids))

    @cached_property
    def _ones(self) -> Floats:
        return np.ones(self.n)

    def _augment(self, weight: Floats) -> Augment:
        return Augment(self.truth, self.loss, weight)

    def _best_layer(self, w: Floats, ids: Ints, features: Any) -> tuple[Answer, Floats]:
        """Exact: the best of the best outputs for each value of the loss."""
        criterion = self.formulation.criterion
        by_loss = self.structure.require(ByLoss, "an exact search over the loss")
        layers = by_loss.argmax_by_loss(
            self.x, ids, w, Augment(self.truth, self.loss, self._ones, criterion)
        )
        truth_score = self.structure.features(self.x, ids, self.truth.take(ids)).dot(w)
        sizes = np.diff(layers.ptr)
        margin = np.repeat(truth_score, sizes) - layers.score
        height = criterion.value(layers.loss, margin)
        best = np.empty(len(ids), np.int64)
        for q in range(len(ids)):
            start = layers.ptr[q]
            best[q] = start + int(np.argmax(height[start : layers.ptr[q + 1]]))
        labels, truth = layers.labels.take(best), self.truth.take(ids)
        dpsi = features(self.x, ids, truth).minus(features(self.x, ids, labels))
        return Answer(labels, dpsi, layers.loss[best], height[best]), height[best]

    def _search(self, w: Floats, ids: Ints) -> tuple[Answer, Floats]:
        """Best vertex of the (loss, score) hull, and a bound on all outputs.

        Where the structure may miss the best output there is no such bound: the slack is
        then that of the outputs found, which is below the exact one ("reduced").
        """
        criterion, m = self.formulation.criterion, len(ids)
        weight = np.ones(self.n)
        low, high = np.zeros(m), np.full(m, np.inf)
        best, bound = np.full(m, -np.inf), np.full(m, np.inf)
        kept: list[Answer] = []
        chosen = np.zeros(m, np.int64)
        most = np.full(m, np.inf)
        for k in range(SEARCHES):
            answer = self.structure.cuts(self.x, ids, w, self._augment(weight))
            margin = answer.dpsi.dot(w)
            height = criterion.value(answer.delta, margin)
            kept.append(answer)
            chosen = np.where(height > best, k, chosen)
            best = np.maximum(best, height)
            at = weight[ids]
            bound = np.minimum(bound, criterion.line_bound(at, answer.bound, most))
            if (bound - best <= 1e-9 * (1.0 + np.abs(best))).all():
                break
            ideal = np.where(
                answer.delta > 0, criterion.ideal_weight(answer.delta, margin), np.inf
            )
            low = np.where(ideal > at, np.maximum(low, at), low)
            high = np.where(ideal <= at, np.minimum(high, at), high)
            middle = np.where(
                np.isinf(high), 4.0 * at, np.sqrt(np.maximum(low, 1e-3 * high) * high)
            )
            inside = (ideal > low) & (ideal < high) & (k % 2 == 0)
            weight = weight.copy()
            weight[ids] = np.maximum(np.where(inside, ideal, middle), 1e-12)
        take = [(kept[chosen[q]], q) for q in range(m)]
        labels = Ragged.concat([a.labels.take([q]) for a, q in take])
        dpsi = Rows.concat([a.dpsi.take([q]) for a, q in take])
        delta = np.array([a.delta[q] for a, q in take])
        slack = np.maximum(bound, best)
        if self.structure.certificate == "reduced":
            slack = best
        return Answer(labels, dpsi, delta, slack), slack

    def _check(self, ids: Ints, slack: Floats, w: Floats) -> None:
        """The truth itself has slack zero: a worse answer is a broken oracle."""
        if slack.min(initial=0.0) >= -1e-6:
            return
        scale = 1e-6 * (1.0 + np.abs(slack))
        bad = np.flatnonzero(~(slack >= -scale))
        if len(bad):  # large weights make large scores, whose rounding is no fault
            rounding = 1e-10 * float(np.linalg.norm(w))
            bad = bad[~(slack[bad] >= -scale[bad] - rounding)]
        if len(bad):
            i, value = self.first + int(ids[bad[0]]), float(slack[bad[0]])
            scores = f"scores {-value:.6g} less than the truth does"
            scores = "has no finite score" if np.isnan(value) else scores
            raise OracleError(
                f"example {i}: argmax of {type(self.structure).__name__} returned an "
                f"output that {scores}; {ADVICE}"
            )


# The questions that engines run: functions of a module, so that they can be sent by name.


def find_cuts(oracle: Oracle, w: Floats, ids: Ints) -> Cuts:
    """The highest plane of each example."""
    structure = oracle.structure
    out = oracle._cuts(w, ids, structure.cuts, structure.features)
    oracle.pages.touched(len(ids))
    return out


def find_outer_cuts(oracle: Oracle, w: Floats, ids: Ints) -> Cuts:
    """The same in the coordinates of `outer_coordinates`."""
    structure = oracle.structure
    factored = oracle.factored
    ask, features = factored.outer_cuts, structure.features
    if not oracle._linear:
        ask, features = structure.cuts, factored.outer_features
    out = oracle._cuts(w, ids, ask, features)
    oracle.pages.touched(len(ids))
    return out


def find_several(oracle: Oracle, w: Floats, asked: tuple[Ints, int]) -> Cuts:
    """Several of the highest planes of each example: `asked` is (ids, how many)."""
    return oracle._several(w, *asked)


def find_slacks(oracle: Oracle, w: Floats, ids: Ints) -> Floats:
    """The slack of each example."""
    return find_cuts(oracle, w, ids).slack


def find_sum_cut(oracle: Oracle, w: Floats, ids: Ints) -> SumCut:
    """The sum of the planes of some examples, weighted by what their slacks cost."""
    return oracle._sum_cut(w, ids)


def find_risk(oracle: Oracle, w: Floats, ids: Ints) -> Risk:
    """What the slacks of some examples cost."""
    slacks = [find_cuts(oracle, w, chunk).slack for chunk in chunks_of(ids)]
    return oracle.costs(np.concatenate(slacks), ids)


def chunks_of(ids: Ints, size: int = CHUNK) -> list[Ints]:
    """Numbers of examples in chunks; at least one, which may be empty.

    Examples
    --------
    >>> [chunk.tolist() for chunk in chunks_of(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    return [ids[s : s + size] for s in range(0, len(ids), size)] or [ids]
