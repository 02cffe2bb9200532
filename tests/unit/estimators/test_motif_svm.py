"""MotifSVM, the Gibbs sampler, logos and MEME files."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import MotifSVM
from maxmargin.baselines import GibbsMotif
from maxmargin.estimators.sequences.motif_sites import ScoreDistribution, window_scores
from maxmargin.inference import markov
from maxmargin.io.biology import meme_text, read_meme
from maxmargin.reports.drawing import sequence_logo
from maxmargin.structures import Motif

MOTIF = "TTTATGTT"


def planted(seed, n=60, size=60, strands=False, noise=0.05):
    """Half of the sequences hold the motif, with a few bases changed."""
    rng = np.random.default_rng(seed)
    flip = str.maketrans("ACGT", "TGCA")
    X, y, where = [], [], []
    for i in range(n):
        s = rng.choice(list("ACGT"), size=size)
        at = int(rng.integers(size - len(MOTIF) + 1))
        if i % 2:
            word = MOTIF.translate(flip)[::-1] if strands and i % 4 == 1 else MOTIF
            keep = rng.random(len(word)) >= noise
            s[at : at + len(word)][keep] = np.array(list(word))[keep]
        X.append("".join(s))
        y.append(i % 2)
        where.append(at)
    return X, np.array(y), np.array(where)


@pytest.mark.parametrize("strands", [False, True])
def test_a_planted_motif_is_found(strands):
    X, y, where = planted(0, n=120, strands=strands)
    model = MotifSVM(8, order=0, both_strands=strands, C=1.0, restarts=8).fit(X, y)
    flipped = MOTIF.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    assert model.consensus() in ((MOTIF, flipped) if strands else (MOTIF,))
    sites = model.locate(X)
    assert np.mean((sites["start"] == where)[y == 1]) > 0.8
    assert model.score(*planted(1, strands=strands)[:2]) > 0.8
    assert (np.diff(model.result_.outer["objective"][:3]) <= 1e-12).all()
    assert model.motif_.probabilities.shape == (8, 4)
    assert model.motif_.sites == 60


def test_p_values_that_no_site_can_have_are_named():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    model = MotifSVM(length=4, order=0, C=1.0).fit(X, [1, 1, 1, 0, 0, 0])
    best = model.sites(["ggTATAgg"], p_value=0.01)[0].p_value
    with pytest.warns(UserWarning, match="no window can have a p-value of 1e-09"):
        assert model.sites(["ggTATAgg"], p_value=1e-9) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.sites(["ggTATAgg"], p_value=1.01 * best)[0].start == 2


def test_predict_agrees_with_the_decision():
    X, y, _ = planted(2)
    labels = np.where(y == 1, "+", "-")
    model = MotifSVM(6, order=1, restarts=1).fit(X, labels)
    assert model.classes_.tolist() == ["-", "+"]
    assert ((model.decision_function(X) > 0) == (model.predict(X) == "+")).all()
    assert model.predict(["ACG"]).tolist() == ["-"]  # too short for the motif


def test_weights_of_examples_and_seeds():
    X, y, _ = planted(3)
    weight = np.where(y == 1, 1.0, 0.02)
    model = MotifSVM(8, order=0, restarts=2, random_state=5)
    a = clone(model).fit(X, y, sample_weight=weight)
    b = clone(model).fit(X, y, sample_weight=weight)
    assert np.array_equal(a.coef_, b.coef_)
    assert a.result_.primal < clone(model).fit(X, y).result_.primal


def test_places_to_start_from():
    X, y, where = planted(4)
    model = MotifSVM(8, order=0, C=1.0, restarts=1)
    model.fit(X, y, places=[(int(h), 0) for h in where])
    assert model.consensus() == MOTIF


def test_two_labels_are_needed():
    with pytest.raises(ValueError, match="two"):
        MotifSVM(3).fit(["ACGT", "ACGT"], [1, 1])
    with pytest.raises(ValueError, match="not in y"):
        MotifSVM(3, positive=7).fit(["ACGT", "ACGT"], [1, 0])
    with pytest.raises(ValueError, match="positive='ars' or positive='none'"):
        MotifSVM(3).fit(["ACGT", "ACGT"], ["ars", "none"])


def test_gibbs_finds_it_and_same_seed_same_result():
    X, y, _ = planted(5, n=80)
    own = [s for s, label in zip(X, y, strict=True) if label]
    other = [s for s, label in zip(X, y, strict=True) if not label]
    a = GibbsMotif(8, order=1, sweeps=50, restarts=4).fit(own, other)
    b = GibbsMotif(8, order=1, sweeps=50, restarts=4).fit(own, other)
    assert np.array_equal(a.counts_, b.counts_)
    found = "".join("ACGT"[k] for k in a.probabilities_.argmax(axis=1))
    assert found == MOTIF
    assert a.decision_function(own).mean() > a.decision_function(other).mean() + 2


def test_background_is_a_distribution():
    structure = Motif(2, order=2)
    rng = np.random.default_rng(0)
    x = structure.encode(["".join(rng.choice(list("ACGT"), p=[0.4, 0.1, 0.1, 0.4],
                                             size=3000))])  # fmt: skip
    q = np.exp(markov(x.context, 2))
    assert np.allclose(q.reshape(-1, 4).sum(axis=1), 1.0)
    assert np.allclose(q[:4], [0.4, 0.1, 0.1, 0.4], atol=0.05)


def test_meme_and_logo():
    p = np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 0.0, 0.0, 1.0]])
    text = meme_text([("a", p, 12), ("b", p[::-1], 3)], [0.3, 0.2, 0.2, 0.3])
    back = read_meme(text)
    assert [m.name for m in back] == ["a", "b"]
    assert np.allclose(back[1].probabilities, p[::-1])
    assert back[0].sites == 12
    with pytest.raises(ValueError, match="4 columns"):
        meme_text([("c", np.ones((2, 3)), 1)])
    picture = sequence_logo(p, title="a < b")
    assert picture.startswith("<svg") and "a &lt; b" in picture
    assert picture.count("<path transform") == 5


def test_meme_from_a_file(tmp_path):
    path = tmp_path / "m.meme"
    path.write_text(meme_text([("a", np.full((3, 4), 0.25), 1)]))
    assert read_meme(path)[0].probabilities.shape == (3, 4)


def test_class_weights_are_sample_weights():
    X, y, _ = planted(6, n=20, size=30)
    X, y = X[3:], y[3:]
    X[0], y[0] = X[1], y[1]
    options = {"length": 8, "order": 0, "C": 0.1, "restarts": 1, "sweeps": 5}
    count = np.bincount(y)
    weight = len(y) / (2.0 * count[y])
    even = MotifSVM(**options, class_weight="balanced").fit(X, y)
    same = MotifSVM(**options).fit(X, y, weight)
    by = dict(enumerate(len(y) / (2.0 * count)))
    named = MotifSVM(**options, class_weight=by).fit(X, y)
    assert np.array_equal(even.coef_, same.coef_)
    assert np.array_equal(even.coef_, named.coef_)
    again = MotifSVM(**options, init=even.coef_).fit(X, y)
    assert len(again.consensus()) == 8
    with pytest.raises(ValueError, match="'x' is not in y"):
        MotifSVM(**options, class_weight={"x": 2.0}).fit(X, y)


def with_sites(n=40, seed=0, both=False):
    """Half of the sequences have a motif planted, on one strand or either."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for k in range(n):
        letters = rng.choice(list("ACGT"), 40)
        if k % 2:
            at, site = int(rng.integers(0, 33)), list("TGACTCA"[:6] + "G")
            if both and rng.random() < 0.5:
                site = ["ACGT"["TGCA".index(c)] for c in site[::-1]]
            letters[at : at + 7] = site
        X.append("".join(letters))
        y.append(k % 2)
    return X, y


