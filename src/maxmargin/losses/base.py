"""How wrong an output is: Delta(y, y') >= 0, zero at the truth.

A loss has a `form`, which tells a structure how it falls into parts:

    "zero-one"   1 if the rows differ at all
    "table"      scale_i * sum over positions of table[true label, label]

Structures with losses of their own forms (brackets, aligned pairs, clusters, ranks)
document them where they use them. Losses are frozen; `bind` returns a copy that
knows the number of labels.

[1] Tsochantaridis et al. 2005, section 2.1; taxonomies: section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.arrays import Floats, Ints, Ragged
from maxmargin.core.jit import loop
from maxmargin.inference.tree.chart import NODE


@dataclass(frozen=True)
class ZeroOne:
    """Delta(y, y') = 1 if y' differs from y anywhere, else 0."""

    form: ClassVar[str] = "zero-one"
    n_labels: int = 0

    def bind(self, n_labels: int) -> ZeroOne:
        """Know the number of labels."""
        return replace(self, n_labels=n_labels)

    @property
    def table(self) -> Floats:
        """1 off the diagonal: the loss itself where an output is a single label."""
        return 1.0 - np.eye(self.n_labels)

    def scale(self, truth: Ragged) -> Floats:
        """No factor."""
        return np.ones(truth.n)

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        out = np.zeros(truth.n)
        same_size = truth.sizes == labels.sizes
        out[~same_size] = 1.0
        if same_size.all():
            differs = truth.data != labels.data
            out[np.repeat(np.arange(truth.n), truth.sizes)[differs]] = 1.0
        else:
            for i in np.flatnonzero(same_size).tolist():
                out[i] = float((truth.row(i) != labels.row(i)).any())
        return out


@dataclass(frozen=True)
class Hamming:
    """Delta(y, y') = scale * sum_t cost[y_t, y'_t], cost = 1 off the diagonal.

    Parameters
    ----------
    cost : array (k, k), optional
        Cost of saying column when row is true: zero diagonal, otherwise positive.
    class_weight : array (k,), optional
        Weight of an error on each true label (row factor of the cost).
    normalize : bool, default=False
        Divide by the length of the truth, so that the loss of an example is at most 1.
    """

    cost: ArrayLike | None = None
    class_weight: ArrayLike | None = None
    normalize: bool = False
    form: ClassVar[str] = "table"
    bound_table: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    def bind(self, n_labels: int) -> Hamming:
        """Know the number of labels: check and fill the table."""
        if self.cost is None:
            table = 1.0 - np.eye(n_labels)
        else:
            table = np.array(self.cost, dtype=np.float64)
        if self.cost is not None and n_labels == 0:
            raise ValueError(
                "a matrix of costs is about labels, and these outputs have none"
            )
        if table.shape != (n_labels, n_labels):
            raise ValueError(
                f"the cost matrix has shape {table.shape}, but there are {n_labels} "
                f"labels: it must be ({n_labels}, {n_labels}), in sorted label order"
            )
        if not np.isfinite(table).all() or (table < 0).any():
            i, j = np.argwhere(~np.isfinite(table) | (table < 0))[0]
            raise ValueError(
                f"cost[{i}, {j}] is {table[i, j]}: costs must be finite and >= 0"
            )
        if np.diag(table).any():
            i = int(np.flatnonzero(np.diag(table))[0])
            raise ValueError(
                f"cost[{i}, {i}] is {table[i, i]}: the truth must cost nothing"
            )
        if self.class_weight is not None:
            weight = np.asarray(self.class_weight, dtype=np.float64)
            if weight.shape != (n_labels,):
                raise ValueError(
                    f"class_weight has {weight.shape} entries for {n_labels} labels"
                )
            if not (np.isfinite(weight) & (weight >= 0)).all():
                i = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
                raise ValueError(
                    f"class_weight[{i}] is {weight[i]}: weights must be finite and >= 0"
                )
            table = table * weight[:, None]
        return replace(self, bound_table=np.ascontiguousarray(table))

    @property
    def table(self) -> Floats:
        """Cost of each pair (true label, label)."""
        return self.bound_table

    def scale(self, truth: Ragged) -> Floats:
        """1 / length if normalised."""
        if self.normalize:
            return 1.0 / np.maximum(truth.sizes, 1)
        return np.ones(truth.n)

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        cost = self.bound_table[truth.data, labels.data]
        total = np.concatenate(([0.0], np.cumsum(cost)))
        return self.scale(truth) * (total[truth.ptr[1:]] - total[truth.ptr[:-1]])


def named_loss(loss: Any, known: dict[str, Any]) -> Any:
    """A loss by name, as a cost matrix, or an object as it is."""
    if isinstance(loss, str):
        if loss not in known:
            names = ", ".join(repr(k) for k in known)
            raise ValueError(f"loss={loss!r} is not known here: choose from {names}")
        return known[loss]
    if isinstance(loss, np.ndarray | list | tuple):
        return Hamming(cost=np.asarray(loss, dtype=np.float64))
    if not hasattr(loss, "bind"):
        raise ValueError(
            f"loss={loss!r} is neither a name, nor a matrix of costs, nor a Loss; names "
            f"are {', '.join(repr(k) for k in known)}"
        )
    return loss


class _Brackets:
    """Losses of trees: functions of m brackets in common, e wrong and g true ones.

    An encoded tree is a row of nodes of five numbers; the brackets are those nodes whose
    last number, the label, is not -1, with their first and third, start and end.
    """

    @property
    def table(self) -> Floats:
        """None: outputs have no positions."""
        return np.zeros((0, 0))

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        m, p, g = bracket_counts(truth, labels)
        return self.of_counts(m, p - m, g)

    def of_counts(self, m: Ints, e: Ints, g: Ints) -> Floats:
        """Loss of trees with m brackets in common, e wrong ones and g true ones."""
        raise NotImplementedError


@dataclass(frozen=True)
class BracketF1(_Brackets):
    """Delta(y, y') = 1 - F1 = 1 - 2 m / (p + g) over labelled brackets.

    m brackets in common, p in y', g in y; [1], section 5.4.

    Examples
    --------
    >>> BracketF1().of_counts(np.array([2]), np.array([1]), np.array([3])).round(3)
    array([0.333])
    """

    form: ClassVar[str] = "brackets-f1"

    def bind(self, n_labels: int) -> BracketF1:
        """Nothing to know."""
        return self

    def scale(self, truth: Ragged) -> Floats:
        """No factor."""
        return np.ones(truth.n)

    def of_counts(self, m: Ints, e: Ints, g: Ints) -> Floats:
        """1 - F1; no bracket on either side is right."""
        size = m + e + g
        return np.where(size > 0, 1.0 - 2.0 * m / np.maximum(size, 1), 0.0)


@dataclass(frozen=True)
class BracketHamming(_Brackets):
    """Delta(y, y') = scale * (brackets of y' not in y + brackets of y not in y').

    Parameters
    ----------
    normalize : bool, default=False
        Divide by the number of true brackets.
    """

    normalize: bool = False
    form: ClassVar[str] = "brackets-hamming"

    def bind(self, n_labels: int) -> BracketHamming:
        """Nothing to know."""
        return self

    def scale(self, truth: Ragged) -> Floats:
        """1 / number of true brackets if normalised."""
        if not self.normalize:
            return np.ones(truth.n)
        return self._factor(bracket_counts(truth, truth)[2])

    def of_counts(self, m: Ints, e: Ints, g: Ints) -> Floats:
        """Wrong and missing brackets."""
        return self._factor(g) * (e + g - m)

    def _factor(self, g: Ints) -> Floats:
        return 1.0 / np.maximum(g, 1) if self.normalize else np.ones(np.shape(g))


def bracket_counts(truth: Ragged, labels: Ragged) -> tuple[Ints, Ints, Ints]:
    """Brackets in common, of `labels` and of `truth`, row by row."""
    return _bracket_counts(*truth, *labels, NODE)


@loop
def _bracket_counts(ptr, data, ptr2, data2, width):
    n = len(ptr) - 1
    common, found, true = np.zeros((3, n), np.int64)
    for i in range(n):
        used = np.zeros((ptr[i + 1] - ptr[i]) // width, np.bool_)
        for a in range(ptr[i], ptr[i + 1], width):
            true[i] += data[a + 4] >= 0
        for b in range(ptr2[i], ptr2[i + 1], width):
            if data2[b + 4] < 0:
                continue
            found[i] += 1
            for t in range(len(used)):
                a = ptr[i] + t * width
                same = data[a] == data2[b] and data[a + 2] == data2[b + 2]
                if same and not used[t] and data[a + 4] == data2[b + 4]:
                    used[t] = True
                    common[i] += 1
                    break
    return common, found, true
