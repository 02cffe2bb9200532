"""Pairs (input, output), and kernels that compare them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from maxmargin.core.data.arrays import Floats, Ints


class PairList(NamedTuple):
    """Inputs and outputs, one of each per pair; matrices where a kernel wants rows.

    Examples
    --------
    >>> PairList(["cat", "dog"], [0, 1]).take([1])
    PairList(inputs=['dog'], outputs=[1])
    """

    inputs: Any
    outputs: Any

    @property
    def n(self) -> int:
        """Number of pairs."""
        return length(self.outputs)

    def take(self, ids: Ints) -> PairList:
        """Some of the pairs."""
        return PairList(_taken(self.inputs, ids), _taken(self.outputs, ids))


@runtime_checkable
class PairKernel(Protocol):
    """J((x, y), (x', y')) for lists of pairs."""

    def prepared(self, pairs: PairList) -> Any:
        """Pairs in the form in which they are compared; it has `n` and `take`."""

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for two lists of prepared pairs, a matrix."""

    def validate(self) -> None:
        """Raise ValueError unless the kernel can be used."""


def length(part: Any) -> int:
    """Number of rows of a matrix, or of objects in a list."""
    return int(part.shape[0]) if hasattr(part, "shape") else len(part)


def _taken(part: Any, ids: Ints) -> Any:
    return part[ids] if hasattr(part, "shape") else [part[int(i)] for i in ids]
