"""Any structure under a joint kernel: scores come from support pairs, not from weights.

    f(x, y) = sum_p beta_p J((x_p, y_p), (x, y))

structure.py  OwnPairs and ClassPairs: the best output by this score
growing.py    The same while training runs: coordinates of the pairs met so far
space.py      An orthonormal basis of the pairs met so far, as a Cholesky factor
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
