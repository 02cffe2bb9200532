"""A structure under a joint kernel while training runs.

Features are coordinates in the space of the pairs that training has met so far
(`PairSpace`), so that every trainer can work with them as with any vectors:

    <psi(x, y), psi(x', y')> = J((x, y), (x', y'))      for all pairs met

A trainer asks for the features of each constraint that it takes in, so the pairs of all
constraints with alpha > 0 have been met, and its w = sum alpha (psi - psi) lies in the
space: scores of all other pairs are exact too.

The space grows as questions are asked. An object of this class therefore belongs to one
fit, in one process; the model that comes out of it (`model`) never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, pointers
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.data.pairs import PairList
from maxmargin.core.loss import Loss, LossForm
from maxmargin.core.structure import Augment, MostViolated, P, Structure
from maxmargin.structures.joint.space import PairSpace
from maxmargin.structures.joint.structure import (
    TOGETHER,
    ListedOutputs,
    PairStructure,
    Scores,
)
from maxmargin.structures.python_structure import Objects

SMALL = 1e-14  # share of the largest coefficient below which a pair is no support
COMPARED = 2000  # pairs whose coordinates are compared with kernel values


class Listed:
    """All candidates of the training inputs, and their coordinates in the space."""

    def __init__(self, plain: PairStructure, x: Objects) -> None:
        self.each = [plain.candidates(x, i) for i in range(x.n)]
        sizes = [among.rows.n for among in self.each]
        self.first = pointers(sizes)
        inputs = [
            item for item, n in zip(x.items, sizes, strict=True) for _ in range(n)
        ]
        outputs = [y for among in self.each for y in among.outputs]
        self.pairs = plain.kernel.prepared(PairList(inputs, outputs))
        self.values = np.zeros((len(outputs), 16))
        self.done = 0

    def scores(self, space: PairSpace, i: int, w: Floats) -> Floats:
        """Scores of the candidates of example i."""
        if self.done < space.size:
            self._extend(space)
        known = self.values[self.first[i] : self.first[i + 1], : self.done]
        return known @ w[: self.done]

    def _extend(self, space: PairSpace) -> None:
        done, size = self.done, space.size
        if size > self.values.shape[1]:
            wider = np.zeros((len(self.values), min(2 * size, space.most() + 1)))
            wider[:, :done] = self.values[:, :done]
            self.values = wider
        fresh = space.kernel(self.pairs, space.newer(done))
        known = self.values[:, :done]
        self.values[:, done:size] = space.extended(known, fresh)
        self.done = size


@dataclass(frozen=True)
class Growing(PairStructure):
    """`plain` for the training inputs `x`, with coordinates that grow.

    Parameters
    ----------
    plain : PairStructure
        The structure, without support pairs.
    x : Objects
        Training inputs.
    memory : float
        Bytes for kernel values at most.
    """

    plain: Any = None
    x: Any = None
    memory: float = MEMORY
    losses: ClassVar[tuple[LossForm, ...]] = ("own", "zero-one", "table")

    @classmethod
    def over(cls, plain: PairStructure, x: Objects, memory: float = MEMORY) -> Growing:
        """A structure for one fit."""
        return cls(plain.kernel, plain=plain, x=x, memory=memory)

    def __getstate__(self) -> dict[str, Any]:
        """Refused: coordinates mean something in one process only."""
        raise TypeError(
            "training with a joint kernel stays in one process: leave out engine, n_jobs "
            "and checkpoint"
        )

    @property
    def dim(self) -> int:
        """Directions that there is room for."""
        return self._most

    @cached_property
    def _most(self) -> int:
        most = self._space.most()
        if self._listed is not None:
            most = min(most, int(self._listed.first[-1]) + self.x.n)
        return max(min(most, 2**16), 1)

    @property
    def lists(self) -> bool:
        """As the plain structure."""
        return bool(self.plain.lists)

    def offers(self, capability: type[P]) -> P | None:
        """All that the plain structure offers, and vectors for trainers."""
        if capability is MostViolated:
            return Structure.offers(self, capability)
        return super().offers(capability)

    @cached_property
    def _listed(self) -> Listed | None:
        return Listed(self.plain, self.x) if self.lists else None

    @cached_property
    def _space(self) -> PairSpace:
        beside = 0 if self._listed is None else int(self._listed.first[-1])
        return PairSpace(self.kernel, beside, self.memory)

    @cached_property
    def _known(self) -> dict[tuple[int, bytes], Floats]:
        """Coordinates of the pairs met, by example and row of the output."""
        return {}

    @cached_property
    def _losses(self) -> dict[int, tuple[Loss, Floats]]:
        return {}

    def features(self, x: Objects, ids: Ints, labels: Ragged) -> Rows:
        """Coordinates; pairs that are new make the space grow."""
        keys = [(int(i), labels.row(q).tobytes()) for q, i in enumerate(ids)]
        new = list(dict.fromkeys(key for key in keys if key not in self._known))
        if new:
            outputs = [self.output_of(np.frombuffer(row, np.int32)) for _, row in new]
            made = self._space.add([self.x.items[i] for i, _ in new], outputs)
            self._known.update(zip(new, map(_trimmed, made), strict=True))
            if self._space.size > self.dim:
                raise MemoryError(
                    f"training has met more than {self.dim} pairs that are no "
                    "combinations of others: train on fewer examples, or without a "
                    "kernel"
                )
        parts = [self._known[key] for key in keys]
        return Rows.pack([(np.arange(len(z)), z) for z in parts])

    def scorer(self, x: Objects, w: Floats) -> Scores:
        """Scores from coordinates, or from kernel values with the basis."""
        if self._listed is not None:
            listed = self._listed
            return lambda i, outputs: listed.scores(self._space, i, w)
        beta = self._space.coefficients(w)

        def scores(i: int, outputs: Sequence[Any]) -> Floats:
            if len(beta) == 0:
                return np.zeros(len(outputs))
            pairs = PairList([self.x.items[i]] * len(outputs), outputs)
            return self._space.values(self.kernel.prepared(pairs)) @ beta

        return scores

    def candidates(self, x: Objects, i: int) -> ListedOutputs:
        """As listed once, before training."""
        assert self._listed is not None
        return self._listed.each[i]

    def deltas(self, i: int, among: ListedOutputs, augment: Augment) -> Floats:
        """Losses, kept from the first time on where outputs are listed."""
        if not self.lists:
            return super().deltas(i, among, augment)
        kept = self._losses.get(i)
        if kept is None or kept[0] is not augment.loss:
            kept = augment.loss, super().deltas(i, among, augment)
            self._losses[i] = kept
        return kept[1]

    def work(self, x: Objects) -> Floats:
        """Outputs times directions, of which there may be one per example."""
        if self._listed is None:
            return np.full(x.n, 1e6)
        return np.diff(self._listed.first) * float(x.n)

    def square(self, w: Floats) -> float:
        """||w||^2: coordinates are plain vectors."""
        return float(w @ w)

    def mismatch(self) -> float:
        """How far inner products of the coordinates of pairs are from J, at most.

        Pairs that brought no direction have coordinates without what was left of them.
        They are compared with the basis as it is now, which has grown since; where they
        are many, some of them.
        """
        space, keys = self._space, list(self._known)
        some = np.unique(np.linspace(0, len(keys) - 1, COMPARED).astype(np.int64))
        worst = 0.0
        for first in range(0, len(some) if keys else 0, TOGETHER):
            asked = [keys[k] for k in some[first : first + TOGETHER]]
            inputs = [self.x.items[i] for i, _ in asked]
            outputs = [self.output_of(np.frombuffer(row, np.int32)) for _, row in asked]
            z = np.zeros((len(asked), space.size))
            for q, key in enumerate(asked):
                z[q, : len(self._known[key])] = self._known[key]
            values = space.values(self.kernel.prepared(PairList(inputs, outputs)))
            worst = max(
                worst, float(np.abs(values - z @ space.factor.T).max(initial=0))
            )
            squares = self.sizes(inputs, outputs) ** 2
            worst = max(worst, float(np.abs(squares - (z * z).sum(axis=1)).max()))
        return worst

    def model(self, w: Floats) -> tuple[PairStructure, Floats]:
        """The structure that predicts, with its support pairs, and their beta."""
        space = self._space
        beta = space.coefficients(w)
        kept = np.flatnonzero(np.abs(beta) > SMALL * np.abs(beta).max(initial=0.0))
        inputs = [space.inputs[k] for k in kept]
        outputs = [space.outputs[k] for k in kept]
        return self.plain.with_support(inputs, outputs), beta[kept]

    def listed_outputs(self, item: Any) -> Sequence[Any] | None:
        """As the plain structure."""
        return self.plain.listed_outputs(item)

    def search(self, score: Any, item: Any, truth: Any) -> Any:
        """As the plain structure."""
        return self.plain.search(score, item, truth)

    def row_of(self, y: Any) -> Labels:
        """As the plain structure."""
        return self.plain.row_of(y)

    def output_of(self, row: Labels) -> Any:
        """As the plain structure."""
        return self.plain.output_of(row)

    def label_count(self) -> int:
        """As the plain structure."""
        return int(self.plain.label_count())


def _trimmed(z: Floats) -> Floats:
    """Coordinates without the zeros at the end."""
    some = np.flatnonzero(z)
    return z[: some[-1] + 1].copy() if len(some) else z[:0]
