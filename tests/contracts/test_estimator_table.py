"""Every estimator with every feature: it works, or it refuses with one good sentence.

`REFUSED` is the only list of what is not there; all else must work, and give the right
answer where that can be told. ``python tests/contracts/test_estimator_table.py`` prints the
table.
"""

import inspect
import io
import pickle
import re
import sys
import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from small import models as small

import maxmargin as mm
from maxmargin.estimators import CorrelationSVM
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.structures import Matching

pd = pytest.importorskip("pandas")


class Case(NamedTuple):
    """An estimator that is not fitted, and data."""

    make: Any
    X: Any
    y: Any


def labelled_graphs():
    X, y = small.graphs()
    return X * 2, y * 2


def queries():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(8, 3)).round(6) for _ in range(8)]
    return X, [(x[:, 0] > 0.2).astype(int).tolist() for x in X]


def matchings():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3, 2)).round(6) for _ in range(8)]
    worth = [x @ np.array([1.0, -0.5]) for x in X]
    return X, [linear_sum_assignment(-t)[1].tolist() for t in worth]


def trees():
    X, y = [], []
    for noun in ("cat", "dog", "cow", "fox") * 2:
        X.append([("the", "DT"), (noun, "NN"), ("sat", "VBD")])
        noun_phrase = ("NP", ("DT", "the"), ("NN", noun))
        y.append(("S", noun_phrase, ("VP", ("VBD", "sat"))))
    return X, y


def parses():
    X, y = small.parsed_sentences()
    return X * 2, y * 2


def searches():
    X = [("HEAGAW", ["PPPP", "HEAAW"]), ("GHEEPA", ["GHEPA", "WWLL"])] * 4
    y = [(1, ("HEAGAW", "HEA-AW")), (0, ("GHEEPA", "GHE-PA"))] * 4
    return X, y


def sentences():
    X, y = small.sentences()
    return X * 4, y * 4


def spans():
    X, y = sentences()
    names = {"P": "B-PER", "L": "B-LOC"}
    return X, [[names.get(label, label) for label in row] for row in y]


def motifs():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    return X * 2, [1, 1, 1, 0, 0, 0] * 2


def label_sets():
    X, y = small.points()
    return X, np.eye(3, dtype=int)[y] | np.eye(3, dtype=int)[0]


def documents():
    X, y = small.documents()
    return X * 2, y * 2


CASES = {
    "MulticlassSVM": lambda: Case(mm.MulticlassSVM(), *small.points()),
    "MulticlassSVM(kernel)": lambda: Case(
        mm.MulticlassSVM(kernel="rbf"), *small.points()
    ),
    "KernelSVM": lambda: Case(mm.KernelSVM(), *small.points()),
    "KernelSVM(cpsp)": lambda: Case(
        mm.KernelSVM(kernel_method="cpsp", n_basis=4), *small.points()
    ),
    "MultilabelSVM": lambda: Case(mm.MultilabelSVM(C=1.0), *label_sets()),
    "ChainSVM": lambda: Case(mm.ChainSVM(C=1.0), *sentences()),
    "SegmentSVM": lambda: Case(mm.SegmentSVM(C=1.0, words="w"), *spans()),
    "GrammarSVM": lambda: Case(mm.GrammarSVM(C=1.0), *trees()),
    "DependencySVM": lambda: Case(mm.DependencySVM(C=1.0, rare=0), *parses()),
    "AlignmentSVM": lambda: Case(
        mm.AlignmentSVM(C=10.0), small.PAIRS * 4, small.ALIGNED * 4
    ),
    "AlignmentSVM(cpsp)": lambda: Case(
        mm.AlignmentSVM(C=10.0, kernel="rbf", kernel_method="cpsp", n_basis=4),
        small.PAIRS * 4,
        small.ALIGNED * 4,
    ),
    "HomologySVM": lambda: Case(mm.HomologySVM(C=10.0), *searches()),
    "NetworkSVM": lambda: Case(mm.NetworkSVM(C=1.0), *labelled_graphs()),
    "MotifSVM": lambda: Case(mm.MotifSVM(length=4, order=0, C=1.0), *motifs()),
    "RankingSVM": lambda: Case(mm.RankingSVM(k=3), *queries()),
    "CoreferenceSVM": lambda: Case(mm.CoreferenceSVM(C=0.5), *documents()),
    "CorrelationSVM": lambda: Case(CorrelationSVM(C=0.5, tol=0.05), *documents()),
    "StructuralSVM": lambda: Case(mm.StructuralSVM(Matching(), C=1.0), *matchings()),
}
TABLES = ("MulticlassSVM", "MulticlassSVM(kernel)", "KernelSVM", "KernelSVM(cpsp)")
MATRICES = (*TABLES, "MultilabelSVM")  # X is a table
HIDDEN = ("MotifSVM", "RankingSVM", "CoreferenceSVM", "HomologySVM")
KERNELS = TABLES[1:]
PURSUITS = ("KernelSVM(cpsp)", "AlignmentSVM(cpsp)")
# Its score is minus the mean number of wrong pairs, of three; guessing gets -2.
LEAST = {"StructuralSVM": -0.25}


