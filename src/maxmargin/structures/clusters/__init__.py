"""Partitions of mentions or other items.

coreference.py     Coreference: clusters joined by a hidden spanning forest
correlation.py     Correlation: clusters scored by all pairs inside them
mention_finder.py  Mentions by rules
mentions.py        Plain features of pairs of mentions
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
