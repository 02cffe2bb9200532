"""Trainers for L1 regularisation, which leave most weights at zero.

loops.py     Ascent on the dual of a proximal step, block by block
proximal.py  Proximal steps with a certificate: the trainer for regularizer="l1"
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
