"""Dependency trees: the head of each word, and the label of the arc from it.

structure.py      Dependency: the structure itself
tokens.py         Words, tags and endings as numbers
arc_features.py   The features of an arc as keys, numbered, compiled
trees.py          Heads and labels as rows of integers, and back; checks of trees
feature_names.py  Features by name
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
