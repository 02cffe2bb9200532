"""How well trees are predicted.

brackets.py      Labelled brackets: what parsers are compared by
evalb.py         What the program evalb prints, under its names
dependencies.py  Attachment scores of dependency trees: UAS, LAS
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
