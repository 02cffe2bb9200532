"""Block-coordinate Frank-Wolfe.

aggregates.py     One aggregated plane per example, stored sparse
bcfw.py           BCFW, with averaging, sampling by gaps and a cache of planes
pairwise_away.py  Pairwise and away steps over the planes held
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
