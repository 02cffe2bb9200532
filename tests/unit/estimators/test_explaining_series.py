"""True outputs as pandas series: places count, not the numbers of an index."""

import numpy as np
import pytest
from small.models import MODELS

pd = pytest.importorskip("pandas")


def backwards(labels):
    """A series whose index counts down."""
    return pd.Series(list(labels), index=np.arange(len(labels))[::-1])


@pytest.mark.parametrize(
    "name", ["multiclass", "chain", "segment", "network", "coreference", "ranking"]
)
def test_reports_are_the_same(tmp_path, name):
    model, X = MODELS[name]()
    if name == "ranking":
        y = [(x[:, 0] > 0.5).astype(int) for x in X]
    else:
        y = model.predict(X)
    single = name == "multiclass"
    indexed = backwards(y) if single else [backwards(row) for row in y]
    for file, outputs in (("plain", y), ("indexed", indexed)):
        model.report(tmp_path / file, X, outputs, title="same")
    plain = (tmp_path / "plain").read_text(encoding="utf8")
    assert (tmp_path / "indexed").read_text(encoding="utf8") == plain
    assert model.score(X, indexed) == model.score(X, y)
    assert [case.example for case in model.hardest(X, indexed)] == [
        case.example for case in model.hardest(X, y)
    ]


def test_drawings_are_the_same():
    model, X = MODELS["chain"]()
    wrong = [model.classes_[0]] * len(X[0])
    plain = model.draw(X[0], truth=wrong)
    assert model.draw(X[0], truth=backwards(wrong)).html == plain.html
    unlike = [*wrong[:-1], model.classes_[1]]
    assert (
        model.draw(X[0], truth=backwards(unlike)).html
        == model.draw(X[0], truth=unlike).html
        != plain.html
    )


def test_measures_are_the_same():
    from maxmargin.metrics import span_f1, span_scores, token_error

    y = [["B-A", "I-A", "O"], ["O", "B-B"]]
    found = [["B-A", "O", "O"], ["O", "B-B"]]
    for measure in (token_error, span_f1, span_scores):
        assert measure([backwards(r) for r in y], found) == measure(y, found)
        assert measure(y, [backwards(r) for r in found]) == measure(y, found)
