"""Joint kernels: inner products of pairs (input, output).

    J((x, y), (x', y')) = <psi(x, y), psi(x', y')>

    Joint          K(x, x') L(y, y'), a kernel on inputs times a kernel on outputs
    PairFunction   any function of two pairs
    FeatureKernel  K(psi(x, y), psi(x', y')), a Mercer kernel on joint features
    SameOutput     a constant where the two outputs are the same: an intercept for each
    JointSum       the sum of two of them (`+`)

A joint kernel is called with two lists of pairs and returns the matrix of its values.
Pairs are prepared first, once (`prepared`), because the same ones are compared again
and again while training runs.

[1] Tsochantaridis et al. 2005, sections 2 and 3.2, equation (14), Proposition 21.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import FUNCTION, UNIT, Floats, Ints, real_numbers
from maxmargin.core.data.pairs import PairList, length
from maxmargin.core.data.validation import (
    check_finite,
    check_own,
    check_shape,
    check_types,
    require,
)
from maxmargin.kernels.functions import Kernel

Part: TypeAlias = (
    Any  # a kernel on rows, a table of values, or a function of two objects
)


class JointKernel:
    """What all joint kernels can do."""

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for two lists of prepared pairs, a matrix."""
        raise NotImplementedError

    def prepared(self, pairs: PairList) -> Any:
        """Pairs in the form in which they are compared; it has `n` and `take`."""
        return pairs

    def rounding(self, pairs: Any) -> float:
        """How far rounding may move a value, as a share of sqrt(J(p, p) J(q, q)).

        For prepared pairs p, q like these.
        """
        return FUNCTION

    def validate(self) -> None:
        """Raise ValueError unless the kernel can be used: called when one is loaded."""
        check_types(self)

    def __add__(self, other: JointKernel) -> JointKernel:
        """Sum of two joint kernels."""
        return JointSum(self, other)


@dataclass(frozen=True)
class Joint(JointKernel):
    """J((x, y), (x', y')) = K(x, x') L(y, y').

    Parameters
    ----------
    inputs, outputs : Kernel, array or function
        K and L: a `Kernel` on rows of numbers; a square matrix of values, where inputs
        (or outputs) are numbers of its rows, say for strings and sets; or a function of
        two objects.

    Examples
    --------
    >>> from maxmargin.kernels.functions import Linear
    >>> joint = Joint(Linear(), np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> joint((np.array([[2.0]]), [0]), (np.array([[3.0]]), [1])).tolist()
    [[3.0]]
    >>> sets = Joint(lambda s, t: float(len(s & t)), np.eye(2))
    >>> sets(([{1, 2}], [0]), ([{2, 3}, {5}], [0, 0])).tolist()
    [[1.0, 0.0]]
    """

    inputs: Part
    outputs: Part

    def validate(self) -> None:
        """Tables are square and finite."""
        check_types(self)
        for part, name in ((self.inputs, "inputs"), (self.outputs, "outputs")):
            if isinstance(part, np.ndarray):
                check_shape(part, (len(part), len(part)), name)
                check_finite(part, name)
            elif isinstance(part, Kernel):
                part.validate()
            else:
                check_own(part, ["__call__"], f"the kernel on {name}")

    def prepared(self, pairs: PairList) -> PairList:
        """Rows where a kernel on rows is to compare them."""
        inputs, outputs = pairs
        return PairList(_rows(self.inputs, inputs), _rows(self.outputs, outputs))

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of (input, output)."""
        left = _compare(self.inputs, a[0], b[0], "inputs")
        return left * _compare(self.outputs, a[1], b[1], "outputs")

    def rounding(self, pairs: Any) -> float:
        """Those of both factors, and of their product."""
        parts = zip((self.inputs, self.outputs), pairs, strict=True)
        return UNIT + sum(_rounding(part, objects) for part, objects in parts)


@dataclass(frozen=True)
class PairFunction(JointKernel):
    """Any function of two pairs, ``function((x, y), (x2, y2)) -> float``.

    Examples
    --------
    >>> same = PairFunction(lambda p, q: p[0] * q[0] * (p[1] == q[1]))
    >>> same(PairList([2.0, 3.0], "ab"), PairList([5.0], "a")).tolist()
    [[10.0], [0.0]]
    """

    function: Callable[[Any, Any], float]

    def validate(self) -> None:
        """The function is one of the user's."""
        check_types(self)
        check_own(self.function, ["__call__"], "the joint kernel")

    def __call__(self, a: PairList, b: PairList) -> Floats:
        """Values, one call of the function each."""
        right = list(zip(*b))
        out = [[float(self.function(p, q)) for q in right] for p in zip(*a)]
        return _matrix(out, len(out), len(right))


@dataclass(frozen=True)
class SameOutput(JointKernel):
    """A constant where y = y', else 0: an intercept for each output.

    Examples
    --------
    >>> SameOutput(2.0)(PairList([1, 5], ["a", "b"]), PairList([3], ["a"])).tolist()
    [[2.0], [0.0]]
    """

    value: float = 1.0

    def validate(self) -> None:
        """The constant is not negative."""
        check_types(self)
        require(0.0 <= self.value < np.inf, f"value={self.value} is out of range")

    def __call__(self, a: PairList, b: PairList) -> Floats:
        """Values for all pairs."""
        out = [[self.value * bool(y == z) for z in b.outputs] for y in a.outputs]
        return _matrix(out, len(out), length(b.outputs))


class FeatureRows(NamedTuple):
    """Pairs by their joint features, a row each."""

    psi: Any

    @property
    def n(self) -> int:
        """Number of pairs."""
        return int(self.psi.shape[0])

    def take(self, ids: Ints) -> FeatureRows:
        """Some of the pairs."""
        return FeatureRows(self.psi[ids])


