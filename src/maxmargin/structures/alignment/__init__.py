"""Alignments of pairs of sequences, and homology search.

structure.py         Alignment: the structure itself
kernel_structure.py  KernelAlignment: matches scored by a kernel of two positions
homology.py          Homology: which candidate, and how it aligns
layout.py            Which weight is where
features.py          Loops: tables from weights, the loss in a table, features of paths
oracle.py            Best alignments of many pairs in one loop
paths.py             Alignments as people write them, and as rows of integers
inputs/              Annotated sequences: how positions are described, and as arrays
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
