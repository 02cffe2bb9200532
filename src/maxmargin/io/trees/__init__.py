"""Trees from and to files and other packages' objects, beside Penn brackets (treebank.py).

dependencies.py  Dependency trees of CoNLL-U files
head_rules.py    Dependency trees from phrase-structure trees, by head rules
nltk_trees.py    Trees of NLTK
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
