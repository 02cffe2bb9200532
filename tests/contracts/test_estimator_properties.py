"""What must not change a model: the layout of arrays, the order of examples, no weight."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from test_estimator_table import CASES, KERNELS, quiet

from maxmargin import ChainSVM
from maxmargin.kernels import Rbf


def chain_case():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)).round(3) for n in (4, 3, 5, 4, 6)]
    return ChainSVM(C=1.0), X, [[int(v > 0) for v in x[:, 0]] for x in X]


def case(name: str) -> Any:
    """An estimator with a tight tolerance, and data."""
    model, X, y = chain_case() if name == "chain of vectors" else CASES[name]()
    return clone(model).set_params(tol=1e-6), X, y


def spread(array):
    """The same numbers, with others between them in memory."""
    wide = np.full([2 * n for n in array.shape], np.nan)
    part = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    part[...] = array
    return part


def read_only(array):
    array = array.copy()
    array.setflags(write=False)
    return array


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "spread": spread,
    "backwards": lambda a: a[::-1].copy()[::-1],
    "read-only": read_only,
    "big-endian": lambda a: a.astype(">f8"),
    "longdouble": lambda a: a.astype(np.longdouble),
    "objects": lambda a: a.astype(object),
}
ARRAYS = (
    "MulticlassSVM", "MulticlassSVM(kernel)", "KernelSVM", "MultilabelSVM", "NetworkSVM",
    "RankingSVM", "StructuralSVM", "chain of vectors",
)  # fmt: skip
CONVEX = (*ARRAYS, "SegmentSVM", "DependencySVM", "AlignmentSVM", "GrammarSVM")


def with_layout(X, change):
    """All arrays of floats in X, at any depth, changed."""
    if isinstance(X, np.ndarray):
        return change(X) if X.dtype.kind == "f" else X
    if isinstance(X, tuple | list):
        return type(X)(with_layout(x, change) for x in X)
    return X


def taken(values, ids):
    return values[ids] if isinstance(values, np.ndarray) else [values[i] for i in ids]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ARRAYS)
def test_the_layout_of_arrays_does_not_matter(name, layout):
    model, X, y = case(name)
    known = quiet(clone(model).fit, X, y)
    changed = with_layout(X, LAYOUTS[layout])
    before = with_layout(changed, np.copy)
    found = quiet(model.fit, changed, y)
    assert found.result_.primal == known.result_.primal
    for a, b in zip(found.predict(changed), known.predict(X), strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(known.predict(changed), known.predict(X), strict=True):
        assert np.array_equal(a, b)
    assert repr(changed) == repr(before)  # and training leaves its inputs as they are


@pytest.mark.parametrize("name", CONVEX)
def test_the_order_of_examples_does_not_matter(name):
    model, X, y = case(name)
    known = quiet(clone(model).fit, X, y).result_
    order = np.random.default_rng(0).permutation(len(y))
    found = quiet(model.fit, taken(X, order), taken(y, order)).result_
    assert known.gap <= 1e-6 and found.gap <= 1e-6
    assert found.primal == pytest.approx(known.primal, rel=3e-6, abs=1e-12)


@pytest.mark.parametrize("name", [*CONVEX, "HomologySVM"])
def test_weights_count_copies(name):
    """Weight 0: the example is not there. Weight 2: it is there twice."""
    model, X, y = case(name)
    if (
        name in KERNELS
    ):  # their default width is that of the rows, with or without weight
        model.set_params(kernel=Rbf(1.0))
    n = len(y)
    times = np.random.default_rng(1).permutation(np.resize([0, 2, 1, 1], n))
    if (
        name == "HomologySVM"
    ):  # the log-odds it starts from count copies, but no weights
        times = np.minimum(times, 1)
    weighted = quiet(clone(model).fit, X, y, sample_weight=times.astype(float))
    ids = np.repeat(np.arange(n), times)
    copied = quiet(model.fit, taken(X, ids), taken(y, ids))
    if (
        name == "RankingSVM"
    ):  # its optimum is a local one, so the start must be the same
        start = clone(model).set_params(init=weighted.init_coef_)
        np.testing.assert_allclose(weighted.init_coef_, copied.init_coef_, rtol=0.02)
        copied = quiet(start.fit, taken(X, ids), taken(y, ids))
    found = weighted.result_.primal
    assert found == pytest.approx(copied.result_.primal, rel=3e-6, abs=1e-12)
