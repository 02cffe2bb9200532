"""Mistakes that anyone can make, with every estimator: one sentence, no raw error."""

import traceback

import numpy as np
import pytest
from contracts.test_estimator_table import CASES, case, fitted, quiet
from sklearn.base import clone

ODD = {"text": "zzz", "list": [], "none": None, "part": 1.5, "nan": float("nan")}
# Whose message is about what is missing, not about the parameter.
NAMED_OTHERWISE = {
    ("SegmentSVM", "words"),
    ("ChainSVM", "features"),
    ("SegmentSVM", "features"),
}
# Left alone: what is given there means something else.
SKIPPED = {  # these are legal
    ("MotifSVM", "text in X"), ("RankingSVM", "y[0] empty"),
    ("MultilabelSVM", "y[0] empty"),
}  # fmt: skip


def sentence(call):
    """The message of a refusal that a line of ours raises; None if nothing is refused."""
    try:
        quiet(call)
    except (ValueError, TypeError) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raised = (where.line or "").startswith("raise")
        assert raised, f"{type(error).__name__} at {where.filename}: {error}"
        assert str(error)
        return str(error)
    return None


@pytest.mark.parametrize("name", CASES)
def test_of_data(name):
    model, X, y = case(name)
    X, y = list(X), list(y)
    tries = {
        "no X": (None, y), "no y": (X, None), "a number as X": (3, y),
        "a number as y": (X, 3), "None in X": ([None, *X[1:]], y),
        "a number in X": ([3.5, *X[1:]], y), "text in X": (["abc", *X[1:]], y),
        "a dict in X": ([{"a": 1}, *X[1:]], y), "X[0] empty": ([[], *X[1:]], y),
        "an object in y": (X, [object(), *y[1:]]), "y[0] nan": (X, [np.nan, *y[1:]]),
        "y[0] empty": (X, [[], *y[1:]]), "one text as y": (X, "x" * len(X)),
        "a set as y": (X, set(map(str, y))), "nothing": ([], []),
    }  # fmt: skip
    for what, (data, truth) in tries.items():
        if (name, what) in SKIPPED:
            continue
        said = sentence(lambda d=data, t=truth: clone(model).fit(d, t))
        assert said is not None, what
    for weight, said in {
        "abc": "sample_weight='abc'", -1.0: "not negative", np.nan: "finite",
        0.0: "weight",
    }.items():  # fmt: skip
        given = weight if isinstance(weight, str) else np.full(len(y), weight)
        found = sentence(lambda g=given: clone(model).fit(X, y, sample_weight=g))
        assert found is not None and said in found


@pytest.mark.parametrize("name", sorted(set(CASES) - {"MultilabelSVM"}))
@pytest.mark.parametrize(
    "make", [set, dict.fromkeys, iter], ids=["set", "dict", "iter"]
)
def test_an_output_without_an_order(name, make):
    """Of a set or the keys of a dict nobody knows which belongs to which token."""
    model, X, y = case(name)
    size = len(y[0]) if hasattr(y[0], "__len__") else 3
    said = sentence(lambda: clone(model).fit(X, [make(range(size)), *list(y)[1:]]))
    assert said is not None


@pytest.mark.parametrize("name", CASES)
def test_of_parameters(name, tmp_path, monkeypatch):
    """Whatever a parameter is: it works, or the message names it."""
    monkeypatch.chdir(tmp_path)  # checkpoint="zzz" is a file
    model, X, y = case(name)
    for parameter in sorted(model.get_params(deep=False)):
        for value in ODD.values():
            steps = {"max_iter": 2} | {parameter: value}
            try:
                said = sentence(lambda s=steps: clone(model).set_params(**s).fit(X, y))
            except MemoryError as error:  # of a byte and a half
                assert "allowed" in str(error)
                said = None
            named = said is None or parameter in said.replace(" ", "_")
            assert named or (name, parameter) in NAMED_OTHERWISE, (parameter, said)


NOT_USED = {  # parameters that none of these values may be given to, by estimator
    "GrammarSVM": "tagger", "NetworkSVM": "cliques", "CoreferenceSVM": "features",
    "CorrelationSVM": "features", "StructuralSVM": "init", "MotifSVM": "positive",
}  # fmt: skip


UNUSED = [  # refused although these fits do not need them
    ("KernelSVM", "coef0"), ("AlignmentSVM", "end_gaps"), ("ChainSVM", "eta"),
    ("MulticlassSVM", "calibration"), ("RankingSVM", "init_C"), ("MotifSVM", "sweeps"),
    *((n, "kernel_method") for n in (
        "MulticlassSVM", "ChainSVM", "GrammarSVM", "NetworkSVM", "AlignmentSVM",
    )),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameter"), UNUSED)
def test_of_parameters_without_a_use(name, parameter):
    model, X, y = case(name)
    negative = [] if parameter == "coef0" else [-3]
    for value in ("zzz", [], float("nan"), None, *negative):
        said = sentence(
            lambda v=value: clone(model).set_params(**{parameter: v}).fit(X, y)
        )
        assert said is not None and said.startswith(parameter), (value, said)


@pytest.mark.parametrize(("name", "parameter"), NOT_USED.items())
def test_nothing_is_accepted_that_has_no_use(name, parameter):
    model, X, y = case(name)
    for value in ("zzz", [], 1.5, float("nan")):
        said = sentence(
            lambda v=value: clone(model).set_params(**{parameter: v}).fit(X, y)
        )
        assert said is not None and parameter in said, (value, said)


@pytest.mark.parametrize("name", CASES)
def test_of_prediction(name):
    model, X, y = fitted(name), list(case(name).X), list(case(name).y)
    for data in (None, 3, [3], [None], [{"q": 1}]):
        for method in ("predict", "decision_function", "predict_nbest"):
            if hasattr(model, method):
                said = sentence(lambda m=method, d=data: getattr(model, m)(d))
                assert said is not None, (method, data)
        assert sentence(lambda d=data: model.score(d, y[:1])) is not None, data
    assert sentence(lambda: model.score(X, y[:-1])) is not None
    assert sentence(lambda: model.score(X, None)) is not None
    for Cs in (["a"], [], [-1.0], None):
        assert "penalties" in sentence(lambda c=Cs: clone(model).fit_path(X, y, c))


@pytest.mark.parametrize(
    "name", ["ChainSVM", "SegmentSVM", "GrammarSVM", "DependencySVM"]
)
def test_a_set_has_no_order(name):
    model, X, y = case(name)
    words = {("the", "DT"), ("cat", "NN"), ("sat", "VBD")}
    assert sentence(lambda: fitted(name).predict([words])) is not None
    assert sentence(lambda: clone(model).fit([words, *X[1:]], y)) is not None
