"""How wrong an output is: names of losses, and the contract that they keep.

The contract, `Loss`, and `ZeroOne`, which every structure can do, are in `core.loss`.

[1] Tsochantaridis et al. 2005, section 2.1; taxonomies: section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from maxmargin.core.loss import Loss as Loss
from maxmargin.core.loss import ZeroOne as ZeroOne
from maxmargin.losses.labels import Hamming

FORMER_NAMES = {"hamming-normalized": "hamming-mean"}  # still accepted


def named_loss(loss: Any, known: Mapping[str, Loss]) -> Loss:
    """A loss by name, as a cost matrix, or an object as it is."""
    if isinstance(loss, str):
        loss = FORMER_NAMES.get(loss, loss)
        if loss not in known:
            names = ", ".join(repr(k) for k in known)
            raise ValueError(f"loss={loss!r} is not known here: choose from {names}")
        return known[loss]
    if isinstance(loss, np.ndarray | list | tuple):
        return Hamming(cost=np.asarray(loss, dtype=np.float64))
    if not isinstance(loss, Loss):
        raise ValueError(
            f"loss={loss!r} is neither a name, nor a matrix of costs, nor a Loss; names "
            f"are {', '.join(repr(k) for k in known)}"
        )
    return loss
