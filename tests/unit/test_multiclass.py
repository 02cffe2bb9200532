"""MulticlassSVM: scikit-learn's contract, the formulations, output features, errors."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import MulticlassSVM

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "weights equal repetition at the optimum; training stops at a duality gap"
    ),
    "check_sample_weight_equivalence_on_sparse_data": (
        "weights equal repetition at the optimum; training stops at a duality gap"
    ),
}


@parametrize_with_checks(
    [MulticlassSVM()], expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
def test_scikit_learn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
