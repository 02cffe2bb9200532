"""Classes, with output features and taxonomies.

output_features.py  Output features of classes: descriptions and similarities
structure.py        Multiclass classification with output features
taxonomy.py         Class taxonomies: trees and lattices above the classes
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
