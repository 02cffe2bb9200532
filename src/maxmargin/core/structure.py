"""What an output is: the contract between a structure and the rest.

A structure turns inputs and outputs into flat arrays, knows psi(x, y), and finds

    argmax_y  <w, psi(x, y)> + weight * loss(truth, y).

Its loops do not check bounds, so `validate` must refuse every object, bound or not, that
could lead them out of their arrays: `load` calls it, whatever the file says.

It knows nothing of solvers. It is a frozen dataclass of hyper-parameters; `bind` returns
a copy that also knows its sizes, so that `fit` never alters the object of the user. Each
structure has its own type of encoded inputs: a NamedTuple of flat arrays with a property
`n`, the number of examples.

What only some structures can do is described by the Protocols at the end of this file:
a structure with the methods of `NBest` can list its k best outputs, and so on. Ask for
such a capability by

    nbest = structure.offers(NBest)     # the structure itself, or None

because a structure may have the method and still not offer it for its data: a network
can list its best outputs by loss on forests only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
    runtime_checkable,
)

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, Vectors
from maxmargin.core.data.validation import require
from maxmargin.core.formulations import Violation
from maxmargin.core.loss import Loss, LossForm, ZeroOne

P = TypeVar("P")
NOT_COMPLETED = "outputs in the checkpoint do not complete those of the data"


class Augment(NamedTuple):
    """Add weight[i] * loss(truth_i, y) to the score of y. Absent: predict."""

    truth: Ragged  # one row for every example, not only for `ids`
    loss: Loss
    weight: Floats  # (n,) per example
    criterion: Violation | None = None  # what `argmax_by_loss` is for; None: any


class Found(NamedTuple):
    """The best outputs of the examples in `ids`."""

    labels: Ragged  # one row per id
    score: Floats  # <w, psi> + weight * loss of it
    bound: Floats  # no output scores more; equal to `score` if inference is exact


class Layers(NamedTuple):
    """Several outputs per example: rows ptr[q]:ptr[q + 1] belong to ids[q]."""

    ptr: Ints  # (len(ids) + 1,)
    labels: Ragged  # (ptr[-1] rows)
    score: Floats  # (ptr[-1],)  <w, psi>, without loss
    loss: Floats  # (ptr[-1],)  the loss of the row; zeros where none was asked for

    @classmethod
    def of(
        cls, ids: Ints, ptr: Ints, labels: Ragged, score: Floats,
        augment: Augment | None, *, augmented: bool = False,
    ) -> Self:  # fmt: skip
        """Rows with their losses; `augmented` if `score` contains what those add."""
        if augment is None:
            return cls(ptr, labels, score, np.zeros(labels.n))
        owner = np.repeat(ids, np.diff(ptr))
        loss = augment.loss.value(augment.truth.take(owner), labels)
        if augmented:
            score = score - augment.weight[owner] * loss
        return cls(ptr, labels, score, loss)

    def better_of_two(self, ids: Ints, augment: Augment) -> Found:
        """Of one or two outputs per example the better one, losses added."""
        owner = np.repeat(ids, np.diff(self.ptr))
        score = self.score + augment.weight[owner] * self.loss
        first = self.ptr[:-1]
        second = np.minimum(first + 1, self.ptr[1:] - 1)
        best = np.where(score[second] > score[first], second, first)
        return Found(self.labels.take(best), score[best], score[best])


class Answer(NamedTuple):
    """The most violated outputs as constraints: differences of psi to the truth."""

    labels: Ragged  # one row per id; may be empty rows if the answer is fractional
    dpsi: Rows  # psi(x, truth) - psi(x, labels)
    delta: Floats  # loss(truth, labels)
    bound: Floats  # max over y of weight * delta - <w, dpsi> is at most this


class OuterProductFeatures(NamedTuple):
    """psi(x, y) = phi(x) (x) Lambda(y) for a finite set of outputs y = 0 .. k - 1."""

    vectors: Vectors  # phi(x_i), one per example
    outputs: Floats  # (k, z) Lambda(y); the flat weights are those of z labels


class VectorKinds(NamedTuple):
    """Positions that have vectors of several kinds, each kind with its own weights.

    Position r has vector row[r], so that positions may share one. The weights of kind t
    are width[t] * labels[t] numbers from at[t] on.
    """

    row: Labels  # (positions,)
    kind: Labels  # (positions,)
    at: Ints  # (kinds,)
    labels: Ints  # (kinds,)
    width: Ints  # (kinds,)


class PairVectors(NamedTuple):
    """Dense vectors of edges, which are scored against pairs of labels.

    Edge e has kind[e] and `width` values; pair p of kind c has its weights from
    at[c] + p * width on. The edges of example i are those from ptr[i] to ptr[i + 1].
    """

    kind: Labels  # (edges,)
    val: Floats  # (edges * width,)
    width: int
    pairs: int  # of any kind at most
    at: Ints  # (kinds,)
    ptr: Ints


class OuterCoordinates(NamedTuple):
    """Coordinates for differences: pairs (vector, label), then weights as they are.

    Coordinate c < n * k stands for vector c // k with label c % k, that is for the outer
    product of the two; further ones for the weights from `base` on. A difference of psi
    has some tens of times fewer such entries than weights. The vectors of example i are
    those from ptr[i] to ptr[i + 1].

    Without `kinds`, n is vectors.n, and `base` is vectors.width * k. With them, n is the
    number of positions. Where there are `edges`, coordinates of (edge, pair), in the
    same order, stand between those of vectors and the weights.
    """

    vectors: Vectors
    k: int
    ptr: Ints
    kinds: VectorKinds | None = None
    edges: PairVectors | None = None
    base: int | None = None


class SequenceLayout(NamedTuple):
    """Where the weights of label sequences are.

    Those of the inputs, width * labels, come first; others count from there.
    """

    labels: int  # K
    order: int  # labels before a token that are scored together with its own
    width: int  # input features
    others: int  # number of weights after those of the inputs
    pairs: int  # label tuples of 2 .. order + 1 neighbours
    start: int  # (K,) first labels; -1: none
    end: int  # (K,) last labels; -1: none
    bias: int  # (K,) constants; -1: none


class LabelSequences(NamedTuple):
    """Inputs of a structure whose outputs are label sequences.

    The score of labels y is  sum_t <x_t, weights of y_t> + bias of y_t  +  eta times
    the weights of label tuples, and of the first and the last label.
    """

    vectors: Vectors  # x_t, one per token
    ptr: Ints  # (n + 1,) first token of each example
    forced: Labels  # (tokens,) label that must stand there or -1; empty: none
    layout: SequenceLayout
    eta: float
    legal: Floats  # 0 or -inf for pairs, first and last labels; empty: all allowed


class Pieces(NamedTuple):
    """What an output is made of: psi(x, y) is the sum of the rows."""

    names: list[str]
    psi: Rows
    output_features: tuple[int, ...] = ()  # of classes: the one each piece stands for


class Structure(ABC):
    """Base of all structures; see the module docstring for the contract."""

    losses: ClassVar[tuple[LossForm, ...]] = ("zero-one", "table")  # it can add these
    if TYPE_CHECKING:  # a field, or a property, as the structure prefers

        @property
        def dim(self) -> int:
            """Length of w."""

        @property
        def exact(self) -> bool:
            """Whether argmax is exact; else `Found.bound` is a bound only."""
    else:
        exact = True

    def offers(self, capability: type[P]) -> P | None:
        """The structure itself if it has this capability for its data, else None.

        Override it where this depends on the data or on settings, not only on the
        methods that the class has.
        """
        return self if isinstance(self, capability) else None

    def require(self, capability: type[P], who: str) -> P:
        """As `offers`; ValueError in one sentence where it would be None."""
        offered = self.offers(capability)
        if offered is None:
            what = (capability.__doc__ or capability.__name__).splitlines()[0]
            raise ValueError(
                f"{who} needs {what.rstrip('.')}, which {type(self).__name__} does not "
                f"offer (capability {capability.__name__})"
            )
        return offered

    @classmethod
    def upgraded(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Fields read from a model file, in the terms of this version.

        Files of version 0.1 list capabilities by name, in a field `provides`.
        """
        return {name: value for name, value in fields.items() if name != "provides"}

    @abstractmethod
    def validate(self) -> None:
        """Raise ValueError unless all fields fit together, for weights of length `dim`.

        Compute what `bind` has derived once more and compare. A structure that is not
        bound yet is valid if its hyper-parameters are.
        """

    @abstractmethod
    def bind(self, X: Any, Y: Any) -> Self:
        """Copy that knows the sizes of the data; errors name the record that is wrong."""

    @abstractmethod
    def encode(self, X: Any) -> Any:
        """Inputs as a NamedTuple of flat arrays, with a property `n`."""

    @abstractmethod
    def encode_labels(self, x: Any, Y: Any) -> Ragged:
        """Outputs, one row of integers per example."""

    @abstractmethod
    def decode_labels(self, x: Any, labels: Ragged) -> list[Any]:
        """Rows of integers back to outputs; row q is an output of example q of x."""

    @abstractmethod
    def features(self, x: Any, ids: Ints, labels: Ragged) -> Rows:
        """psi(x_i, y): row q of `labels` is an output of example ids[q]."""

    @abstractmethod
    def argmax(
        self, x: Any, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Best output of each example in `ids`, with the loss added where asked."""

    def cuts(self, x: Any, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Best loss-augmented outputs as differences to the truth; override to fuse."""
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        dpsi = self.features(x, ids, truth).minus(self.features(x, ids, found.labels))
        delta = augment.loss.value(truth, found.labels)
        slack = augment.weight[ids] * delta - dpsi.dot(w)
        return Answer(found.labels, dpsi, delta, slack + (found.bound - found.score))

    def stored_outputs(self, labels: Ragged) -> Any:
        """Encoded outputs in a form that a checkpoint may hold."""
        return labels

    def restored_outputs(self, data: Any) -> Ragged:
        """Undo `stored_outputs`."""
        if not isinstance(data, Ragged):
            raise ValueError("the outputs in the checkpoint are not rows")
        return data

    def check_completed(self, x: Any, truth: Ragged, completed: Ragged) -> None:
        """Refuse rows, read from a file, that do not complete the true outputs.

        Structures with hidden parts override it: features of such rows are computed
        without a further look.
        """
        same = np.array_equal(truth.ptr, completed.ptr)
        require(same and np.array_equal(truth.data, completed.data), NOT_COMPLETED)

    def layered(self, loss: Loss) -> bool:
        """Whether `argmax_by_loss` can tell the values of this loss apart."""
        return self.offers(ByLoss) is not None

    def listed(self, loss: Loss) -> bool:
        """Whether `nbest` can add this loss (the zero-one loss is never asked of it)."""
        return self.offers(NBest) is not None

    @property
    def certificate(self) -> str:
        """How tight `Found.bound` is: "exact", "relaxed" (by an LP) or only a "bound".

        "reduced" where it is no bound: a greedy search may miss worse outputs.
        """
        return "exact" if self.exact else "bound"

    def square(self, w: Floats) -> float:
        """||w||^2; another form where w holds more than weights (kernels)."""
        return float(w @ w)

    def slice(self, x: Any, start: int, stop: int) -> Any:
        """Inputs of the examples start .. stop - 1; None if they cannot be separated."""
        return None

    def label_count(self) -> int:
        """Number of label values, for losses given as tables; 0 without any."""
        return 0

    def work(self, x: Any) -> Floats:
        """Cost of one argmax per example, about in multiply-adds.

        Solvers weigh it against the cost of their own loops to decide how often to
        ask. A count, not a clock, so that runs repeat bit for bit.
        """
        return np.full(x.n, 1e5)

    def feature_names(self) -> Sequence[str] | None:
        """Names of the coordinates of w, where they have any."""
        return None

    def explain_pieces(self, x: Any, i: int, row: Labels) -> Pieces:
        """The parts of output `row` of example i with their features, to explain it."""
        whole = self.features(x, np.array([i]), Ragged.pack([row]))
        return Pieces(["output"], whole)

    def runner_up(self, x: Any, i: int, w: Floats, row: Labels) -> Labels | None:
        """Best output of example i other than its best, `row`; None without any."""
        ids = np.array([i])
        nbest = self.offers(NBest)
        if nbest is not None:
            found = nbest.nbest(x, ids, w, 2).labels
            return next((r for r in _each(found) if not np.array_equal(r, row)), None)
        if "zero-one" not in self.losses:
            return None
        truth = Ragged.pack([row] * x.n)
        loss = ZeroOne(self.label_count())
        weight = 1.0 + float(np.abs(w).sum())
        for _ in range(4):  # a weight that makes any other output better than `row`
            augment = Augment(truth, loss, np.full(x.n, weight))
            other = self.argmax(x, ids, w, augment).labels.row(0)
            if not np.array_equal(other, row):
                return other
            weight *= 1e3
        return None


@runtime_checkable
class MostViolated(Protocol):
    """Joint features that are written out: constraints are vectors.

    Every structure offers it, except networks with a kernel on their nodes, which only
    the factored dual can train.
    """

    def features(self, x: Any, ids: Ints, labels: Ragged) -> Rows:
        """psi(x_i, y): row q of `labels` is an output of example ids[q]."""

    def cuts(self, x: Any, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Best loss-augmented outputs as differences to the truth."""


@runtime_checkable
class ByLoss(Protocol):
    """The best output for each value of the loss."""

    def argmax_by_loss(self, x: Any, ids: Ints, w: Floats, augment: Augment) -> Layers:
        """Best output of each example for every value of the loss."""


@runtime_checkable
class NBest(Protocol):
    """The k best outputs."""

    def nbest(
        self, x: Any, ids: Ints, w: Floats, k: int, augment: Augment | None = None
    ) -> Layers:
        """The k best outputs of each example, best first."""


@runtime_checkable
class MaxMarginals(Protocol):
    """Max-marginals: the best score with one label held fixed."""

    def max_marginals(self, x: Any, ids: Ints, w: Floats) -> Floats:
        """Best score of an output that has label y at position t, for all t and y."""


@runtime_checkable
class Latent(Protocol):
    """Completion of true outputs of which a part is hidden."""

    def complete(self, x: Any, ids: Ints, w: Floats, truth: Ragged) -> Ragged:
        """The true outputs with the hidden part that scores best."""


@runtime_checkable
class InitialGuess(Protocol):
    """A random first guess of hidden parts."""

    def guess(self, x: Any, truth: Ragged, rng: np.random.Generator) -> Ragged:
        """The true outputs with hidden parts to start from."""


@runtime_checkable
class FewOutputs(Protocol):
    """Outputs that can all be listed, with psi(x, y) = phi(x) (x) Lambda(y)."""

    def outer_product(self, x: Any) -> OuterProductFeatures:
        """Inputs phi(x) and output vectors Lambda(y)."""


@runtime_checkable
class FactoredPlanes(Protocol):
    """Differences of psi in (vector, label) coordinates, which have fewer entries."""

    def outer_coordinates(self, x: Any) -> OuterCoordinates | None:
        """The coordinates; None where they are too many, or psi is no sum of such products."""

    def outer_cuts(self, x: Any, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """As `cuts`, with differences in these coordinates."""

    def outer_features(self, x: Any, ids: Ints, labels: Ragged) -> Rows:
        """As `features`, in these coordinates."""


@runtime_checkable
class SequenceLabels(Protocol):
    """Outputs that are label sequences, scored by Viterbi."""

    def label_sequences(self, x: Any) -> LabelSequences | None:
        """The sequences and where their weights are; None where this does not fit."""


@runtime_checkable
class MappedInputs(Protocol):
    """Inputs that a feature map or kernel may replace: psi = sum_t x_t (x) e(y_t) + ..."""

    def mapped(self, phi: Any) -> Structure:
        """The same structure over phi(x_t) in place of x_t."""

    def input_matrix(self, x: Any) -> Any:
        """All x_t as rows, without constants that the structure appends."""

    def with_inputs(self, x: Any, matrix: Any) -> Any:
        """The same inputs with other rows x_t."""

    def split_weights(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights of the x_t (features, labels), and all others."""

    def join_weights(self, inputs: Floats, rest: Floats) -> Floats:
        """Undo `split_weights`."""


def _each(labels: Ragged) -> Sequence[Labels]:
    return [labels.row(q) for q in range(labels.n)]
