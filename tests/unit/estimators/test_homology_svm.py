"""HomologySVM: hidden and given alignments, scores to start from, defaults that learn."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import HomologySVM, load, save
from maxmargin.datasets import BLOSUM62, make_homologs
from maxmargin.estimators.alignment.homology_start import learn_prior
from maxmargin.io.biology import parse_substitution
from maxmargin.structures.alignment import Alignment, Prior

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"


def relatives(n, seed, length=60, decoys=6):
    """Proteins whose homologs keep a third of their letters."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        native = rng.choice(list(PROTEIN), length)
        kept = rng.random(length) < 0.35
        homolog = np.where(kept, native, rng.choice(list(PROTEIN), length))
        others = ["".join(rng.choice(list(PROTEIN), length)) for _ in range(decoys)]
        place = int(rng.integers(decoys + 1))
        others.insert(place, "".join(homolog))
        X.append(("".join(native), others))
        y.append((place, np.repeat(np.arange(length)[:, None], 2, axis=1)))
    return X, y


def test_defaults_learn():
    X, y = make_homologs(8, seed=0)
    test = make_homologs(60, seed=1)
    model = HomologySVM().fit(X, y)
    assert model.result_.converged and model.score(X, y) == 1.0
    assert model.score(*test) > 0.9
    at_zero = 0.5 * model.C * len(y)
    assert model.result_.primal < 0.1 * at_zero
    assert model.substitution_matrix()[1].shape == (20, 20)
    place, columns = model.predict_alignments(X)[0]
    assert place == y[0][0] and columns.shape[1] == 2
    assert len(model.candidate_scores(X)[0]) == 11


def test_alignments_need_not_be_given():
    X, y = relatives(10, seed=0)
    test = relatives(30, seed=1)
    model = HomologySVM().fit(X, [c for c, _ in y])
    assert model.score(*test) >= 0.8
    mixed = [y[0], *(c for c, _ in y[1:])]
    assert HomologySVM().fit(X, mixed).score(*test) >= 0.8
    with pytest.raises(ValueError, match="alignments='given' the output must be"):
        HomologySVM(alignments="given").fit(X, [c for c, _ in y])
    with pytest.raises(ValueError, match="start=None the output must be"):
        HomologySVM(start=None).fit(X, [c for c, _ in y])


def test_hidden_alignments_reach_a_lower_objective_than_given_ones():
    """The best alignment of the homolog scores at least as high as the given one."""
    X, y = relatives(10, seed=2)
    hidden = HomologySVM(C=0.01).fit(X, y)
    given = HomologySVM(C=0.01, alignments="given").fit(X, y)
    assert hidden.result_.certificate == "local"
    assert given.result_.certificate == "exact"
    assert hidden.result_.primal <= given.result_.primal * 1.02


def test_objective_is_that_of_the_best_alignments():
    """Slack of an example: best decoy plus one, less the best alignment of the homolog."""
    X, y = relatives(6, seed=3)
    model = HomologySVM(C=1e-4, tol=1e-3).fit(X, y)
    slack = []
    for scores, (c, _) in zip(model.candidate_scores(X), y, strict=True):
        slack.append(max(0.0, 1.0 + np.delete(scores, c).max() - scores[c]))
    w = model.coef_
    objective = 0.5 * w @ w + 0.5 * model.C * np.sum(np.square(slack))
    assert model.result_.primal == pytest.approx(objective, rel=1e-6)


def test_objective_never_rises():
    X, y = relatives(8, seed=4)
    rounds = HomologySVM(C=0.01).fit(X, y).result_.outer["objective"]
    assert all(b <= a for a, b in pairwise(rounds))


