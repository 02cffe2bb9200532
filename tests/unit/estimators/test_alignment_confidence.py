"""The n best alignments, and how sure each column is."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from maxmargin import AlignmentSVM, load, save

LETTERS = "ACDEFGHIKL"


def related(n, seed, size=25):
    """Pairs that differ by substitutions and deletions, and their alignments."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        s = rng.choice(list(LETTERS), size)
        t = np.where(rng.random(size) < 0.4, rng.choice(list(LETTERS), size), s)
        kept = np.ones(size, bool)
        kept[(a := int(rng.integers(0, size - 4))) : a + 3] = False
        X.append(("".join(s), "".join(t[kept])))
        columns = np.stack(
            [np.arange(size), np.where(kept, np.cumsum(kept) - 1, -1)], 1
        )
        y.append(columns)
    return X, y


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_nbest_begins_with_the_prediction_and_has_distinct_alignments(mode):
    X, y = related(6, 0)
    model = AlignmentSVM(C=10.0, mode=mode).fit(X, y)
    for best, several in zip(
        model.predict(X), model.predict_nbest(X, k=4), strict=True
    ):
        assert several[0][0].tolist() == best.tolist()
        scores = [score for _, score in several]
        assert scores == sorted(scores, reverse=True)
        assert len({columns.tobytes() for columns, _ in several}) == len(several) == 4
    first = [several[0][1] for several in model.predict_nbest(X, k=1)]
    assert first == pytest.approx(model.alignment_scores(X))


def test_confidence_is_the_share_of_right_columns():
    model = AlignmentSVM(C=10.0).fit(*related(40, 1))
    with pytest.raises(NotFittedError, match="calibrate"):
        model.predict_confidence([("ACD", "ACD")])
    model.calibrate(*related(40, 2))
    X, y = related(60, 3)
    sure, right = [], []
    for found, truth, share in zip(
        model.predict(X), y, model.predict_confidence(X), strict=True
    ):
        assert len(share) == len(found) and (share >= 0).all() and (share <= 1).all()
        true = {tuple(pair) for pair in truth.tolist()}
        right += [tuple(pair) in true for pair in found.tolist()]
        sure += share.tolist()
    sure, right = np.array(sure), np.array(right, float)
    # Calibrated as a whole, and higher where it is right.
    assert abs(sure.mean() - right.mean()) < 0.04
    assert sure[right == 1].mean() > sure[right == 0].mean() + 0.2


def test_confidence_by_folds_and_after_loading(tmp_path):
    X, y = related(12, 4)
    model = AlignmentSVM(C=10.0).fit(X, y).calibrate(X, y, cv=3)
    save(model, tmp_path / "m.mm")
    again = load(tmp_path / "m.mm")
    assert again.column_temperature_ == model.column_temperature_
    for one, other in zip(
        model.predict_confidence(X), again.predict_confidence(X), strict=True
    ):
        assert np.array_equal(one, other)
