"""Data as flat arrays, in memory or files, checked before loops see them.

arrays.py         Array types that every room uses: `Ragged`, `Rows` and `Vectors`
changes.py        Changes of a few entries of a long vector, and copies that follow it
files.py          Files that are replaced at once or not at all; locks
label_schemes.py  How spans are written as labels: BIO, IOB1, BIOES, BILOU
mapped.py         Arrays in memory-mapped files
memory.py         The one memory setting
pairs.py          Pairs (input, output), and kernels that compare them
records.py        Sequence records of Biopython as plain tracks
sequences.py      Sequences of tokens or labels in one flat array
token_features.py What reads the features of tokens from sentences
validation.py     Checks of what comes from files and users, before loops see it
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
