"""Chains with hidden labels."""

import os
import subprocess
import sys

import numpy as np
import pytest
from cases import partial as case

from maxmargin import ChainSVM
from maxmargin.core import Ragged
from maxmargin.losses import PartialLoss, ZeroOne
from maxmargin.structures.latent.partial import filled


@pytest.mark.parametrize("seed", range(5))
def test_completion_keeps_what_is_known_and_is_the_best(seed):
    rng = np.random.default_rng(seed)
    structure, X, Y = case.tiny(rng)
    structure = structure.bind(X, Y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, Y)
    w = rng.normal(size=structure.dim)
    ids = rng.permutation(x.n)
    full = structure.complete(x, ids, w, truth)
    again = structure.complete(x, np.arange(x.n), w, truth)
    assert structure.complete(x, np.arange(x.n), w, again).unpack() == again.unpack()
    loss = case.LOSSES[0].bind(structure.label_count())
    for q, i in enumerate(ids):
        rows = Ragged.pack(case.outputs(structure, x, i))
        score = structure.features(x, np.full(rows.n, i), rows).dot(w)
        delta = loss.value(truth.take(np.full(rows.n, i)), rows)
        there = structure.features(x, np.array([i]), full.take([q])).dot(w)[0]
        assert there == pytest.approx(score[delta == 0].max())
        assert loss.value(truth.take([i]), full.take([q]))[0] == 0.0


def sentences(seed, n, hide=0.0):
    """Two-state chains with noisy tokens."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        states = [int(rng.integers(3))]
        for _ in range(9):
            stay = rng.random() < 0.8
            states.append(states[-1] if stay else int(rng.integers(3)))
        y = ["OAB"[s] for s in states]
        noise = rng.normal(size=(10, 6))
        noise[np.arange(10), states] += 1.0
        X.append(noise)
        Y.append([None if rng.random() < hide else label for label in y])
    Y[0] = ["O", "A", "B"] + ["O"] * 7
    return X, Y


def test_hidden_labels_are_trained_by_the_same_estimator():
    X, Y = sentences(0, 40, hide=0.3)
    model = ChainSVM(C=0.1).fit(X, Y)
    assert model.classes_ == ["A", "B", "O"]
    assert (np.diff(model.result_.outer["objective"]) <= 1e-12).all()
    test = sentences(1, 40)
    as_outside = ChainSVM(C=0.1).fit(X, filled(Y, "O"))
    assert model.score(*test) > as_outside.score(*test)
    forced = model.predict(X[:1], forced=[["B"] + [None] * 9])
    assert forced[0][0] == "B"


def test_without_hidden_labels_nothing_changes():
    X, Y = sentences(2, 10)
    a, b = ChainSVM().fit(X, Y), ChainSVM().fit(X, filled(Y))
    assert np.array_equal(a.coef_, b.coef_)
    assert not hasattr(a.result_, "outer")


def test_what_cannot_be_done_is_said():
    X, _ = sentences(3, 2)
    with pytest.raises(ValueError, match="all labels are None"):
        ChainSVM().fit(X, [[None] * 10] * 2)
    with pytest.raises(ValueError, match="cannot leave out"):
        PartialLoss(ZeroOne()).bind(3)


def test_no_loop_reads_beyond_its_arrays():
    """As Python, loops check their bounds: the score of a label that is not known."""
    code = (
        "from maxmargin import ChainSVM\n"
        "ChainSVM(max_iter=2).fit([[['a'], ['b']]] * 2, [['N', 'V'], [None, 'V']])"
    )
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(run, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
