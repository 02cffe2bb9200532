"""Classes, with output features and taxonomies.

structure.py        Multiclass: the structure itself
label_sets.py       LabelSets: several labels per example, in a taxonomy or not
output_features.py  Output features from descriptions or similarities
taxonomy.py         Trees and lattices above the classes
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
