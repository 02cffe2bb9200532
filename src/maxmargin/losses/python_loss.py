"""The loss that a user's Python object brings, and its outputs as rows of bytes.

An output of such an object may be anything that can be pickled: its encoded row holds
the bytes of the pickle. Pickles never leave the processes that made them and are never
read from files.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels, Ragged
from maxmargin.core.data.validation import check_own, require
from maxmargin.core.loss import Loss, LossForm


@dataclass(frozen=True)
class OwnLoss(Loss):
    """The `loss` method of the user's object.

    Its form is "own", or "zero-one" where a formulation is about that loss: the values
    are then checked to be 0 or 1.
    """

    owner: Any
    form: LossForm = "own"

    def validate(self) -> None:
        """The user's object is trusted; the form is one of two."""
        require(self.form in ("own", "zero-one"), f"form={self.form!r} is not known")
        check_own(self.owner, ["loss"], "the owner of the loss")

    def zero_one(self, n_labels: int) -> OwnLoss:
        """The same, for formulations without a loss: SVM0, SVM1 and SVM2 proper."""
        return replace(self, form="zero-one")

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row."""
        out = np.array([
            float(self.owner.loss(unpickled(truth.row(i)), unpickled(labels.row(i))))
            for i in range(truth.n)
        ])  # fmt: skip
        wrong = np.flatnonzero(~(np.isfinite(out) & (out >= 0.0)))
        if len(wrong):
            raise ValueError(
                f"the loss of an output is {out[wrong[0]]}: a loss must be finite and "
                ">= 0, or the certificate would be wrong"
            )
        bad = np.flatnonzero((out != 0.0) & (out != 1.0))
        if self.form == "zero-one" and len(bad):
            raise ValueError(
                f"the loss of an output is {out[bad[0]]}: loss='zero-one', "
                "penalty='hard' and rescaling=None are about the zero-one loss, so "
                "`loss` must return 0 or 1 there, and `argmax` must add it"
            )
        return out


def pickled(y: Any) -> Labels:
    """Row of an output: the bytes of its pickle."""
    data = pickle.dumps(y, protocol=5)
    return np.frombuffer(data, dtype=np.uint8).astype(np.int32)


def unpickled(row: Labels) -> Any:
    """Output of a row that `pickled` made."""
    return pickle.loads(row.astype(np.uint8).tobytes())
