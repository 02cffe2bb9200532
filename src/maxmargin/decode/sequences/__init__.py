"""Labels and segments of sequences.

chain.py         Label sequences: emissions, transitions, first and last labels
segments.py      Segmentations of sequences (semi-Markov)
labels.py        Legal label sequences and spans from token scores, in one call
legal_labels.py  Which label may follow which under BIO, IOB1, BIOES and BILOU
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
