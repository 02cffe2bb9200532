"""scikit-learn's own checks, with the exceptions and their reasons."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import KernelSVM, MulticlassSVM, PathCV

TOLERANCE = (
    "training ends at a duality gap of `tol`, so weights agree to it and not to 1e-7"
)
TABLE = "the check passes a table, or a float32 Gram matrix, that is not semi-definite"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": TOLERANCE,
    "check_sample_weight_equivalence_on_sparse_data": TOLERANCE,
}
FOLDS = f"{TOLERANCE}; copies of a row fall into other folds than the row with a weight"
PATH = dict.fromkeys(EXPECTED, FOLDS)
PRECOMPUTED = {
    "check_positive_only_tag_during_fit": TABLE,
    "check_estimators_dtypes": TABLE,
    "check_classifiers_train": TABLE,
}
METHODS = ("sampled", "cpsp", "nystroem", "cholesky")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (MulticlassSVM(), EXPECTED),
        (MulticlassSVM(kernel="rbf"), EXPECTED),
        (MulticlassSVM(kernel="precomputed"), PRECOMPUTED),
        (PathCV(MulticlassSVM()), PATH),
        (KernelSVM(), EXPECTED),
        (KernelSVM(kernel="precomputed"), PRECOMPUTED),
        *((KernelSVM(kernel_method=m, n_basis=20), EXPECTED) for m in METHODS),
    ],
    ids=[
        "linear",
        "kernel",
        "precomputed",
        "PathCV",
        "exact",
        "exact precomputed",
        *METHODS,
    ],
)
def test_check_estimator(estimator, expected):
    told = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {
        row["check_name"]: row["exception"] for row in told if row["status"] == "failed"
    }
    assert set(failed) <= set(expected), failed


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [MulticlassSVM, partial(KernelSVM, gamma=0.1)])
def test_a_weight_of_two_is_two_copies(make):
    """What the listed exceptions leave unchecked, at a small tolerance."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    weight = 1.0 + (np.arange(len(y)) % 2)
    once = make(tol=1e-8).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    copies = make(tol=1e-8).fit(X[rows], y[rows])
    assert np.isclose(once.result_.primal, copies.result_.primal, rtol=1e-6)
