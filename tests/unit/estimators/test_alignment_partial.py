"""Alignments of which only some columns are known."""

import numpy as np
import pytest

from maxmargin import AlignmentSVM
from maxmargin.estimators import complete_alignments

X = [("HEAGAWGHEE", "HEAWGHEE"), ("MKVLAAGIVG", "MKVAGIVGL"), ("HEAGAW", "EAAW")]
WHOLE = [
    ("HEAGAWGHEE", "HEA--WGHEE"),
    ("MKVLAAGIVG-", "MKV--AGIVGL"),
    ("HEAGAW", "-EA-AW"),
]


def columns(rows):
    out, at = [], [0, 0]
    for letters in zip(*rows, strict=True):
        out.append([at[s] if v != "-" else -1 for s, v in enumerate(letters)])
        at = [a + (v != "-") for a, v in zip(at, letters, strict=True)]
    return np.array(out)


def test_whole_alignments_stay_as_they_are():
    y = [columns(rows) for rows in WHOLE]
    for found, true in zip(complete_alignments(X, y), y, strict=True):
        assert sorted(map(tuple, found)) == sorted(map(tuple, true))
    model = AlignmentSVM(C=10.0).fit(X, y)
    again = AlignmentSVM(C=10.0).fit(X, complete_alignments(X, y))
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_known_columns_are_kept_and_the_rest_is_aligned():
    rng = np.random.default_rng(0)
    y = [columns(rows) for rows in WHOLE]
    for _ in range(10):
        partial = [c[np.sort(rng.permutation(len(c))[:3])] for c in y]
        full = complete_alignments(X, partial)
        model = AlignmentSVM(C=10.0).fit(X, full)
        for c, k, (a, b) in zip(
            complete_alignments(X, partial, model), partial, X, strict=True
        ):
            assert set(map(tuple, k)) <= set(map(tuple, c.tolist()))
            assert c[c[:, 0] >= 0, 0].tolist() == list(range(len(a)))
            assert c[c[:, 1] >= 0, 1].tolist() == list(range(len(b)))


def test_what_is_known_matters():
    """A wrong column is kept, although a better one is there."""
    found = complete_alignments([("ACDEFG", "ACDEFG")], [[(2, 3)]])[0].tolist()
    assert [2, 3] in found and [2, 2] not in found
    free = complete_alignments([("ACDEFG", "ACDEFG")], [np.empty((0, 2), int)])[0]
    assert free.tolist() == [[k, k] for k in range(6)]


def test_other_letters_and_tracks():
    found = complete_alignments([("acgtacgt", "acacgt")], [[(0, 0)]])[0]
    assert found.tolist()[-4:] == [[4, 2], [5, 3], [6, 4], [7, 5]]
    pair = [{"residue": a, "e": np.ones((len(a), 1)), "name": "x"} for a in X[0]]
    one = complete_alignments([pair], [[(2, 2)]])[0]
    np.testing.assert_array_equal(one, complete_alignments(X[:1], [[(2, 2)]])[0])
    with pytest.raises(ValueError, match="no track 'residue'"):
        complete_alignments([({"ss": "HHE"}, {"ss": "HE"})], [[(0, 0)]])


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ([(2, 2), (1, 3)], r"pair 0, column 1: position 1 of the first sequence"),
        ([(2, 2), (3, 2)], "position 2 of the second sequence follows 2"),
        ([(2, 20)], "position 20 is beyond the second sequence, which has 8"),
        ([(2, 2), (-1, -1)], "column 1: a gap stands against a gap"),
    ],
)
def test_columns_that_cannot_be_are_named(known, said):
    with pytest.raises(ValueError, match=said):
        complete_alignments(X[:1], [known])


def test_the_way_there_is_in_the_message():
    with pytest.raises(ValueError, match="complete_alignments"):
        AlignmentSVM().fit(X[:1], [np.array([[2, 2], [3, 3]])])
    with pytest.raises(ValueError, match="3 pairs, but y has 1"):
        complete_alignments(X, [[(0, 0)]])
