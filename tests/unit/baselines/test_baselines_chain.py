"""HMM, perceptron and CRF on chains: against enumeration and finite differences."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import check_grad

from maxmargin.baselines import CRF, HMM, Perceptron, objective
from maxmargin.core import Ragged
from maxmargin.structures.chain import Chain

TEXT = ["the/D dog/N runs/V", "a/D cat/N", "dog/N runs/V", "runs/V the/D dog/N"]
X = [[[w.split("/")[0]] for w in line.split()] for line in TEXT]
Y = [[w.split("/")[1] for w in line.split()] for line in TEXT]


def drawn(rng, sparse):
    lengths = [3, 0, 1, 2, 4]
    rows = [rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.7) for n in lengths]
    labels = [rng.integers(3, size=n) for n in lengths]
    labels[0] = np.array([2, 0, 1])
    if sparse:
        rows = [[{f"f{j}": v for j, v in enumerate(r)} for r in some] for some in rows]
    return rows, labels


@pytest.mark.parametrize("sparse", [True, False])
def test_crf_objective_by_enumeration_and_gradient(sparse):
    rng = np.random.default_rng(4)
    rows, labels = drawn(rng, sparse)
    chain = Chain(eta=0.6).bind(rows, labels)
    x = chain.encode(rows)
    truth = chain.encode_labels(x, labels)
    w = rng.normal(size=chain.dim)
    expected = 0.3 * w @ w
    for i in range(x.n):
        outputs = Ragged.pack(product(range(3), repeat=int(truth.sizes[i])))
        score = chain.features(x, np.full(outputs.n, i), outputs).dot(w)
        own = chain.features(x, np.array([i]), truth.take([i])).dot(w)[0]
        expected += np.logaddexp.reduce(score) - own
    value, _ = objective(w, chain, x, truth, 0.3)
    assert value == pytest.approx(expected)
    error = check_grad(
        lambda v: objective(v, chain, x, truth, 0.3)[0],
        lambda v: objective(v, chain, x, truth, 0.3)[1],
        w,
    )
    assert error < 1e-4


def test_crf_marginals_and_labels():
    model = CRF(c2=0.05).fit(X, Y)
    assert model.predict(X) == Y
    for row, table in zip(X, model.predict_proba(X), strict=True):
        assert table.shape == (len(row), 3)
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="order 1"):
        CRF(structure=Chain(order=2)).fit(X, Y)


def test_hmm_scores_are_log_probabilities():
    model = HMM(smoothing=0.5).fit(X, Y)
    chain, spot, k = model.structure_, model.structure_.layout, 3
    start = np.exp(model.coef_[spot.start : spot.start + k])
    moves = np.exp(model.coef_[spot.pairs : spot.pairs + k * k]).reshape(k, k)
    ends = np.exp(model.coef_[spot.end : spot.end + k])
    words = np.exp(model.coef_[: spot.width * k]).reshape(spot.width, k)
    assert start.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(moves.sum(axis=1) + ends, 1.0)
    np.testing.assert_allclose(words.sum(axis=0), 1.0)
    d, n = chain.labels.index("D"), chain.labels.index("N")
    assert moves[d, n] == pytest.approx((3 + 0.5) / (3 + 4 * 0.5))
    assert model.predict(X) == Y


def test_hmm_bernoulli_is_the_joint_probability():
    pixels = [np.array([[1, 0], [0, 1]]), np.array([[1, 0]])]
    model = HMM("bernoulli", smoothing=1.0).fit(pixels, [[0, 1], [0]])
    x = model.structure_.encode([pixels[0]])
    row = Ragged.pack([[0, 1]])
    score = model.structure_.features(x, np.array([0]), row).dot(model.coef_)[0]
    on, end = {0: (3 / 4, 1 / 4), 1: (1 / 3, 2 / 3)}, {0: 2 / 5, 1: 2 / 4}
    expected = np.log([3 / 4, 2 / 5, end[1]]).sum()  # first 0, then 1, then the end
    expected += np.log([on[0][0], 1 - on[0][1], 1 - on[1][0], on[1][1]]).sum()
    assert score == pytest.approx(expected)


def test_perceptron_learns_and_averages():
    model = Perceptron(Chain(), epochs=20).fit(X, Y)
    assert model.predict(X) == Y
    assert model.mistakes_[-1] == 0
    plain = Perceptron(Chain(), epochs=20, average=False).fit(X, Y)
    assert not np.allclose(plain.coef_, model.coef_)


def test_perceptron_average_is_the_mean():
    """Against weights summed after every visit."""
    chain = Chain().bind(X, Y)
    x = chain.encode(X)
    truth = chain.encode_labels(x, Y)
    w, total, rng = np.zeros(chain.dim), np.zeros(chain.dim), np.random.default_rng(0)
    for _ in range(2):
        for i in rng.permutation(4):
            ids = np.array([i])
            found = chain.argmax(x, ids, w).labels
            step = chain.features(x, ids, truth.take(ids)).minus(
                chain.features(x, ids, found)
            )
            w = w + step.total(chain.dim)
            total += w
    model = Perceptron(Chain(), epochs=2).fit(X, Y)
    np.testing.assert_allclose(model.coef_, total / 8)


def test_bad_settings():
    with pytest.raises(ValueError, match="emission"):
        HMM("gauss")
    with pytest.raises(ValueError, match="smoothing"):
        HMM(smoothing=0.0)
    with pytest.raises(ValueError, match="not negative"):
        HMM().fit([np.array([[-1.0]])], [[0]])
