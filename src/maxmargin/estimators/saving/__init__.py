"""Estimators in files: checkpoints and model files.

checkpoint.py    The state of training in a file, to continue an interrupted run
model_checks.py  What a loaded estimator must be like before it may predict
model_files.py   `save` and `load`: estimators in model files
model_tags.py    Names of classes in model files, and where each class is now
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
