"""Labels of every type: what is learned is the same, and so is what comes back."""

import pickle

import numpy as np
import pytest
from small import models as small

from maxmargin import ChainSVM, KernelSVM, MotifSVM, MulticlassSVM, MultilabelSVM

pd = pytest.importorskip("pandas")
X, NUMBERS = small.points()
LETTERS = np.array(["a", "b", "c"])
NAMES = LETTERS[NUMBERS]
TYPES = {
    "int8": NUMBERS.astype(np.int8),
    "list": NUMBERS.tolist(),
    "negative": NUMBERS - 5,
    "float": NUMBERS.astype(float),
    "larger than a float can hold": NUMBERS + 2**60,
    "strings": NAMES,
    "objects": NAMES.astype(object),
    "StringDType": NAMES.astype(np.dtypes.StringDType()),
    "pandas string": pd.Series(NAMES, dtype="string"),
    "pandas category": pd.Series(NAMES).astype("category"),
    "categories in another order": pd.Categorical(
        NAMES, categories=["c", "b", "a", "d"]
    ),
    "pandas Int64": pd.Series(NUMBERS, dtype="Int64", index=range(30)[::-1]),
    "pandas UInt8": pd.Series(NUMBERS, dtype="UInt8"),
}


def polars_labels(kind):
    polars = pytest.importorskip("polars")
    series = polars.Series(NAMES.tolist())
    return series.cast(polars.Enum(["c", "b", "a"])) if kind == "Enum" else series


@pytest.mark.parametrize("made", [MulticlassSVM, KernelSVM])
@pytest.mark.parametrize("name", [*TYPES, "polars", "polars Enum"])
def test_the_type_of_labels_does_not_matter(made, name, tmp_path):
    y = polars_labels(name.split()[-1]) if name.startswith("polars") else TYPES[name]
    plain, model = made(tol=1e-4).fit(X, NUMBERS), made(tol=1e-4).fit(X, y)
    assert model.result_.primal == plain.result_.primal
    found = model.predict(X)
    place = np.searchsorted(model.classes_, found)
    assert place.tolist() == plain.predict(X).tolist()
    assert model.score(X, y) == plain.score(X, NUMBERS) > 0.9
    one = list(y)[0]  # noqa: RUF015
    plain_type = type(one.item()) if isinstance(one, np.generic) else type(one)
    assert {type(v) for v in found.tolist()} == {plain_type}
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == found.tolist()
    path = tmp_path / "model.mm"
    model.save(path)
    assert made.load(path).predict(X).tolist() == found.tolist()


def test_yes_and_no():
    y = NUMBERS > 0
    for labels in (y, y.tolist(), list(y), pd.Series(y, dtype="boolean")):
        model = MulticlassSVM().fit(X, labels)
        assert model.classes_.dtype == bool
        assert model.predict(X).tolist() == y.tolist()
    motifs = ["ACGTACGT", "GGGGTTTT", "ACGTTTTT", "CCCCGGGG"]
    for labels in ([True, False, True, False], [1, -1, 1, -1]):
        model = MotifSVM(length=3, C=1.0).fit(motifs, labels)
        assert model.predict(motifs).tolist() == labels


@pytest.mark.parametrize("name", TYPES)
def test_sequences_of_labels(name):
    y = list(TYPES[name])
    rows = [y[i : i + 5] for i in range(0, 30, 5)]
    words = [[[f"w{v}"] for v in row] for row in np.split(NUMBERS, 6)]
    model = ChainSVM(C=1.0).fit(words, rows)
    assert [list(row) for row in model.predict(words)] == rows
    assert model.score(words, rows) == 1.0


def test_two_columns_of_one_name_are_refused():
    table = pd.DataFrame(np.eye(3, dtype=int)[NUMBERS], columns=["u", "u", "v"])
    with pytest.raises(ValueError, match="y has two columns 'u': give each label one"):
        MultilabelSVM().fit(X, table)


def test_weights_of_a_score():
    model = MulticlassSVM(C=1e-3).fit(X, NUMBERS)
    weight = np.arange(30.0)
    y = np.where(np.arange(30) < 10, 7, NUMBERS)  # ten labels that are not known
    right = model.predict(X) == y
    assert model.score(X, y, sample_weight=weight) == pytest.approx(
        weight[right].sum() / weight.sum()
    )
    for wrong in (-weight, weight * np.nan, weight[:5], np.zeros(30), weight + 1j):
        with pytest.raises(ValueError, match="weight"):
            model.score(X, NUMBERS, sample_weight=wrong)


@pytest.mark.parametrize("weight", [True, "2", None, np.nan])
def test_class_weights_are_numbers(weight):
    with pytest.raises(ValueError, match="class_weight="):
        MulticlassSVM(class_weight={0: weight}).fit(X, NUMBERS)