@pytest.mark.parametrize("order", [0, 2])
@pytest.mark.parametrize("both", [False, True])
def test_all_sites_contain_the_best_and_scores_agree(order, both):
    X, y = with_sites(both=both)
    model = MotifSVM(7, order, both, C=0.5, restarts=2).fit(X, y)
    best = model.locate(X)
    everywhere = model.sites(X, p_value=1.0)
    strands = 2 if both else 1
    assert len(everywhere) == strands * sum(len(x) - 6 for x in X)
    for i, site in enumerate(best):
        mine = [s for s in everywhere if s.sequence == i]
        top = max(mine, key=lambda s: s.score)
        assert top.score == pytest.approx(site["score"], abs=1e-9)
        assert (top.start, top.strand) == (site["start"], site["strand"])
    few = model.sites(X, p_value=1e-3)
    assert 0 < len(few) < 60 and all(s.p_value <= 1e-3 for s in few)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("strand", [0, 1])
def test_p_values_are_those_of_enumerated_windows(order, strand):
    rng = np.random.default_rng(5)
    structure = Motif(3, order, True).bind(["ACGTACGT"], [1])
    w = rng.normal(size=structure.dim)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    scores, chances = [], []
    for bases in itertools.product(range(4), repeat=3 + order):
        x = structure.encode(["".join("ACGT"[b] for b in bases)])
        scores.append(window_scores(structure, x, 0, w)[strand, order])
        chances.append(np.prod(shares[list(bases)]))
    scores, chances = np.array(scores), np.array(chances)
    found = ScoreDistribution(structure, w, shares, strand).p_values(scores)
    near = np.ptp(scores) / 500  # scores are rounded to a grid
    for s, p in zip(scores, found, strict=True):
        assert chances[scores > s + near].sum() - 1e-12 <= p
        assert p <= chances[scores > s - near].sum() + 1e-12


