"""Graphs as users give them, and as flat arrays.

graph.py     Graph: what users give, builders, checks
images.py    Images as graphs of patches and superpixels
encoding.py  Graphs as flat arrays
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
