"""Alignments of pairs of sequences, and homology search.

structure.py  Alignment: the structure itself
homology.py   Homology: which candidate, and how it aligns
views.py      How positions are described: views, pairs of views, gaps
letters.py    Which letters a track has, and what happens to all others
inputs.py     Annotated sequences as arrays of symbols
positions.py  Positions as kernel features
layout.py     Which weight is where
features.py   Loops: tables from weights, the loss in a table, features of paths
oracle.py     Best alignments of many pairs in one loop
paths.py      Alignments as people write them, and as rows of integers
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
