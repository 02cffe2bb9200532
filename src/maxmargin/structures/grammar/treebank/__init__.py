"""From the trees of a treebank to numbered rules and rows.

binarise.py     Trees in Chomsky normal form, and back
productions.py  The rules of a treebank, numbered
tree_rows.py    Trees as rows of integers, and back; checks of trees
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