@cache
def case(name):
    return CASES[name]()


@cache
def fitted(name):
    model, X, y = case(name)
    return quiet(clone(model).fit, X, y)


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The least populated class")
        return function(*args, **kwargs)


def same(a, b):
    def equal(p, q):
        return np.array_equal(p, q) if isinstance(p, np.ndarray) else bool(p == q)

    return len(a) == len(b) and all(map(equal, a, b))


def fit(name, tmp_path):
    result = fitted(name).result_
    assert result.converged and np.isfinite(result.primal)
    assert (result.certificate == "local") == (name in HIDDEN)
    assert result.meaning() in ("",) or len(result.meaning()) > 20


def predict(name, tmp_path):
    model, X, y = fitted(name), *case(name)[1:]
    found = model.predict(X)
    assert len(found) == len(y) and same(found, model.predict(X))


def score(name, tmp_path):
    _, X, y = case(name)
    assert fitted(name).score(X, y) >= LEAST.get(name, 0.8)


def defaults(name, tmp_path):
    """The default of C learns something, without a warning about its scale."""
    model, X, y = case(name)
    C = inspect.signature(type(model)).parameters["C"].default
    plain = clone(model).set_params(C=C)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        plain.fit(X, y)
    assert plain.score(X, y) >= LEAST.get(name, 0.8)
    assert not [w for w in said if issubclass(w.category, ConvergenceWarning)]


def partial_fit(name, tmp_path):
    """Goes on from the model, also from one that was fitted or loaded."""
    model, X, y = case(name)
    new = clone(model)
    if not hasattr(new, "partial_fit"):
        try:
            new._can_stream()
        except AttributeError as error:
            raise ValueError(str(error)) from None
    quiet(new.partial_fit, X[:6], y[:6])
    quiet(new.partial_fit, X[6:], y[6:])
    went_on = pickle.loads(pickle.dumps(fitted(name)))
    before = went_on.score(X, y)
    quiet(went_on.partial_fit, X[:2], y[:2])
    assert went_on.score(X, y) >= before - (0.25 if name == "StructuralSVM" else 0.1)
    assert went_on.result_.certificate in ("reduced", "relaxed", "bound")


def fit_path(name, tmp_path):
    model, X, y = case(name)
    low, high = quiet(clone(model).fit_path, X, y, [model.C / 10, model.C])
    assert low.dual <= high.primal
    cold = fitted(name).result_.primal
    if name not in (*HIDDEN, *PURSUITS):
        assert abs(high.primal - cold) <= 2 * model.tol * cold


def path_cv(name, tmp_path):
    model, X, y = case(name)
    order = np.random.default_rng(1).permutation(len(y))
    search = mm.PathCV(clone(model), Cs=[model.C / 10, model.C], cv=2)
    plain = quiet(search.fit, X, y).scores_
    series = series_of(y, order)
    assert quiet(clone(search).fit, X, series).scores_ == plain
    assert len(search.predict(X)) == len(y)


def warm_start(name, tmp_path):
    model, X, y = case(name)
    warm = quiet(clone(model).set_params(warm_start=True).fit, X, y)
    first = warm.result_
    quiet(warm.fit, X, y)
    if name not in PURSUITS:  # which goes on building its basis
        assert warm.result_.iterations <= first.iterations
    assert abs(warm.result_.primal - first.primal) <= 0.05 * abs(first.primal)


def checkpoint(name, tmp_path):
    model, X, y = case(name)
    path = tmp_path / "run.ck"
    short = clone(model).set_params(
        max_iter=1, checkpoint=mm.Checkpoint(path, every=0.0)
    )
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        short.fit(X, y)
    whole = quiet(clone(model).set_params(checkpoint=path).fit, X, y)
    cold = fitted(name).result_.primal
    assert abs(whole.result_.primal - cold) <= 0.05 * abs(cold)
    assert not path.exists()


def save_load(name, tmp_path):
    file = io.BytesIO()
    model, X = fitted(name), case(name).X
    model.save(file)
    again = mm.load(io.BytesIO(file.getvalue()))
    assert same(again.predict(X), model.predict(X))
    assert again.result_.certificate == model.result_.certificate
    with pytest.raises(Exception, match="not fitted"):
        clone(model).save(io.BytesIO())


