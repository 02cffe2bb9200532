"""The test cases of the official scorer: keys, responses and what it computes.

Cases and figures are those that the reference scorers of CoNLL are tested with (TC-A-1 to
TC-N-6, github.com/conll/reference-coreference-scorers). A letter is a mention; capitals
are other mentions than small letters.
"""

import pytest

from maxmargin.metrics import coreference_scores, entities_of
from maxmargin.metrics.clusters import ceaf_counts

ABC = "a bc def"
CASES = {
    # key, response, {measure: (recall, precision)}
    "A1": (ABC, ABC, {m: (1, 1) for m in ("muc", "b_cubed", "ceaf_m", "ceaf_e", "lea")}),
    "A2": (ABC, "a de", {
        "muc": (1 / 3, 1), "b_cubed": (7 / 18, 1), "ceaf_m": (0.5, 1),
        "ceaf_e": (0.6, 0.9), "lea": (2 / 6, 1)}),
    "A3": (ABC, "a bcx defy z", {
        "muc": (1, 3 / 5), "b_cubed": (1, 55 / 108), "ceaf_m": (1, 6 / 9),
        "ceaf_e": (0.88571, 0.66429), "lea": (1, 4 / 9)}),
    "A4": (ABC, "a bcx dy z", {
        "muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42), "ceaf_m": (4 / 6, 4 / 7),
        "ceaf_e": (0.73333, 0.55), "lea": (0.5, 2 / 7)}),
    "A5": (ABC, "a bcxB dy z", {
        "muc": (1 / 3, 1 / 4), "b_cubed": (5 / 9, 5 / 16), "ceaf_m": (4 / 6, 0.5),
        "ceaf_e": (0.68889, 0.51667), "lea": (0.5, (1 + 4 / 6) / 8)}),
    "A6": (ABC, "a bcx dy Bz", {
        "muc": (1 / 3, 1 / 4), "b_cubed": (5 / 9, 17 / 48), "ceaf_m": (4 / 6, 0.5),
        "ceaf_e": (0.73333, 0.55), "lea": (0.5, 0.25)}),
    "A7": (ABC, "a bcxb dy z", {
        "muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42), "ceaf_m": (4 / 6, 4 / 7),
        "ceaf_e": (0.73333, 0.55)}),
    "A8": (ABC, "a bcx dy bz", {
        "muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42), "ceaf_m": (4 / 6, 4 / 7),
        "ceaf_e": (0.73333, 0.55)}),
    "A9": (ABC, "a bcx dy bbbbbbbbbbz", {
        "muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42), "ceaf_m": (4 / 6, 4 / 7),
        "ceaf_e": (0.73333, 0.55)}),
    "A10": (ABC, "a b c d e f", {
        "muc": (0, 0), "b_cubed": (3 / 6, 1), "lea": (1 / 6, 1 / 6)}),
    "A11": (ABC, "abcdef", {
        "muc": (1, 3 / 5), "b_cubed": (1, 7 / 18), "lea": (5 / 6, 4 / 15)}),
    "A12": (ABC, "a x y c d e z", {
        "muc": (0, 0), "b_cubed": (13 / 36, 4 / 7), "lea": (1 / 6, 1 / 7)}),
    "A13": (ABC, "axycdez", {
        "muc": (1 / 3, 1 / 6), "b_cubed": (17 / 36, 6 / 49), "lea": (1 / 6, 1 / 21)}),
    "B1": ("ab cde", "bcx de", {"lea": (1 / 5, 2 / 5)}),
    "C1": ("ab cde fg", "bcx de fg", {"lea": (3 / 7, 4 / 7)}),
    "D1": ("12345 67 89ABC", "12345 6789ABC", {
        "muc": (1, 9 / 10), "b_cubed": (1, 16 / 21), "lea": (1, (5 + 7 * 11 / 21) / 12)}),
    "E1": ("12345 67 89ABC", "1234589ABC 67", {
        "muc": (1, 9 / 10), "b_cubed": (1, 7 / 12), "lea": (1, (10 * 20 / 45 + 2) / 12)}),
    "F1": ("ABCD", "AB CD", {"muc": (2 / 3, 1), "lea": (2 / 6, 1)}),
    "G1": ("AB CD", "ABCD", {"muc": (1, 2 / 3), "lea": (1, 2 / 6)}),
    "J1": ("ABC", "AC", {"muc": (1 / 2, 1), "lea": (1 / 3, 1)}),
    "K1": ("BCDEGHJ", "ABC DEF GHI", {"muc": (3 / 6, 3 / 6), "lea": (3 / 21, 3 / 9)}),
    "L1": ("ABC DEFG", "AB CD FGH", {
        "muc": (2 / 5, 2 / 4), "lea": ((1 + 4 / 6) / 7, 3 / 7)}),
    "M2": ("abcdef", "a b c d e f", {"muc": (0, 0), "lea": (0, 0)}),
    "N1": ("a b c d e f", "a b c d e f", {
        "muc": (0, 0), "b_cubed": (1, 1), "ceaf_m": (1, 1), "ceaf_e": (1, 1),
        "lea": (1, 1)}),
    "N4": ("a b c d e f", "a b c x y z", {"muc": (0, 0), "lea": (0.5, 0.5)}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_scores_are_those_of_the_official_scorer(name):
    key, response, expected = CASES[name]
    scores = coreference_scores([key.split()], [response.split()])
    for measure, (recall, precision) in expected.items():
        found = getattr(scores, measure)
        assert found.recall == pytest.approx(recall, abs=5e-6), measure
        assert found.precision == pytest.approx(precision, abs=5e-6), measure
        both = recall + precision
        f1 = 2 * recall * precision / both if both else 0.0
        assert found.f1 == pytest.approx(f1, abs=1e-5), measure


def test_the_conll_score_is_a_mean_and_documents_add_up():
    key, response, _ = CASES["A4"]
    one = coreference_scores([key.split()], [response.split()])
    assert one.conll == pytest.approx((one.muc.f1 + one.b_cubed.f1 + one.ceaf_e.f1) / 3)
    two = coreference_scores([key.split()] * 2, [response.split()] * 2)
    assert two.conll == pytest.approx(one.conll)
    assert two.ceaf_e == pytest.approx(one.ceaf_e)
    assert one.mentions.recall == 4 / 6 and one.mentions.precision == 4 / 7


def test_singletons_may_be_left_out():
    scores = coreference_scores([["a", "bc"]], [["x", "bc"]], singletons=False)
    assert scores.b_cubed == scores.ceaf_e == (1.0, 1.0, 1.0)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="document 0: a mention of the key is in two"):
        coreference_scores([["ab", "bc"]], [["ab"]])
    with pytest.raises(ValueError, match="1 keys, but 0 responses"):
        coreference_scores([["ab"]], [])
    assert entities_of("abc", [1, 0, 1]) == [["a", "c"], ["b"]]


def test_ceaf_of_clusters_by_hand():
    """{0, 1}, {2, 3, 4} against {0, 1, 2}, {3, 4}: two pairs that share two mentions."""
    truth, found = [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]
    assert ceaf_counts(truth, found) == pytest.approx((1.6, 2.0, 1.6, 2.0))
    assert ceaf_counts(truth, found, entities=False) == (4.0, 5.0, 4.0, 5.0)
