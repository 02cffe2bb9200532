"""A structure of one's own, from three Python methods.

    joint_feature(x, y) -> psi, a vector (array or scipy.sparse row)
    loss(y, y_hat) -> Delta >= 0
    argmax(w, x, y=None) -> argmax_yhat <w, psi(x, yhat)> [+ loss(y, yhat)]

With hidden parts, one more, and outputs that carry them, say as pairs (y, h):

    complete(w, x, y) -> the output with y's visible part that scores highest

Slack rescaling and squared slacks need the best output for each value of the loss. A search
that calls `argmax` finds most of them; it is exact if the object says them all:

    argmax_by_loss(w, x, y) -> for each loss that outputs have, one that scores highest

`complete` may be given an output without a hidden part (as the user has it) or with
one; the loss must not depend on the hidden part of its first argument. If the object
has no attribute `dim`, it is first called without weights, with w = None and then with
an object whose products are zero: any hidden part will do.

An output may be any picklable object: its encoded row holds the bytes of its pickle,
so it can be stored and sent like the rows of any other structure. The pickles never
leave the process group that made them and are never read from files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Rows,
    pointers,
    real_numbers,
)
from maxmargin.core.data.validation import check_own, check_sparse, require
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import (
    NOT_COMPLETED,
    Augment,
    ByLoss,
    Found,
    Latent,
    Layers,
    P,
    Structure,
)
from maxmargin.losses.python_loss import OwnLoss, pickled, unpickled

METHODS = ("joint_feature", "loss", "argmax")
FEW = 3  # examples whose loss is tried before training


class ZeroWeights:
    """Weights of unknown length that are all zero: every product with them is zero."""

    def __matmul__(self, other: Any) -> float:
        return 0.0

    __rmatmul__ = dot = __matmul__

    def __getitem__(self, key: Any) -> Any:
        return self if isinstance(key, slice) else 0.0


class Objects(NamedTuple):
    """Encoded inputs: the objects themselves."""

    items: tuple[Any, ...]

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.items)


@dataclass(frozen=True)
class OwnStructure(Structure):
    """Adapter of an object with the three methods."""

    owner: Any = None
    dim: int = 0
    losses: ClassVar[tuple[LossForm, ...]] = ("own", "zero-one")

    def offers(self, capability: type[P]) -> P | None:
        """Completion and search by loss only if the user's object has a method for it."""
        needed = {Latent: "complete", ByLoss: "argmax_by_loss"}.get(capability)
        if needed is not None and not callable(getattr(self.owner, needed, None)):
            return None
        return super().offers(capability)

    def validate(self) -> None:
        """The length of psi; the user's object is trusted, its answers are checked."""
        require(0 <= self.dim < 2**31, f"dim={self.dim} is out of range")
        check_own(self.owner, METHODS, "the structure's owner")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know the length of psi."""
        dim = getattr(self.owner, "dim", None)
        if dim is None:
            y = Y[0]
            if self.offers(Latent) is not None:
                y = self._some_completion(X[0], Y[0])
            dim = _as_rows([self.owner.joint_feature(X[0], y)])[1]
        return replace(self, dim=int(dim))

    def _some_completion(self, x: Any, y: Any) -> Any:
        """An output with a hidden part, while the length of w is not known yet."""
        for w in (None, ZeroWeights()):
            try:
                return self.owner.complete(w, x, y)
            except Exception:  # as this w is no array, anything may go wrong
                continue
        try:
            self.owner.joint_feature(x, y)
        except Exception as error:
            raise ValueError(
                "the number of weights is not known: give the structure an attribute "
                f"`dim`, or let complete(None, x, y) return any completion ({error})"
            ) from error
        return y

    def encode(self, X: Sequence[Any]) -> Objects:
        """Keep the objects."""
        return Objects(tuple(X))

    def encode_labels(self, x: Objects | None, Y: Sequence[Any]) -> Ragged:
        """Pickle the objects."""
        rows = []
        for i, y in enumerate(Y):
            try:
                rows.append(pickled(y))
            except Exception as error:
                raise ValueError(
                    f"example {i}: the output cannot be pickled ({error})"
                ) from error
        return Ragged.pack(rows)

    def decode_labels(self, x: Objects | None, labels: Ragged) -> list[Any]:
        """Unpickle the objects."""
        return [unpickled(labels.row(i)) for i in range(labels.n)]

    def slice(self, x: Objects, start: int, stop: int) -> Objects:
        """Some neighbouring objects."""
        return Objects(x.items[start:stop])

    def features(self, x: Objects, ids: Ints, labels: Ragged) -> Rows:
        """Psi by the user's method."""
        psi = [
            self.owner.joint_feature(x.items[i], unpickled(labels.row(q)))
            for q, i in enumerate(ids)
        ]
        if not psi:
            return Rows.empty()
        rows, dim = _as_rows(psi)
        if dim != self.dim:
            raise ValueError(
                f"joint_feature of example {int(ids[0])} or a later one has length "
                f"{dim}, but that of the first example had {self.dim}"
            )
        return rows

    def argmax(
        self, x: Objects, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """The best outputs by the user's method.

        A weight on the loss other than one is a division of w by it.
        """
        rows, score = [], np.empty(len(ids))
        for q, i in enumerate(ids):
            item = x.items[i]
            if augment is None:
                best, gain = self._searched(_sealed(w), item), 0.0
            else:
                truth = unpickled(augment.truth.row(int(i)))
                weight = augment.weight[i]
                best = self._searched(_sealed(w / weight), item, truth)
                gain = weight * float(self.owner.loss(truth, best))
            psi, dim = _as_rows([self.owner.joint_feature(item, best)])
            if dim != self.dim:
                raise ValueError(
                    f"example {int(i)}: joint_feature of what argmax returned has "
                    f"length {dim}, but that of the first example had {self.dim}"
                )
            score[q] = float(psi.dot(w)[0]) + gain
            rows.append(pickled(best))
        return Found(Ragged.pack(rows), score, score)

    def _searched(self, *given: Any) -> Any:
        """What the user's argmax returns; its errors say where to look."""
        try:
            return self.owner.argmax(*given)
        except Exception as error:
            name = type(self.owner).__name__
            error.add_note(
                f"This happened in argmax of {name}. check_structure({name}(..), X, y) "
                "tells what is wrong with a structure."
            )
            raise

    def argmax_by_loss(
        self, x: Objects, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """The best outputs for each value of the loss by the user's method."""
        rows, sizes = [], []
        for i in ids:
            truth = unpickled(augment.truth.row(int(i)))
            found = list(self.owner.argmax_by_loss(_sealed(w), x.items[i], truth))
            if not found:
                raise ValueError(f"example {int(i)}: argmax_by_loss returned no output")
            rows += [pickled(y) for y in found]
            sizes.append(len(found))
        labels, who = Ragged.pack(rows), np.repeat(ids, sizes)
        loss = augment.loss.value(augment.truth.take(who), labels)
        score = self.features(x, who, labels).dot(w)
        return Layers(pointers(sizes), labels, score, loss)

    def runner_up(self, x: Objects, i: int, w: Floats, row: Labels) -> Labels | None:
        """The first other output that the loss brings up as its weight grows."""
        item, best = x.items[i], unpickled(row)
        for weight in np.geomspace(1e-6, 1e6, 25):
            other = self.owner.argmax(w / weight, item, best)
            if float(self.owner.loss(best, other)) > 0.0:
                return pickled(other)
        return None

    def stored_outputs(self, labels: Ragged) -> Any:
        """The objects themselves: no pickle is ever written to a file."""
        return self.decode_labels(None, labels)

    def restored_outputs(self, data: Any) -> Ragged:
        """Encode the objects again."""
        if not isinstance(data, list):
            raise ValueError("the outputs in the checkpoint are not a list")
        return self.encode_labels(None, data)

    def check_completed(self, x: Objects, truth: Ragged, completed: Ragged) -> None:
        """As many as there are examples; what they are is for the user's object to say."""
        require(truth.n == completed.n, NOT_COMPLETED)

    def complete(self, x: Objects, ids: Ints, w: Floats, truth: Ragged) -> Ragged:
        """Hidden parts of the true outputs by the user's method."""
        return Ragged.pack([
            pickled(self.owner.complete(w, x.items[i], unpickled(truth.row(i))))
            for i in ids
        ])  # fmt: skip


def as_structure(structure: Any) -> Structure:
    """A Structure as it is, or an adapter around the user's object."""
    if isinstance(structure, Structure):
        return structure
    if isinstance(structure, type):
        name = structure.__name__
        raise TypeError(f"structure={name} is a class: give an object of it, {name}()")
    missing = [m for m in METHODS if not callable(getattr(structure, m, None))]
    if missing:
        raise TypeError(
            f"structure={structure!r} is neither a maxmargin Structure nor an object "
            f"with the methods {', '.join(METHODS)}; it lacks {', '.join(missing)}"
        )
    return OwnStructure(structure)


def own_loss(structure: Structure) -> OwnLoss | None:
    """The loss that the user's object brings."""
    return OwnLoss(structure.owner) if isinstance(structure, OwnStructure) else None


def check_own_loss(structure: Structure, x: Any, truth: Ragged) -> None:
    """Refuse a loss of the user's that is not zero for the truth, or is negative.

    A negative loss would go unnoticed: `argmax` with the loss added would return the
    truth for ever, and w = 0 would be optimal. So a few examples are asked for an output
    at the weights -psi(truth), where the truth has a low score.
    """
    loss = own_loss(structure)
    if loss is None:
        return
    few = np.arange(min(truth.n, FEW))
    true = truth.take(few)
    latent = structure.offers(Latent)
    if latent is not None:
        true = latent.complete(x, few, np.zeros(structure.dim), truth)
    else:
        check_zero_at_truth(loss, truth)
    for i in few:
        one = true.take(few[i : i + 1])
        w = np.zeros(structure.dim)
        structure.features(x, few[i : i + 1], one).add_to(w, np.array([-1.0]))
        loss.value(one, structure.argmax(x, few[i : i + 1], w).labels)


def check_zero_at_truth(loss: OwnLoss, truth: Ragged) -> None:
    """Refuse a loss of the user's that is not zero for the truth itself."""
    bad = np.flatnonzero(value := loss.value(truth, truth))
    if len(bad):
        raise ValueError(
            f"example {bad[0]}: `loss` of the true output against itself is "
            f"{value[bad[0]]}, not zero"
        )


def _sealed(w: Floats) -> Floats:
    """Weights that the user's methods can read, but not change."""
    w = w.view()
    w.flags.writeable = False
    return w


def _as_rows(psi: Sequence[Any]) -> tuple[Rows, int]:
    """Vectors of the user as Rows, and their length."""
    for p in filter(sp.issparse, psi):
        check_sparse(p, "joint_feature")
    if any(sp.issparse(p) for p in psi):
        matrix = sp.csr_array(sp.vstack([sp.csr_array(p).reshape(1, -1) for p in psi]))
        return Rows.from_csr(matrix), matrix.shape[1]
    for p in psi:
        if np.ndim(p) != 1:
            raise ValueError(
                "joint_feature must return vectors of numbers, arrays of one dimension, "
                f"and not {p!r:.60}"
            )
    try:
        matrix = np.vstack([real_numbers(p) for p in psi])
    except (TypeError, ValueError) as wrong:
        raise ValueError(
            f"joint_feature must return vectors of numbers of one length ({wrong})"
        ) from wrong
    return Rows.from_dense(matrix), matrix.shape[1]
