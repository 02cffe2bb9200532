"""What all estimators share: fitting, checkpoints, callbacks, model files.

base.py             What all estimators share: from X, y to a Problem, a solver, and a
callbacks.py        Who watches a run: our callbacks, progress, and the callbacks of
checkpoint.py       Checkpoints: the dual state in a file, so that a killed run can be
kernel_training.py  Kernels for any estimator whose structure takes mapped inputs
model_files.py      `save` and `load`: estimators in model files, and the table of what
model_tags.py       Names of classes in model files, and where each class lives now
parameters.py       Descriptions of constructor parameters, each written once
path.py             The path over C: one fit after the other, each from the dual of the
prediction.py       Prediction: one question about many inputs, in batches, on any
streaming.py        `partial_fit`: training on a stream, one batch after the other
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
