"""Rankings of the documents of a query.

structure.py  Ranking: the first k places count
orders.py     FullOrder: every place counts
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
