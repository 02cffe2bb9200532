"""What all estimators share: fitting, prediction, callbacks.

base.py             StructuredEstimator: from X and y to a problem, a solver, a result
callbacks.py        Callbacks of a run: the user's, progress, scikit-learn's
inputs.py           Checks of what users pass as X and y
parameters.py       Descriptions of constructor parameters, each written once
path.py             `fit_path`: one fit per C, each from the dual of the one before
prediction.py       One question about many inputs, in batches, on any engine
training.py         From encoded data to a trained estimator: what all fits share
kernels/            Training with kernels, and the certificates of its models
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
