"""How wrong an output is: the contract of losses, and the loss that all can do.

    Delta(y, y') >= 0,   Delta(y, y) = 0

Loss-augmented inference adds a loss to the scores. How this can be done depends on what
the loss is a sum over, so every loss has a `form`, and every structure lists in `losses`
the forms that it can add:

| form               | Delta(y, y')                                                  |
|--------------------|---------------------------------------------------------------|
| "zero-one"         | 1 if the rows of y and y' differ at all                       |
| "table"            | scale_i * sum over positions of table[label of y, label of y']|
| "brackets-f1"      | a function of brackets in common, wrong, and true             |
| "brackets-hamming" | scale_i * (wrong + missing brackets)                          |
| "spans"            | scale_i * (costs of wrong and of missed spans)                |
| "arcs"             | scale_i * (wrong heads + cost * wrong labels of right heads)   |
| "aligned-pairs"    | 1 - share of the matches of y that y' has                     |
| "clustered-pairs"  | pairs together in one partition and apart in the other        |
| "forest"           | sum over links of a spanning forest                           |
| "ranking"          | discounted sum over the first k places                        |
| "order"            | sum over relevant documents, by how many others come first    |
| "motif"            | cost of a miss or a false alarm                               |
| "own"              | known only to the structure that brings the loss              |

`maxmargin.losses` holds the losses themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.core.data.validation import check_types, require

LossForm = Literal[
    "zero-one", "table", "brackets-f1", "brackets-hamming", "spans", "arcs",
    "aligned-pairs", "clustered-pairs", "forest", "ranking", "order", "motif", "own",
]  # fmt: skip


class Loss(ABC):
    """Base of all losses: frozen dataclasses that never change after `bind`."""

    form: LossForm

    def bind(self, n_labels: int) -> Self:
        """Copy that knows the number of labels; the same loss if it needs none."""
        return self

    @property
    def table(self) -> Floats:
        """Cost of each pair (true label, label); empty unless the form is "table"."""
        return np.zeros((0, 0))

    def scale(self, truth: Ragged) -> Floats:
        """Factor of each example, (n,)."""
        return np.ones(truth.n)

    @abstractmethod
    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""

    @abstractmethod
    def validate(self) -> None:
        """Raise ValueError unless the loss can be used: called when one is loaded."""

    def zero_one(self, n_labels: int) -> Loss:
        """The zero-one loss of the same outputs, for formulations without a loss."""
        return ZeroOne(n_labels)


@dataclass(frozen=True)
class ZeroOne(Loss):
    """Delta(y, y') = 1 if y' differs from y anywhere, else 0."""

    form = "zero-one"
    n_labels: int = 0

    def validate(self) -> None:
        """A number of labels."""
        check_types(self)
        require(0 <= self.n_labels < 2**31, f"n_labels={self.n_labels} is no number")

    def bind(self, n_labels: int) -> Self:
        """Know the number of labels."""
        return replace(self, n_labels=n_labels)

    @property
    def table(self) -> Floats:
        """1 off the diagonal: the loss itself where an output is a single label."""
        return 1.0 - np.eye(self.n_labels)

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
