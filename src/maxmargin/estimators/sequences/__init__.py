"""Estimators whose inputs are single sequences: tokens or DNA.

chain.py          ChainSVM: label sequences
segment.py        SegmentSVM: labelled spans of sentences
motif.py          MotifSVM: find a motif in DNA sequences
motif_lengths.py  The length of a motif, by cross-validation
motif_sites.py    All sites of a motif, with p-values
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
