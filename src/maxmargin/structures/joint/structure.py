"""Outputs scored by support pairs: structures under a joint kernel.

    f(x, y) = sum_p beta_p J((x_p, y_p), (x, y)),      predict  argmax_y f(x, y)

The weights are the coefficients beta of the support pairs, and psi(x, y) are the kernel
values with them. The best output is found in a list of all outputs that x may have, or
by the user's own search, which is given the score as a function of the output.

[1] Tsochantaridis et al. 2005, sections 2 and 3.2, equation (14).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import (
    FUNCTION,
    Floats,
    Ints,
    Labels,
    Ragged,
    Rows,
    pointers,
)
from maxmargin.core.data.pairs import PairKernel, PairList, length
from maxmargin.core.data.validation import (
    Validated,
    check_finite,
    check_own,
    check_shape,
    check_types,
    require,
)
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import (
    Augment,
    ByLoss,
    Found,
    Layers,
    MostViolated,
    NBest,
    P,
    Structure,
)
from maxmargin.losses.python_loss import pickled, unpickled
from maxmargin.structures.python_structure import Objects

TOGETHER = 256  # support pairs that are compared with all others at once


class ListedOutputs(NamedTuple):
    """Outputs that an input may have, and their encoded rows."""

    outputs: Sequence[Any]
    rows: Ragged


# Scores of some outputs of example i.
Scores = Callable[[int, Sequence[Any]], Floats]


@dataclass(frozen=True)
class PairStructure(Structure):
    """What structures under a joint kernel share.

    Parameters
    ----------
    kernel : PairKernel
        J, see `maxmargin.kernels.joint`.
    """

    kernel: Any = None
    inputs: Any = ()  # of the support pairs
    outputs: Any = ()

    @property
    def dim(self) -> int:
        """Number of support pairs."""
        return length(self.outputs)

    @abstractmethod
    def listed_outputs(self, item: Any) -> Sequence[Any] | None:
        """All outputs that an input may have; None if they cannot be listed."""

    @abstractmethod
    def row_of(self, y: Any) -> Labels:
        """An output as a row of integers."""

    @abstractmethod
    def output_of(self, row: Labels) -> Any:
        """A row of integers as an output."""

    def search(self, score: Callable[[Any], float], item: Any, truth: Any) -> Any:
        """The best output where they cannot be listed; `truth` is None or adds the loss."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields, not what was derived from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def validate(self) -> None:
        """As many inputs as outputs, and a kernel."""
        check_types(self)
        require(callable(self.kernel), "the joint kernel is missing")
        if isinstance(self.kernel, Validated):
            self.kernel.validate()
        require(length(self.inputs) == self.dim, "support pairs lack inputs or outputs")
        if self.dim:
            self._check_support()

    def _check_support(self) -> None:
        """The kernel can compare the support pairs with one of them."""
        try:
            values = self.pair_values(self.inputs[:1], self.outputs[:1])
        except Exception as error:
            raise ValueError(
                f"the support pairs cannot be compared ({error})"
            ) from error
        check_shape(values, (1, self.dim), "values of the joint kernel")
        check_finite(values, "values of the joint kernel")

    def bind(self, X: Any, Y: Any) -> Self:
        """Nothing to know: the support pairs are found by training."""
        return self

    def with_support(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Self:
        """The same structure, scored by these pairs."""
        return replace(self, inputs=inputs, outputs=outputs)

    def offers(self, capability: type[P]) -> P | None:
        """Lists of outputs only where there are any; no joint features for trainers."""
        if capability is MostViolated:
            return None
        if capability in (ByLoss, NBest) and not self.lists:
            return None
        return super().offers(capability)

    @property
    def lists(self) -> bool:
        """Whether outputs are listed."""
        return True

    def encode(self, X: Any) -> Objects:
        """Keep the objects; rows of matrices as vectors."""
        if sp.issparse(X):
            X = sp.csr_array(X).toarray()
        return Objects(tuple(X))

    def encode_labels(self, x: Objects | None, Y: Sequence[Any]) -> Ragged:
        """A row for each output."""
        return Ragged.pack([self.row_of(y) for y in Y])

    def decode_labels(self, x: Objects | None, labels: Ragged) -> list[Any]:
        """Rows back to outputs."""
        return [self.output_of(labels.row(i)) for i in range(labels.n)]

    def slice(self, x: Objects, start: int, stop: int) -> Objects:
        """Some neighbouring objects."""
        return Objects(x.items[start:stop])

    @cached_property
    def _support(self) -> Any:
        kernel: PairKernel = self.kernel
        return kernel.prepared(PairList(self.inputs, self.outputs))

    def pair_values(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Floats:
        """J of some pairs with the support pairs."""
        if self.dim == 0 or len(outputs) == 0:
            return np.zeros((len(outputs), self.dim))
        values: Floats = self.kernel(
            self.kernel.prepared(PairList(inputs, outputs)), self._support
        )
        if not np.isfinite(values).all():
            raise ValueError("the joint kernel returned values that are not finite")
        return values

    def square(self, w: Floats) -> float:
        """||f||^2 = beta' J beta over the support pairs."""
        total = 0.0
        for first in range(0, self.dim, TOGETHER):
            ids = np.arange(first, min(first + TOGETHER, self.dim))
            total += float(
                w[ids] @ (self.kernel(self._support.take(ids), self._support) @ w)
            )
        return total

    def sizes(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Floats:
        """||psi|| = sqrt(J(p, p)) of some pairs."""
        pairs = self.kernel.prepared(PairList(inputs, outputs))
        each = (pairs.take(np.array([q])) for q in range(len(outputs)))
        squares = np.array([float(self.kernel(p, p)[0, 0]) for p in each])
        return np.sqrt(np.maximum(squares, 0.0))

    def value_error(self) -> float:
        """How far rounding may move J(p, q), as a share of ||psi(p)|| ||psi(q)||."""
        known = getattr(self.kernel, "rounding", None)  # a kernel of the user's own
        return FUNCTION if known is None else float(known(self._support))

    def features(self, x: Objects, ids: Ints, labels: Ragged) -> Rows:
        """Kernel values with the support pairs."""
        inputs = [x.items[i] for i in ids]
        if not inputs:
            return Rows.empty()
        values = self.pair_values(inputs, self.decode_labels(x, labels))
        return Rows.from_dense(values) if self.dim else Rows.empty(len(inputs))

    def scorer(self, x: Objects, w: Floats) -> Scores:
        """Scores of outputs of the examples of x."""

        def scores(i: int, outputs: Sequence[Any]) -> Floats:
            return self.pair_values([x.items[i]] * len(outputs), outputs) @ w

        return scores

    def candidates(self, x: Objects, i: int) -> ListedOutputs:
        """The outputs that example i may have."""
        outputs = self.listed_outputs(x.items[i])
        assert outputs is not None
        if len(outputs) == 0:
            raise ValueError(f"example {i}: `outputs` lists no output at all")
        return ListedOutputs(outputs, Ragged.pack([self.row_of(y) for y in outputs]))

    def deltas(self, i: int, among: ListedOutputs, augment: Augment) -> Floats:
        """Loss of all candidates of example i."""
        truth = augment.truth.take(np.full(among.rows.n, i))
        return augment.loss.value(truth, among.rows)

    def _ranked(
        self, x: Objects, i: int, scores: Scores, augment: Augment | None
    ) -> tuple[ListedOutputs, Floats, Floats]:
        """Candidates of example i, their scores, and their losses."""
        among = self.candidates(x, i)
        score = scores(i, among.outputs)
        if augment is None:
            return among, score, np.zeros(len(score))
        return among, score, self.deltas(i, among, augment)

    def argmax(
        self, x: Objects, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """The best candidates, or what the user's search finds."""
        rows, best = [], np.empty(len(ids))
        scores = self.scorer(x, w)
        for q, i in enumerate(map(int, ids)):
            weight = 1.0 if augment is None else float(augment.weight[i])
            if self.lists:
                among, score, delta = self._ranked(x, i, scores, augment)
                total = score + weight * delta
                at = int(np.argmax(total))
                rows.append(among.rows.row(at))
                best[q] = total[at]
            else:
                row, best[q] = self._searched(x, i, scores, augment, weight)
                rows.append(row)
        return Found(Ragged.pack(rows), best, best)

    def _searched(
        self, x: Objects, i: int, scores: Scores, augment: Augment | None, weight: float
    ) -> tuple[Labels, float]:
        """The output that the user's search finds; the loss has a weight of one there."""
        truth = None if augment is None else self.output_of(augment.truth.row(i))
        y = self.search(lambda z: float(scores(i, [z])[0]) / weight, x.items[i], truth)
        row, total = self.row_of(y), float(scores(i, [y])[0])
        if augment is not None:
            only = ListedOutputs([y], Ragged.pack([row]))
            total += weight * float(self.deltas(i, only, augment)[0])
        return row, total

    def nbest(
        self, x: Objects, ids: Ints, w: Floats, k: int, augment: Augment | None = None
    ) -> Layers:
        """The k best candidates of each example."""
        scores, parts = self.scorer(x, w), []
        for i in map(int, ids):
            among, score, delta = self._ranked(x, i, scores, augment)
            weight = 0.0 if augment is None else float(augment.weight[i])
            order = np.argsort(-(score + weight * delta), kind="stable")[:k]
            parts.append((among.rows.take(order), score[order], delta[order]))
        return _layers(parts)

    def argmax_by_loss(
        self, x: Objects, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """The best candidate for each value of the loss."""
        scores, parts = self.scorer(x, w), []
        for i in map(int, ids):
            among, score, delta = self._ranked(x, i, scores, augment)
            order = np.lexsort((-score, delta))
            first = np.append(True, np.diff(delta[order]) != 0.0)
            best = order[first]
            parts.append((among.rows.take(best), score[best], delta[best]))
        return _layers(parts)

    def feature_names(self) -> list[str] | None:
        """The support pairs by number and output."""
        return [f"likeness to pair {p}: {y!r}" for p, y in enumerate(self.outputs)]


def _layers(parts: Sequence[tuple[Ragged, Floats, Floats]]) -> Layers:
    none = np.empty(0)
    return Layers(
        pointers([rows.n for rows, _, _ in parts]),
        Ragged.concat([rows for rows, _, _ in parts]) if parts else Ragged.pack([]),
        np.concatenate([score for _, score, _ in parts]) if parts else none,
        np.concatenate([delta for _, _, delta in parts]) if parts else none,
    )


@dataclass(frozen=True)
class OwnPairs(PairStructure):
    """Outputs of a user's object, under a joint kernel.

    Parameters
    ----------
    kernel : PairKernel
        J.
    owner : object
        With ``loss(y, y_hat)``, and with ``outputs(x)``, which lists all outputs that x
        may have, or ``argmax(score, x, y=None)``, where ``score(y_hat)`` is a function.

    Examples
    --------
    >>> from maxmargin.kernels import PairFunction
    >>> class Digits:
    ...     def outputs(self, x):
    ...         return [0, 1]
    >>> J = PairFunction(lambda p, q: p[0] * q[0] * (p[1] == q[1]))
    >>> machine = OwnPairs(J, [3.0, -2.0], [1, 0], Digits())
    >>> x = machine.encode([5.0, -4.0])
    >>> found = machine.argmax(x, np.arange(2), np.array([1.0, 1.0]))
    >>> machine.decode_labels(x, found.labels), found.score.tolist()
    ([1, 0], [15.0, 8.0])
    """

    owner: Any = None
    losses: ClassVar[tuple[LossForm, ...]] = ("own", "zero-one")

    def validate(self) -> None:
        """The user's object is trusted, if it is one."""
        super().validate()
        search = "outputs" if self.lists else "argmax"
        check_own(self.owner, ("loss", search), "the structure's owner")

    @property
    def lists(self) -> bool:
        """Whether the user's object lists its outputs."""
        return callable(getattr(self.owner, "outputs", None))

    def listed_outputs(self, item: Any) -> Sequence[Any] | None:
        """The list of the user's object."""
        return list(self.owner.outputs(item)) if self.lists else None

    def search(self, score: Callable[[Any], float], item: Any, truth: Any) -> Any:
        """The search of the user's object."""
        given = (score, item) if truth is None else (score, item, truth)
        try:
            return self.owner.argmax(*given)
        except (TypeError, ValueError, AttributeError) as error:
            error.add_note(
                "With a kernel there are no weights: argmax gets a function in their place, "
                "which gives the score of an output (docs/tasks/joint_kernels.md). Or "
                "give the structure a method outputs(x) that lists its outputs."
            )
            raise

    def row_of(self, y: Any) -> Labels:
        """Bytes of the pickle."""
        return pickled(y)

    def output_of(self, row: Labels) -> Any:
        """Unpickled."""
        return unpickled(row)

    def stored_outputs(self, labels: Ragged) -> Any:
        """The objects themselves: no pickle is ever written to a file."""
        return self.decode_labels(None, labels)

    def restored_outputs(self, data: Any) -> Ragged:
        """Encode the objects again."""
        require(isinstance(data, list), "the outputs in the checkpoint are not a list")
        return self.encode_labels(None, data)


@dataclass(frozen=True)
class ClassPairs(PairStructure):
    """One of k classes, under a joint kernel.

    Parameters
    ----------
    kernel : PairKernel
        J, of pairs (vector, number of the class).
    k : int
        Number of classes.
    """

    k: int = 0
    losses: ClassVar[tuple[LossForm, ...]] = ("zero-one", "table")

    def validate(self) -> None:
        """The outputs of the support pairs are classes."""
        super().validate()
        require(0 <= self.k < 2**31, "the number of classes is out of range")
        known = all(isinstance(y, int) and 0 <= y < self.k for y in self.outputs)
        require(known, "a support pair has a class that does not exist")

    def listed_outputs(self, item: Any) -> Sequence[Any] | None:
        """All classes."""
        return range(self.k)

    def row_of(self, y: Any) -> Labels:
        """The number of the class."""
        return np.array([y], np.int32)

    def output_of(self, row: Labels) -> Any:
        """The number of the class."""
        return int(row[0])

    def label_count(self) -> int:
        """Number of classes."""
        return self.k

    def table(self, x: Objects, w: Floats) -> Floats:
        """Scores (n, k) of all classes."""
        scores, classes = self.scorer(x, w), range(self.k)
        return np.array([scores(i, classes) for i in range(x.n)]).reshape(x.n, self.k)