def test_scores_to_start_from():
    """Without alignments BLOSUM62; with many, the log-odds of their letters."""
    X, y = relatives(4, seed=5)
    alignment = Alignment(mode="local").bind([(PROTEIN, PROTEIN)], [])
    places = [c for c, _ in y]
    prior = learn_prior(alignment, X, places, [None] * 4, np.ones(4))
    known = parse_substitution(BLOSUM62.splitlines()).restrict(PROTEIN).scores
    assert np.corrcoef(prior.scores.ravel(), known.ravel())[0, 1] > 0.99
    assert np.abs(prior.scores - known).max() < 2.0
    X, y = make_homologs(300, seed=0)
    alignment = Alignment(mode="local").bind([("abcdefghijklmnopqrst",) * 2], [])
    prior = learn_prior(
        alignment, X, [c for c, _ in y], [a for _, a in y], np.ones(len(y))
    )
    # A letter becomes the next one twice as often as it stays.
    assert np.mean(prior.scores.argmax(axis=1) == (np.arange(20) + 1) % 20) > 0.9
    assert np.mean(np.diag(prior.scores) > 0) > 0.9


def test_start_may_be_given():
    X, y = make_homologs(6, seed=0)
    letters = tuple("abcdefghijklmnopqrst")
    prior = Prior(letters, 3.0 * np.eye(20) - 1.0, (-4.0, -1.0))
    model = HomologySVM(start=prior).fit(X, y)
    assert model.structure_.alignment.pairs[0].table is prior
    assert model.score(X, y) == 1.0
    with pytest.raises(ValueError, match="start='blosum' is not known"):
        HomologySVM(start="blosum").fit(X, y)
    with pytest.raises(ValueError, match="alignments='known' is not known"):
        HomologySVM(alignments="known").fit(X, y)


def test_other_tracks_start_at_the_given_alignments():
    X, y = relatives(5, seed=6)
    X = [({"kind": a}, [{"kind": b} for b in others]) for a, others in X]
    model = HomologySVM(C=0.1).fit(X, y)
    assert model.score(X, y) == 1.0


def test_given_alignments_are_those_of_the_paper():
    X, y = make_homologs(8, seed=0)
    model = HomologySVM(
        C=0.1, alignments="given", start=None, gaps="linear", tol=0.1
    ).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.score(*make_homologs(20, seed=1)) > 0.5


def test_files_and_pickles(tmp_path):
    X, y = relatives(5, seed=7)
    model = HomologySVM().fit(X, y)
    save(model, tmp_path / "homology.mm")
    for copy in (load(tmp_path / "homology.mm"), pickle.loads(pickle.dumps(model))):
        assert copy.predict(X).tolist() == model.predict(X).tolist()
        assert copy.structure_.hidden


def test_wrong_candidates_are_refused():
    X, y = relatives(2, seed=8)
    with pytest.raises(ValueError, match="example 1: candidate 9 is not one of 7"):
        HomologySVM().fit(X, [y[0], 9])
    with pytest.raises(ValueError, match="example 0: the output must be a candidate"):
        HomologySVM().fit(X, ["first", y[1]])


def unlearnable():
    """Each decoy is the homolog itself, under all its alignments."""
    X, y = relatives(24, seed=9, decoys=0)
    return [(native, [one, one]) for native, (one,) in X], y


def test_says_when_nothing_was_learned():
    X, y = unlearnable()
    model = HomologySVM(C=10.0, alignments="given", start=None)
    with pytest.warns(ConvergenceWarning, match="hardly anything was learned"):
        model.fit(X, y)
    assert model.result_.primal >= 0.99 * 0.5 * 10.0 * len(y)


def test_says_when_the_objective_is_not_below_that_of_zero_weights():
    X, y = unlearnable()
    model = HomologySVM(C=5.0, alignments="given", start=None, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="not below that of zero weights"):
        model.fit(X, y)


def test_candidates_to_choose_from_are_needed():
    with pytest.raises(ValueError, match="every example has one candidate"):
        HomologySVM().fit([("HEAGAWG", ["HEAGWG"])] * 3, [0, 0, 0])
    with pytest.raises(ValueError, match="example 1 has no candidates"):
        HomologySVM().fit([("HEAG", ["HEA", "W"]), ("HEAG", [])], [0, 0])


def test_drawings_name_the_candidate():
    X, y = make_homologs(8, seed=0)
    model = HomologySVM().fit(X, y)
    found = model.predict(X[:1])[0]
    c = int(found[0] if np.iterable(found) else found)
    assert f"candidate {c}<" in str(model.draw(X[0], truth=c))
    other = str(model.draw(X[0], truth=(c + 1, y[0][1])))
    assert f"candidate {c} <em>true: candidate {c + 1}<" in other
