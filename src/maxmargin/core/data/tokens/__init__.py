"""Sequences of tokens and their labels.

sequences.py       Sequences of tokens or labels in one flat array
label_schemes.py   How spans are written as labels: BIO, IOB1, BIOES, BILOU
token_features.py  What reads the features of tokens from sentences
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
