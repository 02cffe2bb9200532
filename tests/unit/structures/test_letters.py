"""Letters that the model does not know: X, B, Z, U, *, lower case, gaps in sequences."""

import warnings

import numpy as np
import pytest

from maxmargin import AlignmentSVM, HomologySVM, load, save
from maxmargin.structures.alignment import UnknownLetterWarning
from maxmargin.structures.alignment.inputs.letters import LetterReader

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
X = [(PROTEIN, PROTEIN[:10] + PROTEIN[12:]), (PROTEIN[::-1], PROTEIN[::-1][3:])]
Y = [(PROTEIN, PROTEIN[:10] + "--" + PROTEIN[12:]),
     (PROTEIN[::-1], "---" + PROTEIN[::-1][3:])]  # fmt: skip


def fitted(X=X, Y=Y, **params):
    return AlignmentSVM(C=10.0, random_state=0, **params).fit(X, Y)


def test_unknown_letters_are_counted_and_score_as_nothing():
    model = fitted()
    odd = [("ACDXFGBH", "ACDXFGBH"), ("AC*", "AC")]
    with pytest.warns(UnknownLetterWarning) as seen:
        found = model.predict(odd)
    assert found[0].tolist() == [[k, k] for k in range(8)]
    said = str(seen[0].message)
    assert "5 unknown letters" in said and "X 2" in said and "B 2" in said
    assert "pair 0, first sequence, position 3" in said
    letters, matrix = model.substitution_matrix()
    score = dict(zip(letters, np.diag(matrix), strict=True))
    kept = sum(score[v] for v in "ACDFGH")
    with pytest.warns(UnknownLetterWarning):
        assert model.alignment_scores(odd[:1])[0] == pytest.approx(kept / 16)


def test_unknown_letters_in_training_are_one_symbol():
    odd = [(s.replace("W", "X"), t.replace("W", "x")) for s, t in X]
    written = [(s.replace("W", "X"), t.replace("W", "X")) for s, t in Y]
    with pytest.warns(UnknownLetterWarning, match="3 unknown letters"):
        model = fitted(odd, written)
    assert "".join(model.substitution_matrix()[0]) == PROTEIN
    names = model.structure_.feature_names()
    at = names.index("residue=?|residue=?")
    assert model.coef_[at] > 0.0  # matched in both references


@pytest.mark.parametrize("rule", ["warn", "ignore"])
def test_lower_case_is_read_as_upper_case(rule):
    model = fitted(unknown=rule)
    lower = [(s.lower(), t) for s, t in X]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = model.predict(lower)
    assert [c.tolist() for c in found] == [c.tolist() for c in model.predict(X)]
    told = [str(w.message) for w in seen if w.category is UnknownLetterWarning]
    assert bool(told) == (rule == "warn")
    if told:
        assert "40 letters were read in the other case" in told[0]


def test_mapping_reads_letters_as_others():
    model = fitted(unknown={"U": "C", "B": "D"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        some = model.alignment_scores([("AUBE", "AUBE")])
    assert some == pytest.approx(model.alignment_scores([("ACDE", "ACDE")]))
    with pytest.warns(UnknownLetterWarning, match="X 1"):
        model.predict([("AX", "A")])


def test_error_refuses_and_names_the_place():
    model = fitted(unknown="error")
    with pytest.raises(ValueError, match=r"pair 1, second sequence, position 2: 'X'"):
        model.predict([("ACD", "ACD"), ("ACD", "ACX")])
    with pytest.raises(ValueError, match="unknown='no' is not known"):
        fitted(unknown="no")


def test_rule_can_be_changed_after_training(tmp_path):
    model = fitted()
    save(model, tmp_path / "m.mm")
    again = load(tmp_path / "m.mm").set_params(unknown="ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.predict([("ACX", "AC")])
    again.set_params(unknown="error")
    with pytest.raises(ValueError, match="'X' is not a letter"):
        again.predict([("ACX", "AC")])


def test_a_model_trained_to_refuse_goes_on_refusing():
    model = fitted(unknown="error").set_params(unknown="warn")
    with pytest.raises(ValueError, match="'X' is not a letter"):
        model.predict([("ACX", "AC")])


def test_gaps_in_sequences_are_refused_in_training():
    with pytest.raises(ValueError, match=r"pair 0, second sequence, position 2: '-'"):
        fitted([("ACD", "AC-D")], [[[0, 0], [1, 1], [-1, 2], [2, 3]]])


def test_dots_and_tildes_are_gaps_and_case_of_rows_is_free():
    dashes = AlignmentSVM(C=10.0).fit([("HEAGAW", "EAAW")], [("HEAGAW", "-EA-AW")])
    others = AlignmentSVM(C=10.0).fit([("HEAGAW", "EAAW")], [("HeaGAW", ".EA~aw")])
    assert np.array_equal(dashes.coef_, others.coef_)


@pytest.mark.parametrize("features", ["simple", "window"])
def test_letters_of_windows_and_other_tracks(features):
    tracks = [
        tuple(
            {"residue": s, "ss": "HE" * (len(s) // 2) + "C" * (len(s) % 2)}
            for s in pair
        )
        for pair in X
    ]
    model = AlignmentSVM(C=10.0, features=features).fit(tracks, Y)
    one = {"residue": "ACXE", "ss": "HHQE"}
    with pytest.warns(UnknownLetterWarning, match="track 'ss': 2 unknown") as seen:
        model.predict([(one, dict(one))])
    assert "track 'residue': 2 unknown" in str(seen[0].message)


def test_kernels_read_letters_by_the_same_rule():
    model = fitted(kernel="rbf", n_basis=5)
    with pytest.warns(UnknownLetterWarning):
        lower = model.alignment_scores([(X[0][0].lower(), X[0][1])])
    assert lower == pytest.approx(model.alignment_scores(X[:1]))


def test_homologs_with_unknown_letters():
    inputs = [(PROTEIN, [PROTEIN[::-1], PROTEIN[2:]])]
    model = HomologySVM(C=10.0).fit(inputs, [(1, (PROTEIN, "--" + PROTEIN[2:]))])
    with pytest.warns(UnknownLetterWarning, match="X 1"):
        model.predict([(PROTEIN, ["X" + PROTEIN[3:], "acd"])])


def test_alphabets_by_name():
    model = AlignmentSVM(alphabets="dna", C=10.0).fit(
        [("ACGT", "AGT")], [("ACGT", "A-GT")]
    )
    assert model.substitution_matrix()[0] == tuple("ACGT")
    with pytest.raises(ValueError, match="alphabets='dnaa' is not known"):
        AlignmentSVM(alphabets="dnaa").fit([("ACGT", "AGT")], [("ACGT", "A-GT")])


def test_codes_of_text_are_those_of_lists():
    """Strings are read by a table, lists letter by letter."""
    for letters, text in (
        ("ACD", ["ACD", "DXA", "a?"]),
        ("A\u00e4\u4e2d", ["\u4e2dA\u00e4", "\U0001f600A"]),
    ):
        reader = LetterReader({"residue": letters}, "ignore")
        names = [f"sequence {k}" for k in range(len(text))]
        listed = reader.codes([list(s) for s in text], names, "residue")
        assert reader.codes(text, names, "residue").tolist() == listed.tolist()
