"""Several labels per example.

multilabel.py    MultilabelSVM: sets of labels, taxonomies, thresholds for F1
label_tables.py  Sets of labels as tables of zeros and ones, and back
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