def pickled(name, tmp_path):
    model, X = fitted(name), case(name).X
    again = pickle.loads(pickle.dumps(model))
    assert same(again.predict(X), model.predict(X))
    assert hasattr(again, "coef_") == hasattr(model, "coef_")
    file = io.BytesIO()
    again.save(file)
    assert same(mm.load(io.BytesIO(file.getvalue())).predict(X), model.predict(X))


def cloned(name, tmp_path):
    new = clone(fitted(name))
    assert not hasattr(new, "result_") and repr(new) == repr(case(name).make)


def callbacks(name, tmp_path):
    model, X, y = case(name)
    rows = []
    quiet(clone(model).set_params(callbacks=rows.append).fit, X, y)
    assert len(rows) >= 1 and rows[-1]["iteration"] == len(rows)
    with pytest.raises(ValueError, match="callbacks='x': a function"):
        clone(model).set_params(callbacks="x").fit(X, y)


def max_time(name, tmp_path):
    model, X, y = case(name)
    short = clone(model).set_params(max_time=0.0, tol=1e-12)
    if hasattr(model, "n_basis"):
        short.set_params(tol=1e-9)
    quiet(short.fit, X, y)
    assert short.result_.iterations <= max(3, fitted(name).result_.iterations)


def ctrl_c(name, tmp_path):
    model, X, y = case(name)

    def interrupt(row):
        raise KeyboardInterrupt

    stopped = clone(model).set_params(callbacks=interrupt)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X, y)
    assert stopped.result_.status.name == "INTERRUPTED"
    assert len(stopped.predict(X)) == len(y)


def sample_weight(name, tmp_path):
    """Weight two is the same as two copies; None is the same as ones."""
    model, X, y = case(name)
    ones = quiet(clone(model).fit, X, y, np.ones(len(y)))
    assert np.isclose(ones.result_.primal, fitted(name).result_.primal, rtol=1e-6)
    twice = quiet(clone(model).fit, X, y, np.full(len(y), 2.0))
    doubled = clone(model).set_params(C=2.0 * model.C)
    assert np.isclose(
        twice.result_.primal, quiet(doubled.fit, X, y).result_.primal, rtol=0.02
    )
    with pytest.raises(ValueError, match="sample_weight has shape"):
        clone(model).fit(X, y, np.ones(len(y) + 1))


def series_of(items, order):
    series = pd.Series(list(items), index=order)
    assert list(series.index) == list(order)
    return series


def pandas_input(name, tmp_path):
    """By position, whatever the index says."""
    model, X, y = case(name)
    order = np.random.default_rng(0).permutation(len(y))
    frame = pd.DataFrame(X, index=order) if name in MATRICES else series_of(X, order)
    if name in MATRICES:
        frame.columns = [f"f{j}" for j in range(frame.shape[1])]
    found = quiet(clone(model).fit, frame, series_of(y, order))
    assert np.isclose(found.result_.primal, fitted(name).result_.primal, rtol=1e-6)
    assert same(found.predict(frame), fitted(name).predict(X))
    assert found.score(frame, series_of(y, order)) == fitted(name).score(X, y)


def polars_input(name, tmp_path):
    pl = pytest.importorskip("polars")
    model, X, y = case(name)
    if name not in MATRICES:
        raise ValueError("polars frames are tables: other inputs are lists")
    frame = pl.DataFrame(X, schema=[f"f{j}" for j in range(np.shape(X)[1])])
    found = quiet(clone(model).fit, frame, pl.Series(y))
    assert same(found.predict(frame), fitted(name).predict(X))


def sparse_input(name, tmp_path):
    model, X, y = case(name)
    if name not in MATRICES:
        clone(model).fit(sp.csr_array(np.eye(len(y))), y)  # one row is no example
    found = quiet(clone(model).fit, sp.csr_array(X), y)
    assert same(found.predict(sp.csr_array(X)), fitted(name).predict(X))


def explain(name, tmp_path):
    model, X = fitted(name), case(name).X
    told = model.explain(X[0])
    assert np.isclose(sum(part.score for part in told.parts), told.score)


def report(name, tmp_path):
    model, X, y = fitted(name), *case(name)[1:]
    model.report(tmp_path / "page.html", X, y)
    text = (tmp_path / "page.html").read_text(encoding="utf8")
    claimed = "no weights have an objective below the dual" in text
    assert claimed == (model.result_.certificate == "exact")


def kernels(name, tmp_path):
    model, X, y = case(name)
    if "kernel" not in model.get_params():
        raise ValueError(f"{type(model).__name__} has no parameter kernel")
    if name == "ChainSVM":
        X = [
            np.eye(3)[: len(row)] if len(row) < 4 else np.ones((len(row), 3))
            for row in X
        ]
    assert quiet(clone(model).set_params(kernel="rbf").fit, X, y).score(X, y) > 0.2


