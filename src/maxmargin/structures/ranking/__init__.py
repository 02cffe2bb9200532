"""Rankings of the documents of a query.

orders.py     Rankings of which every place counts: average precision and ROC area
structure.py  Rankings, of which the first k places count
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
