"""What parts of the estimators return, by hand: hints, starts, names, sets and seeds."""

import io
import warnings

import numpy as np
import pytest
from cases.joint import SearchedKnapsack
from small.models import PAIRS

from maxmargin import ChainSVM, MotifSVM, MultilabelSVM, PathCV, StructuralSVM, load
from maxmargin.core import Rows
from maxmargin.estimators import CoreferenceSVM
from maxmargin.estimators.alignment.homology_start import PROTEIN_PAIRS, _expected
from maxmargin.estimators.alignment.significance import local_shift, shifted
from maxmargin.estimators.fitting.inputs import warn_if_alike
from maxmargin.estimators.fitting.parameters import shown
from maxmargin.estimators.fitting.training import _slow_hint
from maxmargin.estimators.label_sets.label_tables import _is_table
from maxmargin.estimators.language import dependency
from maxmargin.estimators.saving import digest
from maxmargin.estimators.sequences.motif_sites import ScoreDistribution, window_scores
from maxmargin.io.biology import parse_substitution
from maxmargin.io.biology.blosum import BLOSUM62
from maxmargin.structures import Motif
from maxmargin.structures.alignment import (
    Alignment,
    Gaps,
    View,
    matrix,
    simple,
)


def test_hints_where_training_is_slow():
    even = Rows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([3.0, 4.0]))
    apart = Rows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([3.0, 4e5]))
    assert _slow_hint(even, 25.0, 2.0, 2) is None
    hint = _slow_hint(even, 25.0, 400.0, 2)
    assert hint.startswith("features are large for this C") and "1e+04" in hint
    assert "1e+05, which makes training slow" in _slow_hint(apart, 25.0, 2.0, 2)


def test_words_of_reports_are_those_of_the_inputs():
    X = [[{"w": "Ana", "bias": 1}, {"w": "sings", "bias": 1}]] * 2
    dicts = ChainSVM(C=1.0).fit(X, [["N", "V"]] * 2)
    assert "Ana" in dicts._draw(X[0], ["N", "V"])
    assert dicts._words(X[0]) == ("Ana", "sings")
    columns = [[("Ana", "x"), ("sings", "y")]] * 2
    model = ChainSVM(features="ner", C=1.0).fit(columns, [["N", "V"]] * 2)
    assert model._words(columns[0]) == ("Ana", "sings")


def test_sets_of_labels_and_tables():
    """Numbers other than 0 and 1, or rows of several lengths, are sets."""
    assert not _is_table([[0, 2], [1, 2]])
    assert not _is_table([[0], [0, 1]])
    assert _is_table([[0, 0], [0, 1]])
    with pytest.raises(ValueError, match="may be a table or sets"):
        _is_table([[0, 1], [1, 0]])
    X = np.array([[1.0, 0.0], [0.0, 1.0]] * 4)
    model = MultilabelSVM(C=10.0).fit(X, [[0, 2], [1, 2]] * 4)
    assert model.predict(X[:2]).tolist() == [(0, 2), (1, 2)]


def test_defaults_as_one_would_write_them():
    assert shown((3, 4, 5, 6, 7)) == "(3, ..., 7)"
    assert shown((3, 4)) == "(3, 4)" and shown("a") == '"a"' and shown(1e6) == "1e6"


def nested(depth, wrap):
    value = 1
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [
    lambda v: [v], lambda v: {"a": v}, lambda v: np.array([v, None], object), lambda v: (v,),
])  # fmt: skip
def test_data_of_a_checkpoint_may_be_nested(wrap):
    digest(nested(48, wrap))
    with pytest.raises(ValueError, match="nested too deeply"):
        digest(nested(60, wrap))


def test_keys_of_a_checkpoint_may_be_nested():
    assert digest({nested(45, lambda v: (v,)): 1}) != digest(
        {nested(44, lambda v: (v,)): 1}
    )


def test_save_keeps_notes():
    file = io.BytesIO()
    ChainSVM().fit([[["a"], ["b"]]], [["N", "V"]]).save(file, notes={"who": "Ana"})
    assert load(io.BytesIO(file.getvalue())).provenance_["who"] == "Ana"


def test_sentences_are_encoded_some_at_a_time(monkeypatch):
    monkeypatch.setattr(dependency, "AT_ONCE", 10)
    found = list(dependency._parts(["ab", "ab", "abc", "abcd", "a"]))
    assert found == [["ab", "ab"], ["abc"], ["abcd"], ["a"]]


