"""Every prediction is shared out: worker processes answer, with the bits of one core."""

import os
from functools import cache

import numpy as np
import pytest
from small.models import MODELS, same

from maxmargin.engines import Processes, Threads
from maxmargin.estimators.fitting.prediction import BATCH, ask_batches, predict_found


class Watched(Processes):
    """Processes that note which of them answered, and refuse to answer here."""

    def __init__(self, n_jobs):
        super().__init__(n_jobs)
        self.answered = []

    def map(self, task, chunks):
        raise AssertionError("asked in the parent")

    def ask(self, home, question, w, chunks):
        for worker, answer in super().ask(home, _Signed(question), w, chunks):
            self.answered.append(worker)
            yield answer


class _Signed:
    """A question whose answer tells the process it was given in."""

    def __init__(self, question):
        self.question = question

    def __call__(self, home, w, chunk):
        return os.getpid(), self.question(home, w, chunk)


@pytest.fixture(scope="module")
def processes():
    engine = Watched(2)
    yield engine
    engine.close()


# Methods by the model of `small.models` that they are asked of.
QUESTIONS = {
    "chain": ("predict", "predict_nbest", "max_marginals", "confidence"),
    "chain_constrained": ("predict", "predict_nbest"),
    "grammar": ("predict", "predict_nbest"),
    "alignment": ("predict", "alignment_scores"),
    "homology": ("predict", "predict_alignments", "candidate_scores"),
    "motif": ("predict", "locate", "decision_function"),
    "coreference": ("predict",),
    "network": ("predict",),
    "own": ("predict",),
}
CASES = [(name, method) for name, asked in QUESTIONS.items() for method in asked]


@cache
def fitted(name):
    model, X = MODELS[name]()
    X = list(X)
    return model, (X * (BATCH // len(X) + 2))[: BATCH + 3]  # two batches


@pytest.mark.parametrize(("name", "method"), CASES)
def test_workers_answer_with_the_same_bits(name, method, processes):
    model, X = fitted(name)
    plain = getattr(model, method)(X)
    processes.answered.clear()
    model.engine = processes
    try:
        shared = getattr(model, method)(X)
    finally:
        model.engine = None
    assert len(processes.answered) == 2
    assert os.getpid() not in processes.answered
    assert same(shared, plain)


def test_every_batch_is_answered_once_and_in_order():
    model, _ = fitted("chain")
    x = model.structure_.encode(fitted("chain")[1] * 3)
    parts = ask_batches(model, model.structure_, x, numbers)
    assert [len(part) for part in parts] == [BATCH, BATCH, BATCH, x.n - 3 * BATCH]
    assert np.concatenate(parts).tolist() == list(range(x.n))


def numbers(structure, x, ids, w):
    return ids


def test_no_examples_are_an_empty_batch():
    model, _ = fitted("chain")
    found = predict_found(model, model.structure_.encode([]))
    assert found.labels.n == len(found.score) == 0
    assert model.predict_nbest([]) == model.max_marginals([]) == []


def test_an_engine_of_our_own_is_closed(monkeypatch):
    closed = []
    monkeypatch.setattr(Threads, "close", lambda self: closed.append(self))
    model, X = fitted("chain")
    model.n_jobs = 2
    try:
        model.predict(X)
    finally:
        model.n_jobs = None
    assert len(closed) == 1
