"""Alignments of two annotated sequences, and homology detection.

features.py   The loops of alignment models: tables filled from weights, features of
homology.py   Homology detection: which of several candidates, and how it aligns
inputs.py     Annotated sequences as arrays: letters checked, views turned into symbols
layout.py     Where the weights of an alignment model lie
oracle.py     Best alignments of many pairs in one loop: fill a table, enter the loss,
paths.py      Alignments as people write them, and as rows of integers
positions.py  Positions of sequences as rows of numbers, and as kernel features
structure.py  Pairwise alignment of annotated sequences
views.py      How positions of annotated sequences are described: views, pairs of
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
