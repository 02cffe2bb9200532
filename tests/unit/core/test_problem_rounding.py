"""How far errors of slacks move the objective, by penalty; sizes of tasks."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.core import Ragged, Rows
from maxmargin.core.oracle import CHUNK
from maxmargin.core.problem import (
    TASK,
    UNIT,
    Problem,
    cost_error,
    rounding_of,
    summation_error,
)

C = np.array([2.0, 0.5, 1.0])
SLACK = np.array([0.3, 1.2, 0.0])


def problem(penalty, C=C):
    return SimpleNamespace(C=C, n=len(C), formulation=SimpleNamespace(penalty=penalty))


@pytest.mark.parametrize("error", [1e-9, 1e-3, 0.1])
def test_linear_and_squared_slacks(error):
    """The bound holds where all slacks are off by the error, and is no larger."""
    primal = float(C @ SLACK)
    adding = summation_error(3) * primal
    assert cost_error(problem("linear"), error, primal, 9) == pytest.approx(
        C.sum() * error + adding, rel=1e-12
    )
    primal = float(0.5 * C @ SLACK**2)
    moved = 0.5 * C @ (SLACK + error) ** 2 - primal
    bound = cost_error(problem("squared"), error, primal, 0)
    slacks = math.sqrt(2.0 * primal * C.sum())
    assert bound >= moved
    assert bound == pytest.approx(
        error * slacks + 0.5 * C.sum() * error**2 + summation_error(3) * primal
    )


def test_summed_and_hard():
    primal = 5.0
    adding = summation_error(3) * primal
    few, many = (cost_error(problem("summed"), 0.1, primal, p) for p in (1, 10))
    assert few == pytest.approx(0.35 + adding) and many == pytest.approx(2.0 + adding)
    hard = problem("hard", np.full(3, np.inf))
    assert cost_error(hard, 1e-6, primal, 0) == pytest.approx(2e-6 * primal, rel=1e-6)
    # 1/2 |w|^2 over the square of a margin that is off by the error
    assert primal / (1 - 1e-6) ** 2 - primal == pytest.approx(2e-6 * primal, rel=1e-5)


def test_no_examples_and_no_objective():
    assert rounding_of(SimpleNamespace(n=0), np.zeros(2), 1.0, 1) == 0.0
    assert rounding_of(SimpleNamespace(n=3), np.zeros(2), np.inf, 1) == 0.0


def test_sums():
    assert summation_error(4) == 4 * UNIT
    assert summation_error(1e4) == pytest.approx(8 * 100 * UNIT)


@pytest.mark.parametrize(("work", "size"), [
    ([1.0, 1.0], CHUNK), ([TASK / 5.0] * 2, 5), ([TASK * 9.0], 1), ([], CHUNK),
    ([0.0, 2 * TASK / 3.0], 3), ([0.1], CHUNK),
])  # fmt: skip
def test_tasks_have_fewer_examples_where_each_takes_much_work(work, size):
    some = SimpleNamespace(n=len(work), work=lambda: np.array(work))
    some._work = Problem._work.func(some)
    assert Problem._task.func(some) == size


def test_answers_without_labels_are_not_read():
    """A linear program may end between labels; its answer is an empty row."""
    asked = []

    class Empty:
        def square(self, w):
            return float(w @ w)

        def features(self, x, ids, labels):
            asked.append((ids.tolist(), np.diff(labels.ptr).tolist()))
            n = len(ids)
            return Rows(np.arange(n + 1), np.zeros(n, np.int32), np.ones(n))

    cuts = SimpleNamespace(
        labels=Ragged(np.array([0, 1, 1]), np.zeros(1, np.int32)), b=np.ones(2),
        a=Rows(np.arange(3), np.zeros(2, np.int32), np.full(2, -3.0)),
    )  # fmt: skip
    problem = SimpleNamespace(
        n=2, pages=SimpleNamespace(files=()), structure=Empty(), x=None, C=np.ones(2),
        truth=Ragged(np.arange(3), np.zeros(2, np.int32)), work=lambda: np.ones(2),
        formulation=SimpleNamespace(scales=False, penalty="linear"),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maxmargin.core.problem.find_cuts", lambda *_: cuts)
        found = rounding_of(problem, np.array([2.0]), 1.0, 1)
    assert asked == [([0, 1], [1, 1]), ([0], [1])]
    size = (
        2.0 + 6.0 + 1.0
    )  # |psi of the truth| w + |plane| w + loss, the larger of both
    least = 2.0 * summation_error(4.0) * size
    assert least <= found <= 2.0 * least + 1e-13
