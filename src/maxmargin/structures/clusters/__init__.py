"""Clusterings of mentions and other items.

coreference.py  Clusters of mentions, held together by a hidden spanning forest
correlation.py  Correlation clustering: clusters scored by all pairs inside them
mentions.py     Plain features of pairs of mentions: strings, heads, distance, agreement
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
