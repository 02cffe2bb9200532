"""Block-coordinate Frank-Wolfe.

aggregates.py     One aggregated plane per example, stored sparse: the memory of
bcfw.py           BCFW: block-coordinate Frank-Wolfe, with averaging, gap sampling and
pairwise_away.py  Frank-Wolfe over the planes held, with their weights known: pairwise
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
