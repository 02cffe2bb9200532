"""The question of prediction, in the form that engines run.

    answer(question, (structure, x), w, ids) = question(structure, x, ids, w)

Estimators hand it to an engine together with the structure, the inputs and the weights;
see `estimators/fitting/prediction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.structure import Found, Structure

S = TypeVar("S", bound=Structure)
A = TypeVar("A")
OutputQuestion = Callable[[S, Any, Ints, Floats], A]


def answer(
    question: OutputQuestion[S, A], shared_data: tuple[S, Any], w: Floats, ids: Ints
) -> A:
    """Ask a structure about some examples at weights w."""
    structure, x = shared_data
    return question(structure, x, ids, w)


def best_outputs(structure: Structure, x: Any, ids: Ints, w: Floats) -> Found:
    """The best output of each example, with its score and bound."""
    return structure.argmax(x, ids, w)
