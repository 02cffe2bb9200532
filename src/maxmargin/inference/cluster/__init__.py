"""Spanning forests and partitions of complete graphs.

spanning.py   Maximum spanning forests
partition.py  Correlation clustering by linear programming
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
