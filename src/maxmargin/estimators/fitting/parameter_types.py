"""Types of constructor parameters that estimators share.

The names are those that signatures show; `parameters` has the descriptions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.token_features import TokenTemplates
from maxmargin.core.engine import Engine
from maxmargin.core.loss import Loss
from maxmargin.estimators.saving.checkpoint import Checkpoint
from maxmargin.kernels.functions import Kernel
from maxmargin.kernels.joint import JointKernel
from maxmargin.solvers.base import Trainer

Callback: TypeAlias = Callable[[np.void], object]  # of a row of the history

CallbackChoice: TypeAlias = Callback | Sequence[Callback] | None
CheckpointChoice: TypeAlias = str | os.PathLike[str] | Checkpoint | None
EngineChoice: TypeAlias = str | Engine | None
FeaturesChoice: TypeAlias = str | os.PathLike[str] | TokenTemplates | None
KernelChoice: TypeAlias = (
    str | Kernel | JointKernel | Callable[[Any, Any], ArrayLike] | None
)
LossChoice: TypeAlias = str | ArrayLike | Mapping[Any, float] | Loss
SampleWeight: TypeAlias = ArrayLike | None
Seed: TypeAlias = int | np.random.RandomState | None
SolverChoice: TypeAlias = str | Trainer
LossesByName: TypeAlias = dict[str, Loss]