def test_a_p_value_is_a_probability():
    X, y = with_sites(10)
    model = MotifSVM(7, 0, C=0.5, restarts=1).fit(X, y)
    with pytest.raises(ValueError, match="not a probability"):
        model.sites(X, p_value=2.0)


def holding(n, motif, seed, size=40):
    """Random bases; half of the sequences hold the motif."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        bases = list(rng.choice(list("ACGT"), size))
        if i % 2:
            at = int(rng.integers(size - len(motif) + 1))
            bases[at : at + len(motif)] = motif
        X.append("".join(bases))
        y.append(i % 2)
    return X, y


def test_the_length_is_chosen_by_cross_validation(tmp_path):
    X, y = holding(60, "TGACGTCATG", seed=0)
    options = {"order": 0, "C": 1.0, "restarts": 2, "tol": 0.01}
    model = MotifSVM(length=[3, 10], **options).fit(X, y)
    assert model.length_ == 10 and model.structure_.length == 10
    assert set(model.length_scores_) == {3, 10}
    assert model.length_scores_[10] > model.length_scores_[3]
    assert model.consensus() == "TGACGTCATG"
    model.save(tmp_path / "motif.mm")
    copy = MotifSVM.load(tmp_path / "motif.mm")
    assert copy.length_ == 10 and copy.predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(
        ValueError, match="length='long': a whole number, a list of them, or 'auto'"
    ):
        MotifSVM(length="long").fit(X, y)
    with pytest.raises(ValueError, match="whole numbers above zero"):
        MotifSVM(length=[4, 0]).fit(X, y)
    with pytest.raises(ValueError, match="at least two sequences of each label"):
        MotifSVM(length=[3, 4]).fit(X[:2], y[:2])


def test_auto_leaves_out_lengths_that_do_not_fit():
    X, y = holding(12, "TGAC", seed=1, size=9)
    model = MotifSVM(length="auto", order=0, C=1.0, restarts=1, tol=0.1).fit(X, y)
    assert set(model.length_scores_) == {6, 8}


def test_several_motifs():
    X, y = holding(60, "TGACGTCA", seed=2)
    rng = np.random.default_rng(3)
    for i in range(60):
        if y[i]:
            X[i] += "".join(rng.choice(list("ACGT"), 5)) + "GGCCAATT"
    model = MotifSVM(length=8, order=0, C=1.0, restarts=3, tol=0.01)
    found = model.fit_several(X, y, n=2)
    texts = " ".join(one.consensus() for one in found)  # sites may be shifted a little
    assert "CGTCA" in texts and "CCAAT" in texts
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="n=0"):
        model.fit_several(X, y, n=0)


def test_a_start_of_another_length_is_named():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    y = [1, 1, 1, 0, 0, 0]
    start = MotifSVM(length=4, order=0, C=1.0).fit(X, y).coef_
    with pytest.raises(ValueError, match=r"length=3 and order=0 .* motif of 4 letters"):
        MotifSVM(length=3, order=0, C=1.0, init=start).fit(X, y)
    with pytest.raises(ValueError, match="length=4 and order=1"):
        MotifSVM(length=4, order=1, C=1.0, init=start[:-2]).fit(X, y)


def test_meme_says_which_strands_were_searched():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    y = [1, 1, 1, 0, 0, 0]
    for both, strands in ((False, "strands: +\n"), (True, "strands: + -\n")):
        model = MotifSVM(length=4, order=0, C=1.0, both_strands=both).fit(X, y)
        assert strands in model.to_meme()
