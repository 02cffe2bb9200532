"""MulticlassSVM: scikit-learn's contract, the formulations, output features, errors."""

import warnings

from sklearn.exceptions import ConvergenceWarning
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
