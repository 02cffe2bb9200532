"""Spanning forests and partitions of complete graphs.

partition.py  Correlation clustering, relaxed: how far two items are together, from 0
spanning.py   Maximum spanning forests of a complete graph
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
