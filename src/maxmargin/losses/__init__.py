"""How wrong an output is.

base.py   How wrong an output is: Delta(y, y') >= 0, zero at the truth
pairs.py  How wrong an alignment is: the share of reference pairs that it misses
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
