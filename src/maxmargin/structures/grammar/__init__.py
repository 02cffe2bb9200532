"""Parse trees of weighted context-free grammars.

anchors.py      Anchored features: what a rule scores where it stands
binarise.py     Trees in Chomsky normal form, and back
f1_parsing.py   The tree that violates most under the loss 1 - F1, exactly
parsing.py      Loss-augmented parsing: which trees of one sentence a loss asks for
productions.py  Rules read off binarised trees: all rules that occur, numbered and
structure.py    Weighted context-free grammars
tree_rows.py    Trees as rows of integers, and back; what is wrong with a sentence or
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
