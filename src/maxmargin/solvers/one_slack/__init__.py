"""One slack variable for the whole sample.

cutting_plane.py  OneSlack: cutting planes below the risk
qp.py             The small dense QP behind cutting-plane methods, warm-started
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
