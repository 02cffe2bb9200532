"""AlignmentSVM, its baselines, metrics and pictures."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import AlignmentSVM
from maxmargin.baselines import KnownMatrix, LogOdds
from maxmargin.io.biology import Substitution, columns_of_rows
from maxmargin.metrics import identities, precisions, q_scores
from maxmargin.reports.drawing import agreement, alignment_svg, alignment_text
from maxmargin.structures.alignment import simple


def related(n, seed=0):
    """Pairs where letters a, b, c, d become the next one, with deletions."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        s = rng.choice(list("abcd"), 24)
        kept = rng.random(24) < 0.8
        t = ["bcda"["abcd".index(v)] for v in s[kept]]
        columns = np.stack([np.arange(24), np.where(kept, np.cumsum(kept) - 1, -1)], 1)
        X.append(({"residue": "".join(s)}, {"residue": "".join(t)}))
        Y.append(columns)
    return X, Y


@pytest.mark.parametrize("loss", ["Q", "Q4"])
def test_learns_which_letters_belong_together(loss):
    X, Y = related(12)
    model = AlignmentSVM(C=100.0, loss=loss).fit(X, Y)
    assert model.result_.status.name == "CONVERGED"
    letters, scores = model.substitution_matrix()
    assert "".join(letters) == "abcd"
    assert scores.argmax(axis=1).tolist() == [1, 2, 3, 0]
    assert model.score(*related(10, seed=1)) > 0.8
    assert model.losses(*related(10, seed=1), shift=4).mean() < 0.1


def test_modes_gaps_and_rescalings_train_to_a_small_gap():
    X, Y = related(5)
    for settings in (
        {"mode": "local", "gaps": "linear"},
        {"mode": "semiglobal", "symmetric": True},
        {"gaps": "structural", "normalize": False, "C": 0.05},
        {"rescaling": "slack", "solver": "one-slack"},
        {"loss": "zero-one", "penalty": "squared"},
        {"penalty": "squared"},
        {"features": simple(["residue"]), "band": 12},
    ):
        model = AlignmentSVM(**{"C": 20.0, "tol": 0.05, **settings}).fit(X, Y)
        assert model.result_.gap <= 0.05, settings
        assert model.score(X, Y) > 0.3, settings


def test_threads_change_nothing():
    X, Y = related(70)
    models = [
        AlignmentSVM(C=10.0, n_jobs=k, max_iter=3, tol=0.3).fit(X, Y) for k in (1, 2)
    ]
    assert (models[0].coef_ == models[1].coef_).all()


def test_models_survive_cloning_and_pickling():
    X, Y = related(4)
    model = clone(AlignmentSVM(C=5.0, mode="local", tol=0.1)).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    for a, b in zip(model.predict(X), again.predict(X), strict=True):
        assert (a == b).all()
    assert model.alignment_scores(X).shape == (4,)


def test_features_by_name():
    X = [({"residue": "AC", "ss": "HE"}, {"residue": "AC", "ss": "HE"})]
    Y = [[[0, 0], [1, 1]]]
    for name in ("simple", "anova2", "tensor", "all", "window", "profile"):
        assert AlignmentSVM(features=name, tol=0.5).fit(X, Y).structure_.dim > 4
    with pytest.raises(ValueError, match="features='many' is not known"):
        AlignmentSVM(features="many").fit(X, Y)
    with pytest.raises(ValueError, match="gaps='none' is not known"):
        AlignmentSVM(gaps="none").fit(X, Y)
    with pytest.raises(ValueError, match="needs more tracks of letters"):
        AlignmentSVM(features="anova2").fit([("AC", "AC")], Y)


def test_baselines_align():
    X, Y = related(10)
    strings = [(s["residue"], t["residue"]) for s, t in X]
    table = LogOdds("abcd").fit(X, Y)
    assert table.scores.argmax(axis=1).tolist() == [1, 2, 3, 0]
    model = KnownMatrix(table).tune(
        X, Y, openings=(-0.5, -2.0), extensions=(-0.5, -2.0)
    )
    assert q_scores(Y, model.predict(strings)).mean() > 0.8
    identity = KnownMatrix(Substitution(tuple("abcd"), np.eye(4)))
    assert q_scores(Y, identity.predict(X)).mean() < 0.5


def test_scores_of_alignments():
    truth = columns_of_rows("-AECD", "EACC-")
    found = columns_of_rows("A-ECD", "EACC-")
    assert q_scores([truth], [found]) == pytest.approx(2 / 3)
    assert precisions([truth], [found]) == pytest.approx(2 / 3)
    assert identities([("AECD", "EACC")], [truth]) == pytest.approx(2 / 3)
    turned = [
        columns_of_rows(b, a) for a, b in (("-AECD", "EACC-"), ("A-ECD", "EACC-"))
    ]
    assert q_scores([turned[0]], [turned[1]], shift=4) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="1 references, but 2 alignments"):
        q_scores([truth], [found, found])


