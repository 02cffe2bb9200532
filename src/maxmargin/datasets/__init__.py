"""Small data sets and loaders.

blosum.py     BLOSUM62, half-bit scores of Henikoff and Henikoff 1992, in the layout of
homologs.py   Synthetic homologs among decoys, as described in Tsochantaridis et al.
homstrad.py   HOMSTRAD: structure-based alignments of protein families, one text file
postcodes.py  Postcodes written in handwritten digits: real images, made into sequences
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
