"""Threads that share short tasks with their caller."""

import threading
import time

import numpy as np
import pytest

from maxmargin.core import Formulation, Problem
from maxmargin.core.engine import Serial
from maxmargin.engines.threads import work_together
from maxmargin.losses import Hamming
from maxmargin.structures.chain import Chain


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_answers_are_in_order(n_jobs):
    assert work_together(lambda k: 2 * k, range(40), n_jobs) == list(range(0, 80, 2))
    assert work_together(lambda k: 2 * k, [3], n_jobs) == [6]
    assert work_together(lambda k: 2 * k, [], n_jobs) == []


def test_caller_and_helper_work_at_the_same_time():
    meet = threading.Barrier(2, timeout=30)

    def task(k):
        if k < 2:
            meet.wait()  # nobody can do both of the first two
        return threading.get_ident()

    found = work_together(task, range(6), 2)
    assert found[0] != found[1] and threading.get_ident() in found


def test_each_chunk_is_done_once():
    done = []
    work_together(done.append, range(500), 4)
    assert sorted(done) == list(range(500))


def test_errors_reach_the_caller_when_all_have_stopped():
    busy = []

    def task(k):
        busy.append(k)
        time.sleep(0.001)
        busy.remove(k)
        if k == 7:
            raise ValueError("chunk 7")
        return k

    for _ in range(5):
        with pytest.raises(ValueError, match="chunk 7"):
            work_together(task, range(20), 3)
        assert not busy


def test_tasks_may_share_work_themselves():
    def task(k):
        return sum(work_together(lambda j: j * k, range(4), 2))

    assert work_together(task, range(8), 2) == [6 * k for k in range(8)]


def test_few_long_examples_are_a_task_each():
    """Else a small block of them would be one task, and other threads would wait."""

    class Counting(Serial):
        def map(self, task, chunks):
            sizes.append([len(chunk) for chunk in chunks])
            return super().map(task, chunks)

    sizes = []
    rng = np.random.default_rng(0)
    Y = [rng.integers(0, 20, 2000) for _ in range(4)]
    Y[0][:20] = np.arange(20)
    X = [np.eye(20)[y] for y in Y]
    structure = Chain().bind(X, Y)
    x = structure.encode(X)
    problem = Problem(
        structure, Hamming().bind(20), Formulation("margin", "linear"), x,
        structure.encode_labels(x, Y), np.ones(4), engine=Counting(),
    )  # fmt: skip
    problem.planes(np.zeros(problem.dim), np.array([0, 2, 3]))
    assert max(sizes[-1]) == 1
