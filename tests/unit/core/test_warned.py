"""Warnings point at the line of the user."""

import sys
import warnings

import numpy as np
import pytest

from maxmargin import KernelSVM, MulticlassSVM
from maxmargin.core.data.warned import warn
from maxmargin.estimators.fitting.training import ConvergenceWarning


def test_the_line_is_that_of_the_caller():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn("look here", RuntimeWarning)
        line = sys._getframe().f_lineno - 1
    assert [(w.filename, w.lineno, w.category) for w in told] == [
        (__file__, line, RuntimeWarning)
    ]


@pytest.mark.parametrize("kind", [MulticlassSVM, KernelSVM])
def test_training_warns_at_the_line_of_fit(kind):
    X = np.arange(24.0).reshape(12, 2) % 7
    y = np.arange(12) % 3
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kind(max_iter=1, tol=1e-9, C=100.0).fit(X, y)
    assert ConvergenceWarning in [w.category for w in told]
    assert {w.filename for w in told} == {__file__}
