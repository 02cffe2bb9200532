"""Small data sets and loaders.

samples.py    Real data that come with the package: promoters, pages of novels
postcodes.py  Handwritten postcodes, made from the digits of scikit-learn
homologs.py   Synthetic homologs among decoys (Tsochantaridis et al. 2005, 5.3)
homstrad.py   HOMSTRAD: structure-based alignments of protein families
corpora.py    Public corpora, downloaded when asked for: chunks, names, tags, trees

`BLOSUM62`, the substitution matrix, is in `io/biology/blosum.py`.
"""

import lazy_loader as lazy

from maxmargin.io.biology.blosum import BLOSUM62

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
__all__ += ["BLOSUM62"]
