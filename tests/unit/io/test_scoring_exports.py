"""Learned scores for other programs: the same scores up to scale and rounding."""

import json
import warnings

import numpy as np
import pytest

from maxmargin import AlignmentSVM
from maxmargin.io.biology import Scoring, parse_substitution

X = [("HEAGAWGHEE", "PAWHEAE"), ("HEAGAW", "EAAW"), ("GHEEPA", "GHEPA")] * 2
Y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("HEAGAW", "-EA-AW"), ("GHEEPA", "GHE-PA")] * 2
LETTERS = ("A", "C", "D")
MATRIX = np.array([[2.0, -1.0, 0.0], [-1.0, 3.0, -2.0], [0.0, -2.0, 4.0]])


def plain(opening=-4.0, extension=-1.0):
    return Scoring(LETTERS, MATRIX, (opening, extension), (opening, extension))


def random_pairs(n=20):
    rng = np.random.default_rng(0)
    return [
        tuple("".join(rng.choice(LETTERS, rng.integers(3, 12))) for _ in range(2))
        for _ in range(n)
    ]


def test_parasail_and_biopython_give_the_same_scores():
    parasail = pytest.importorskip("parasail")
    aligner, s = plain().aligner(), plain().parasail(largest=4)
    assert s.scale == 1.0
    for a, b in random_pairs():
        found = parasail.nw(a, b, s.open, s.extend, s.matrix).score
        assert found == pytest.approx(aligner.score(a, b))


def test_scores_of_a_trained_model_in_parasail():
    parasail = pytest.importorskip("parasail")
    model = AlignmentSVM(C=1e3, symmetric=True, gaps="affine").fit(X, Y)
    scoring = model.scoring()
    if scoring.deletion[0] > scoring.deletion[1]:
        pytest.skip("this model opens gaps for less than it extends them")
    s = scoring.parasail(largest=10_000)
    for (a, b), score in zip(X, model.alignment_scores(X), strict=True):
        found = parasail.nw(a, b, s.open, s.extend, s.matrix).score / s.scale
        assert found == pytest.approx(score * (len(a) + len(b)), abs=0.02)


def test_blast_counts_the_opening_without_the_first_letter():
    blast = plain().blast(largest=4)
    assert (blast.gapopen, blast.gapextend) == (3, 1)
    assert blast.flags("m")[1:] == ["m", "-gapopen", "3", "-gapextend", "1"]
    again = parse_substitution(blast.text.splitlines())
    assert again.letters == LETTERS and np.array_equal(again.scores, MATRIX)


@pytest.mark.parametrize("who", ["parasail", "blast"])
def test_what_other_programs_cannot_say_is_refused(who):
    if who == "parasail":
        pytest.importorskip("parasail")
    for scoring, message in [
        (Scoring(LETTERS, MATRIX, (-4.0, -1.0), (-3.0, -1.0)), "symmetric=True"),
        (plain(1.0, 1.0), "needs costs"),
        (
            Scoring(
                LETTERS, MATRIX, (-4.0, -1.0), (-4.0, -1.0), end_deletion=(-1.0, -1.0)
            ),
            "end_gaps=False",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            getattr(scoring, who)()


def test_json_has_everything():
    told = json.loads(plain().integers(8).json_text())
    assert told["scale"] == 2.0 and told["matrix"][2][2] == 8.0
    assert told["deletion"] == [-8.0, -2.0]


@pytest.mark.parametrize("unknown", ["ignore", {"U": "C", "X": "A"}])
def test_codes_that_stand_for_several_letters_score_as_in_the_model(unknown):
    parasail, _ = pytest.importorskip("parasail"), pytest.importorskip("Bio")
    rng = np.random.default_rng(0)
    letters, X, y = list("ACDEFGHIKLMNPQRSTVWY"), [], []
    for k in range(12):
        a = rng.choice(letters, 30)
        b = np.where(rng.random(30) < 0.2, rng.choice(letters, 30), a)
        b[4], b[10:12] = ("X" if k % 3 == 0 else b[4]), "-"
        y.append(("".join(a), "".join(b)))
        X.append((y[-1][0], y[-1][1].replace("-", "")))
    model = AlignmentSVM(C=100.0, symmetric=True, unknown=unknown).fit(X, y)
    asked = [(a[:5] + "X" + a[5:9] + "B*" + a[9:], b[:7] + "U" + b[7:]) for a, b in X]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = model.alignment_scores(asked) * [len(a) + len(b) for a, b in asked]
    scoring = model.scoring()
    aligner, s = scoring.aligner(), scoring.parasail(largest=10_000)
    np.testing.assert_allclose(
        [aligner.score(*pair) for pair in asked], ours, atol=1e-9
    )
    theirs = [parasail.nw(a, b, s.open, s.extend, s.matrix).score for a, b in asked]
    np.testing.assert_allclose(np.array(theirs) / s.scale, ours, atol=0.02)
    assert "".join(model.scoring(codes=False).letters) == "".join(letters)
    assert "X" in parse_substitution(scoring.blast().text.splitlines()).letters
    strict = AlignmentSVM(unknown="error").fit(X[1:3], y[1:3])
    assert "X" not in strict.scoring().letters


def test_a_file_has_no_minus_zero():
    weak = Scoring(LETTERS, 0.01 * MATRIX + 4 * np.eye(3), (-4.0, -0.01), (-4.0, -0.01))
    whole = weak.integers()
    assert "-0 " not in whole.ncbi_text() and "-0.0" not in whole.json_text()


def test_a_search_exports_its_scores():
    from maxmargin import HomologySVM
    from maxmargin.datasets import make_homologs

    searches, found = make_homologs(6, seed=0)
    places = [place for place, _ in found]
    told = [("auto", "local", found), (None, "local", found)]
    told += [("auto", "global", places), ("auto", "semiglobal", places)]
    for start, mode, y in told:
        model = HomologySVM(start=start, mode=mode, C=0.1).fit(searches, y)
        aligner = model.scoring().aligner()
        scores = model.candidate_scores(searches[:2])
        for (native, candidates), row in zip(searches[:2], scores, strict=True):
            theirs = [aligner.score(native, c) for c in candidates]
            assert theirs == pytest.approx(row, abs=1e-9), (start, mode)


def test_a_search_in_parasail():
    parasail = pytest.importorskip("parasail")
    from maxmargin import HomologySVM
    from maxmargin.datasets import make_homologs

    searches, found = make_homologs(6, seed=0)
    model = HomologySVM(symmetric=True).fit(searches, found)
    s = model.scoring().parasail(largest=10_000)
    native, candidates = searches[0]
    for candidate, score in zip(
        candidates, model.candidate_scores(searches[:1])[0], strict=True
    ):
        theirs = (
            parasail.sw(native, candidate, s.open, s.extend, s.matrix).score / s.scale
        )
        assert theirs == pytest.approx(score, abs=0.01 * abs(score) + 0.01)