@dataclass(frozen=True)
class FeatureKernel(JointKernel):
    """J((x, y), (x', y')) = K(psi(x, y), psi(x', y')).

    With the linear kernel this is the machine with weights for the features psi.

    Parameters
    ----------
    owner : object
        With a method ``joint_feature(x, y) -> vector``.
    kernel : Kernel
        Compares the vectors.

    Examples
    --------
    >>> from maxmargin.kernels.functions import Polynomial
    >>> class Signed:
    ...     def joint_feature(self, x, y):
    ...         return y * np.asarray(x)
    >>> J = FeatureKernel(Signed(), Polynomial(2))
    >>> J(*[J.prepared(PairList([[1.0, 2.0]], [y])) for y in (1, -1)]).tolist()
    [[16.0]]
    """

    owner: Any
    kernel: Kernel

    def validate(self) -> None:
        """The kernel on rows is valid; the user's object is trusted."""
        check_types(self)
        check_own(self.owner, ["joint_feature"], "the owner of the joint features")
        self.kernel.validate()

    def prepared(self, pairs: PairList) -> FeatureRows:
        """The joint features."""
        psi = [self.owner.joint_feature(x, y) for x, y in zip(*pairs)]
        return FeatureRows(_stacked(psi))

    def __call__(self, a: FeatureRows, b: FeatureRows) -> Floats:
        """Values of the kernel on joint features."""
        return self.kernel(a.psi, b.psi)

    def rounding(self, pairs: FeatureRows) -> float:
        """That of the kernel on joint features."""
        return self.kernel.rounding(pairs.psi)


class Both(NamedTuple):
    """Pairs as the two parts of a sum want them."""

    first: Any
    second: Any

    @property
    def n(self) -> int:
        """Number of pairs."""
        return int(self.first.n)

    def take(self, ids: Ints) -> Both:
        """Some of the pairs."""
        return Both(self.first.take(ids), self.second.take(ids))


@dataclass(frozen=True)
class JointSum(JointKernel):
    """J + J'.

    Examples
    --------
    >>> J = Joint(np.eye(2), np.eye(2)) + PairFunction(lambda p, q: 1.0)
    >>> pairs = J.prepared(PairList([0, 1], [0, 0]))
    >>> J(pairs, pairs).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    first: JointKernel
    second: JointKernel

    def validate(self) -> None:
        """Both parts are valid."""
        check_types(self)
        self.first.validate()
        self.second.validate()

    def prepared(self, pairs: PairList) -> Both:
        """In the forms of both parts."""
        return Both(self.first.prepared(pairs), self.second.prepared(pairs))

    def __call__(self, a: Both, b: Both) -> Floats:
        """Sum of the values."""
        return self.first(a.first, b.first) + self.second(a.second, b.second)

    def rounding(self, pairs: Both) -> float:
        """The larger of the two, and that of the sum."""
        first = self.first.rounding(pairs.first)
        return max(first, self.second.rounding(pairs.second)) + UNIT


def _rows(part: Part, objects: Any) -> Any:
    """Objects as a matrix, if a kernel on rows is to compare them."""
    if not isinstance(part, Kernel) or hasattr(objects, "shape"):
        return objects
    return _stacked(objects)


def _stacked(vectors: Sequence[Any]) -> Any:
    """Vectors as the rows of one matrix, sparse if any of them is."""
    if any(sp.issparse(v) for v in vectors):
        return sp.csr_array(
            sp.vstack([sp.csr_array(v).reshape(1, -1) for v in vectors])
        )
    try:
        return np.vstack([real_numbers(v).ravel() for v in vectors])
    except (TypeError, ValueError) as wrong:
        raise ValueError(
            f"a kernel on rows needs vectors of numbers of one length ({wrong})"
        ) from wrong


def _compare(part: Part, a: Any, b: Any, what: str) -> Floats:
    """Values of one factor of a product."""
    if isinstance(part, Kernel):
        return part(a, b)
    if isinstance(part, np.ndarray):
        rows, columns = (_places(part, side, what) for side in (a, b))
        return np.asarray(part, dtype=np.float64)[np.ix_(rows, columns)]
    left, at = _distinct(a)
    right, of = _distinct(b)
    out = [[float(part(p, q)) for q in right] for p in left]
    return _matrix(out, len(left), len(right))[np.ix_(at, of)]


def _rounding(part: Part, objects: Any) -> float:
    """That of the values of one factor of a product; a table has them as given."""
    if isinstance(part, Kernel):
        return part.rounding(objects)
    return 0.0 if isinstance(part, np.ndarray) else FUNCTION


def _places(table: Floats, objects: Any, what: str) -> Ints:
    """Objects as rows of a table of values."""
    found = np.asarray(objects)
    if found.dtype.kind not in "iu":
        raise TypeError(
            f"the kernel on {what} is a table, so {what} must be numbers of its rows, "
            f"not {found.dtype}"
        )
    bad = np.flatnonzero((found < 0) | (found >= len(table)))
    if len(bad):
        raise ValueError(
            f"the kernel on {what} has {len(table)} rows, but row {found[bad[0]]} was "
            "asked for"
        )
    return found.astype(np.int64)


def _distinct(objects: Any) -> tuple[list[Any], Ints]:
    """Each object once, and the place of every one: functions of objects are slow."""
    places: dict[int, int] = {}
    kept: list[Any] = []
    where = np.empty(length(objects), np.int64)
    for k, item in enumerate(objects):
        at = places.setdefault(id(item), len(kept))
        if at == len(kept):
            kept.append(item)  # keeps it alive, so its id stays its own
        where[k] = at
    return kept, where


def _matrix(values: Sequence[Sequence[float]], rows: int, columns: int) -> Floats:
    return np.array(values, dtype=np.float64).reshape(rows, columns)
