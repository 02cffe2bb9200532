"""Annotated sequences: how positions are described, and as arrays.

views.py      How positions are described: views, pairs of views, gaps
letters.py    Which letters a track has, and what happens to all others
encoding.py   Annotated sequences as arrays of symbols
positions.py  Positions as kernel features
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
