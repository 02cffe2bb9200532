"""p-values and E-values of local scores, and global models that align locally."""

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

from maxmargin import AlignmentSVM, HomologySVM, load, save
from maxmargin.estimators.alignment.significance import (
    ChanceScores,
    fit_distribution,
    shifted,
    shuffle,
)

LETTERS = list("ACDEFGHIKLMNPQRSTVWY")


def random_pairs(n, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(30, 120, size=(n, 2))
    return [tuple("".join(rng.choice(LETTERS, k)) for k in pair) for pair in sizes]


def related_pairs(n, seed):
    """A piece of the first sequence in the second, a third of its letters changed."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for first, second in random_pairs(n, seed):
        a, b = list(first), list(second)
        size = 25
        i, j = int(rng.integers(len(a) - size)), int(rng.integers(len(b) - size))
        kept = rng.random(size) < 0.7
        b[j : j + size] = np.where(kept, a[i : i + size], b[j : j + size])
        X.append(("".join(a), "".join(b)))
        Y.append(np.c_[np.arange(i, i + size), np.arange(j, j + size)])
    return X, Y


@pytest.fixture(scope="module")
def local():
    X, Y = related_pairs(20, seed=0)
    model = AlignmentSVM(mode="local", C=100.0, normalize=False, tol=0.1).fit(X, Y)
    return model.as_local(X).fit_evalues(X, n=300)


def test_the_fit_finds_the_numbers_of_a_known_distribution():
    rng = np.random.default_rng(0)
    space = rng.uniform(1e3, 1e5, size=20000)
    lam, K = 0.3, 0.05
    scores = (np.log(K * space) + rng.gumbel(size=20000)) / lam
    found = fit_distribution(scores, space)
    assert found.lam == pytest.approx(lam, rel=0.02)
    assert np.log(found.K) == pytest.approx(np.log(K), abs=0.2)
    p = found.p_values(scores, space)
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_p_values_of_random_pairs_are_uniform(local):
    p = local.p_values(random_pairs(300, seed=5))
    assert stats.kstest(p, "uniform").statistic < 0.1
    assert np.mean(p < 0.05) < 0.1
    X, _ = related_pairs(30, seed=6)
    assert np.median(local.p_values(X)) < 0.01
    assert np.allclose(local.evalues(X), 30 * local.p_values(X))
    assert np.allclose(local.evalues(X, database=7), 7 * local.p_values(X))


def test_candidates_have_p_values(tmp_path):
    X, Y = related_pairs(8, seed=1)
    others = random_pairs(8, seed=2)
    searches = [(a, [b, c]) for (a, b), (c, _) in zip(X, others, strict=True)]
    model = HomologySVM().fit(searches, [(0, columns) for columns in Y])
    with pytest.raises(NotFittedError, match=r"call fit_evalues\(X\)"):
        model.p_values(searches)
    model.fit_evalues(searches, n=300)
    p = np.concatenate(model.p_values([(a, [b]) for a, b in random_pairs(200, 3)]))
    assert stats.kstest(p, "uniform").statistic < 0.12
    first = model.evalues(searches)[0]
    assert first.shape == (2,) and first[0] < 0.1 < first[1] * 10
    save(model, tmp_path / "model.mm")
    assert load(tmp_path / "model.mm").evalues(searches)[0].tolist() == first.tolist()
    model.fit(searches, [(0, columns) for columns in Y])
    assert not hasattr(model, "score_distribution_")


def test_a_global_model_aligns_locally():
    X, Y = related_pairs(15, seed=3)
    whole = [
        (a[i[0, 0] :][:25], b[i[0, 1] :][:25]) for (a, b), i in zip(X, Y, strict=True)
    ]
    columns = np.repeat(np.arange(25)[:, None], 2, axis=1)
    model = AlignmentSVM(C=10.0).fit(whole, [columns] * 15)
    test, truth = related_pairs(10, seed=4)
    local = model.as_local(X)
    assert model.mode == "global" and local.mode == "local"
    found = [
        set(map(tuple, one[(one >= 0).all(axis=1)].tolist()))
        for one in local.predict(test)
    ]
    known = [set(map(tuple, one.tolist())) for one in truth]
    shared = sum(len(a & b) for a, b in zip(found, known, strict=True))
    assert shared > 0.6 * 250 and sum(map(len, found)) < 500
    with pytest.raises(ValueError, match=r"use model.as_local\(X\)"):
        model.fit_evalues(X)


def test_a_constant_per_letter_leaves_global_alignments_alone():
    X, _ = related_pairs(6, seed=7)
    pairs = [(a[:20], b[:20]) for a, b in X]
    columns = np.repeat(np.arange(20)[:, None], 2, axis=1)
    for options in ({}, {"symmetric": True}, {"gaps": "linear"}, {"end_gaps": True}):
        model = AlignmentSVM(C=10.0, normalize=False, **options).fit(
            pairs, [columns] * 6
        )
        x = model.structure_.encode(X)
        ids = np.arange(x.n)
        before = model.structure_.argmax(x, ids, model.coef_)
        w = shifted(model.structure_, model.coef_, 0.7)
        after = model.structure_.argmax(x, ids, w)
        lost = 0.35 * np.array([len(a) + len(b) for a, b in X])
        assert np.allclose(after.score, before.score - lost)


def test_mode_may_change_after_training():
    X, Y = related_pairs(5, seed=8)
    model = AlignmentSVM(mode="local", C=10.0, tol=0.1).fit(X, Y)
    assert len(model.set_params(mode="global").predict(X)[0]) >= max(map(len, X[0]))
    with pytest.raises(ValueError, match="mode='locale' is not one of"):
        model.set_params(mode="locale")


def test_shuffling_moves_all_tracks_alike():
    rng = np.random.default_rng(0)
    area = np.arange(4.0)[:, None]
    tracks = {"name": "a", "residue": "HEAG", "area": area, "shape": list("abcd")}
    found = shuffle(tracks, rng)
    order = ["HEAG".index(v) for v in found["residue"]]
    assert sorted(order) == [0, 1, 2, 3] != order
    assert found["area"][:, 0].tolist() == order
    assert found["shape"] == ["abcd"[k] for k in order]


def test_distributions_are_checked():
    with pytest.raises(ValueError, match="lambda"):
        ChanceScores(-1.0, 1.0).validate()
