"""The best paths through alignment tables.

best_other.py  The best path through an alignment table other than a given one
best_path.py   The best path through a filled alignment table
layers.py      The best path through an alignment table for each number of counted
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
