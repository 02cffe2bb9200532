"""Kernels in estimators.

mapped.py       Kernels for estimators whose structure takes mapped inputs
classes.py      Classifiers with a kernel: best classes and hardest rows, by scores
joint.py        Joint kernels: models over support pairs (input, output)
certificate.py  Objective and rounding error of models that are sums of kernel values
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