@pytest.mark.parametrize(("model", "gaps"), [
    (simple(["residue"]), Gaps(opening=(View(("residue",)),))),
    (simple(["residue"]), Gaps(extension=(View(("residue",)),))),
    (matrix(parse_substitution(BLOSUM62.splitlines(), "BLOSUM62")), Gaps()),
])  # fmt: skip
def test_no_constant_per_letter_where_weights_are_not_plain(model, gaps):
    alignment = Alignment(mode="local", model=model, gaps=gaps).bind(PAIRS, [])
    with pytest.raises(ValueError, match="a constant per letter cannot be subtracted"):
        shifted(alignment, np.zeros(alignment.dim), 1.0)


def test_a_gap_without_extension_needs_no_plain_extension():
    gaps = Gaps(affine=False, extension=(View(("residue",)),))
    alignment = Alignment(mode="local", model=simple(["residue"]), gaps=gaps)
    alignment = alignment.bind(PAIRS, [])
    w = shifted(alignment, np.zeros(alignment.dim), 1.0)
    assert sorted(set(w.tolist())) == [-1.0, -0.5]


def test_weights_under_which_nothing_is_aligned_need_no_shift():
    alignment = Alignment(mode="local", model=simple(["residue"])).bind(PAIRS, [])
    assert local_shift(alignment, np.full(alignment.dim, -1.0), PAIRS) == 0.0


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_p_values_do_not_depend_on_the_scale_of_the_weights(size):
    structure = Motif(3, 0, False).bind(["ACGTACGT"], [1])
    w = np.random.default_rng(0).normal(size=structure.dim)
    x = structure.encode(["ACGTTGCAAC"])
    shares = np.full(4, 0.25)
    plain, scaled = (
        ScoreDistribution(structure, k * w, shares, 0).p_values(
            window_scores(structure, x, 0, k * w)[0]
        )
        for k in (1.0, size)
    )
    assert scaled == pytest.approx(plain, abs=1 / 32)  # one of 64 words at most


@pytest.mark.parametrize("both", [False, True])
def test_a_sequence_that_is_shorter_than_the_motif_has_no_window(both):
    structure = Motif(4, 0, both).bind(["ACGTACGT"], [1])
    x = structure.encode(["ACG", "ACGT"])
    w = np.ones(structure.dim)
    assert window_scores(structure, x, 0, w).shape == (1 + both, 0)
    assert window_scores(structure, x, 1, w).shape == (1 + both, 1)


def test_relatives_before_any_are_seen():
    """Probabilities of pairs: of proteins by BLOSUM62, of others mostly equal letters."""
    joint, pairs = _expected(tuple("ACDEFGHIKLMNPQRSTVWY"), np.full(20, 0.05))
    assert joint.sum() == pytest.approx(1.0) and pairs == PROTEIN_PAIRS
    assert (np.diag(joint) > joint.mean()).all()
    joint, pairs = _expected(("x", "y"), np.array([0.25, 0.75]))
    assert joint.sum() == pytest.approx(1.0) and pairs == 2.0
    assert joint[0, 1] == joint[1, 0] < 0.25 * 0.75


def test_mentions_are_numbered_from_one():
    X = [np.ones((3, 3, 1))]
    drawn = CoreferenceSVM()._draw(X[0], [0, 0, 1])
    assert "mention 1" in drawn and "mention 3" in drawn and "mention 4" not in drawn


def test_labels_of_two_letters_may_be_alike():
    with pytest.warns(UserWarning, match="'NN' and 'nn' differ in case"):
        warn_if_alike(["NN", "nn"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_alike(["N", "n", 3, "NN", "VB"])


def test_the_seed_of_joint_kernels_is_that_of_the_estimator():
    """Sequential dual ascent visits examples in random order."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3)) for _ in range(8)]
    owner, w = SearchedKnapsack(), rng.normal(size=3)
    y = [max(owner.choices(x), key=lambda z: owner.joint_feature(x, z) @ w) for x in X]
    duals = []
    for seed in (0, 0, 1):
        model = StructuralSVM(
            SearchedKnapsack(),
            C=1.0,
            kernel="rbf",
            solver="sdm",
            max_iter=1,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            duals.append(model.fit(X, y).result_.dual)
    assert duals[0] == duals[1] != duals[2]


def test_support_structures_of_label_sets():
    X = np.array([[1.0, 0.0], [0.0, 1.0]] * 4)
    y = np.array([[1, 0], [0, 1]] * 4)
    model = MultilabelSVM(C=1.0).fit(X, y)
    found = model.support_structures(0, X, y)
    assert found.rows and {row.example for row in found.rows} <= set(range(8))
    assert found.weight == pytest.approx(sum(row.adds for row in found.rows))


def test_defaults_that_are_switches():
    search = PathCV(ChainSVM()).get_params(deep=False)
    assert (search["cv"], search["patience"]) == (1, 1)
    motif = MotifSVM().get_params()
    assert (motif["both_strands"], motif["warm_start"]) == (False, False)
