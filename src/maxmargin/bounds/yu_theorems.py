"""The theorems of Yu 2011 that trainers report, by their names here."""

from __future__ import annotations

from maxmargin.solvers.kernel.theorems import (
    expected_sampled_cuts as expected_sampled_cuts,
)
from maxmargin.solvers.kernel.theorems import most_cuts as most_cuts
from maxmargin.solvers.kernel.theorems import most_pursuit_steps as most_pursuit_steps
from maxmargin.solvers.kernel.theorems import pursuit_error as pursuit_error
from maxmargin.solvers.kernel.theorems import sampling_error as sampling_error
