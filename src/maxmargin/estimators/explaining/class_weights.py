"""The weights of a classifier by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def top_features(
    model: Any, label: Any, n: int, names: Sequence[str] | None
) -> list[tuple[str, float]]:
    """Features with the largest weights for a class; the smallest, if n is negative."""
    classes = model.classes_.tolist()
    if label not in classes:
        raise ValueError(
            f"{label!r} is not a class of the model; it has {len(classes)} classes, "
            f"such as {classes[0]!r}"
        )
    place = classes.index(label)
    if len(classes) == 2:  # one row of weights: those of the second class
        row = model.coef_[0] if place else -model.coef_[0]
    else:
        row = model.coef_[place]
    known = vars(model).get("feature_names_in_") if names is None else names
    if known is not None and len(known) != len(row):
        raise ValueError(f"{len(known)} names were given for {len(row)} features")
    order = np.argsort(row if n < 0 else -row, kind="stable")[: abs(n)]
    return [(f"x{j}" if known is None else str(known[j]), float(row[j])) for j in order]