def test_pictures_mark_agreement():
    s, t = {"name": "1abc", "residue": "AECD" * 20}, "EACC" * 20
    columns = np.stack([np.arange(80), np.arange(80)], axis=1)
    reference = columns_of_rows("-" + s["residue"], t + "-")
    marks = agreement(columns, reference, shift=1)
    assert marks == "!" + "+" * 79
    assert agreement(reference, reference) == " " + "*" * 79 + " "
    text = alignment_text(s, t, columns, reference, width=60)
    assert text.splitlines()[0].startswith("1abc     1 AECD")
    assert len(text.splitlines()) == 9
    svg = alignment_svg(s, t, columns, reference)
    assert svg.count("<text") == 160 + 4
    assert svg.count("<rect") == 80


def test_alignments_that_spell_other_sequences_are_refused():
    X = [("HEAGAW", "EAAW")]
    with pytest.raises(
        ValueError, match=r"pair 0: the second row .* 'A' .* 'W', posit"
    ):
        AlignmentSVM().fit(X, [("HEAGAW", "-EA-AA")])
    named = {"name": "1abc", "residue": "HEAG", "ss": "HHE"}
    with pytest.raises(ValueError, match=r"\(1abc\): track 'ss' has 3 positions"):
        AlignmentSVM().fit([(named, named)], [("HEAG", "HEAG")])


def test_backgrounds_of_log_odds():
    X, Y = [("AABC", "AABC")], [[[k, k] for k in range(4)]]
    table = LogOdds("ABC", background="pairs").fit(X, Y)
    joint = np.array([[3.0, 1, 1], [1, 2, 1], [1, 1, 2]]) / 13.0
    odds = joint / np.outer(joint.sum(1), joint.sum(0))
    np.testing.assert_allclose(table.scores, np.log(odds))
    with pytest.raises(ValueError, match="background='none'"):
        LogOdds("ABC", background="none").fit(X, Y)


def test_letters_of_unrelated_sequences_count_in_the_background():
    X, Y = [("AABC", "AABB")], [[[k, k] for k in range(4)]]
    table = LogOdds("ABC").fit(X, Y, others=["CCCC", {"residue": "CC"}])
    joint = np.array([[3.0, 1, 1], [1, 2, 1], [1, 2, 1]]) / 13.0
    letters = np.array([5.0, 4.0, 8.0]) / 17.0  # A 4, B 3, C 7, one added to each
    odds = joint / np.outer(letters, letters)
    np.testing.assert_allclose(table.scores, np.log(odds))
    with pytest.raises(ValueError, match="background='letters' only"):
        LogOdds("ABC", background="pairs").fit(X, Y, others=["A"])


def overhanging(n, seed):
    """A short sequence inside a longer one, without gaps within."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        whole = rng.choice(list("ACDE"), 24)
        start = int(rng.integers(0, 13))
        part = whole[start : start + 12].copy()
        part[rng.random(12) < 0.3] = "A"
        X.append(("".join(whole), "".join(part)))
        inside = np.arange(24) - start
        columns = np.where((inside >= 0) & (inside < 12), inside, -1)
        Y.append(np.stack([np.arange(24), columns], axis=1))
    return X, Y


def test_gaps_at_the_ends_have_costs_of_their_own():
    X, Y = overhanging(25, seed=0)
    test = overhanging(25, seed=1)
    plain = AlignmentSVM(C=100.0).fit(X, Y)
    model = AlignmentSVM(C=100.0, end_gaps=True).fit(X, Y)
    assert model.score(*test) > plain.score(*test)
    costs = model.structure_.gap_scores(model.coef_)
    assert costs["end deletion"][0] > costs["deletion"][0] + 1.0
    names = model.structure_.feature_names()
    assert [n for n in names if n.endswith(" end")] == [
        "delete open end", "delete extend end", "insert open end", "insert extend end"
    ]  # fmt: skip
    assert len(names) == len(model.coef_)
    tied = AlignmentSVM(C=10.0, end_gaps=True, symmetric=True).fit(X, Y)
    costs = tied.structure_.gap_scores(tied.coef_)
    assert costs["end deletion"] == costs["end insertion"] != costs["deletion"]
    with pytest.raises(ValueError, match="mode='local' has no gaps at the ends"):
        AlignmentSVM(end_gaps=True, mode="local").fit(X, Y)


@pytest.mark.parametrize("gaps", ["affine", "linear"])
def test_end_gaps_in_biopython(gaps):
    pytest.importorskip("Bio")
    X, Y = overhanging(12, seed=2)
    model = AlignmentSVM(C=100.0, end_gaps=True, gaps=gaps).fit(X, Y)
    aligner = model.scoring().aligner()
    lengths = [len(a) + len(b) for a, b in X]
    scores = model.alignment_scores(X) * lengths
    assert np.allclose(scores, [aligner.score(a, b) for a, b in X])
    whole = model.scoring().integers(100)
    assert whole.end_deletion == tuple(
        np.rint(whole.scale * np.array(model.scoring().end_deletion))
    )
