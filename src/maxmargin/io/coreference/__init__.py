"""Documents with mentions and the entities they belong to.

document.py   What a file of coreference holds
conll2012.py  CoNLL-2011 and 2012: brackets in the last column
corefud.py    CorefUD: CoNLL-U with entities in the last column
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