def calibrate(name, tmp_path):
    """Sets of outputs, the same after save and load, and none after a new fit."""
    model, X, y = pickle.loads(pickle.dumps(fitted(name))), *case(name)[1:]
    quiet_of_sets(model.calibrate, X, y)
    if name == "MultilabelSVM":  # of single labels: there are no lists of best sets
        calibrated_labels(model, X, y)
        return
    sets = quiet_of_sets(model.predict_set, X, 0.5)
    assert len(sets) == len(y) and all(len(found) > 0 for found in sets)
    file = io.BytesIO()
    model.save(file)
    again = mm.load(io.BytesIO(file.getvalue()))
    assert repr(quiet_of_sets(again.predict_set, X, 0.5)) == repr(sets)
    quiet(model.fit, X, y)
    with pytest.raises((ValueError, AttributeError), match="calibrat"):
        model.predict_set(X, 0.5)


def calibrated_labels(model, X, y):
    """Probabilities of labels, the same after save and load, none after a new fit."""
    shares = model.predict_proba(X)
    assert shares.shape == (len(y), len(model.classes_))
    assert ((shares >= 0.0) & (shares <= 1.0)).all()
    file = io.BytesIO()
    model.save(file)
    again = mm.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(again.predict_proba(X), shares)
    quiet(model.fit, X, y)
    assert not hasattr(model, "predict_proba")


def quiet_of_sets(function, *args):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(sets hold all|has not shown)")
        return quiet(function, *args)


FEATURES = {
    "fit": fit, "predict": predict, "score": score, "defaults": defaults,
    "partial_fit": partial_fit,
    "fit_path": fit_path, "PathCV": path_cv, "warm_start": warm_start,
    "checkpoint": checkpoint, "save": save_load, "pickle": pickled, "clone": cloned,
    "callbacks": callbacks, "max_time": max_time, "Ctrl-C": ctrl_c,
    "sample_weight": sample_weight, "pandas": pandas_input, "polars": polars_input,
    "sparse": sparse_input, "explain": explain, "report": report, "kernels": kernels,
    "calibrate": calibrate,
}  # fmt: skip

NO_TABLE = "X is one csr_array, not a list of examples"
LISTS = "cannot list the n best outputs"
REFUSED = {
    **{(n, "calibrate"): LISTS for n in (
        "HomologySVM", "MotifSVM", "RankingSVM", "CoreferenceSVM",
        "CorrelationSVM", "StructuralSVM", "NetworkSVM",
    )},
    **{(n, "partial_fit"): "partial_fit is not available for kernels"
       for n in (*KERNELS, "AlignmentSVM(cpsp)")},
    **{(n, "partial_fit"): "not available for outputs with hidden parts" for n in HIDDEN},
    **{(n, "explain"): "about the weights of features: a kernel has none"
       for n in KERNELS},
    **{(n, "checkpoint"): "writes no checkpoints" for n in PURSUITS},
    **{(n, "polars"): "polars frames are tables" for n in CASES if n not in MATRICES},
    **{(n, "sparse"): NO_TABLE for n in CASES if n not in MATRICES},
    **{(n, "kernels"): "has no parameter kernel" for n in (
        "SegmentSVM", "DependencySVM", "HomologySVM", "MotifSVM", "RankingSVM",
        "CoreferenceSVM", "CorrelationSVM", "MultilabelSVM",
    )},
    ("GrammarSVM", "kernels"): "give anchors=",
    ("StructuralSVM", "kernels"): "Matching scores by weights",
}  # fmt: skip


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("name", CASES)
def test_works_or_refuses(name, feature, tmp_path):
    reason = REFUSED.get((name, feature))
    if reason is None:
        FEATURES[feature](name, tmp_path)
        return
    with pytest.raises((ValueError, TypeError)) as refusal:
        FEATURES[feature](name, tmp_path)
    assert re.search(reason, str(refusal.value)), str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_every_estimator_is_in_the_table():
    public = [getattr(mm, name) for name in dir(mm)]
    made = [
        v for v in public if inspect.isclass(v) and issubclass(v, StructuredEstimator)
    ]
    assert set(made) <= {type(case(name).make) for name in CASES}


def table() -> str:
    """The table in Markdown: a tick, or a dash where it is refused."""
    lines = ["| |" + "|".join(FEATURES) + "|", "|---" * (len(FEATURES) + 1) + "|"]
    for name in CASES:
        cells = ["-" if (name, f) in REFUSED else "x" for f in FEATURES]
        lines.append(f"|{name}|" + "|".join(cells) + "|")
    notes = sorted({f"- {n}, {f}: {why}" for (n, f), why in REFUSED.items()})
    return "\n".join([*lines, "", *notes])


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
