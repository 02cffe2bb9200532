"""Data as flat arrays, in memory or files, checked before loops see them.

arrays.py             Array types that every room uses: `Ragged`, `Rows` and `Vectors`
vector_changes.py     Changes of a few entries of a long vector, and copies that follow it
safe_files.py         Files that are replaced at once or not at all; locks
mapped.py             Arrays in memory-mapped files
memory.py             The one memory setting
lazy_names.py         Names of weights and features, each made when it is asked for
pairs.py              Pairs (input, output), and kernels that compare them
validation.py         Checks of what comes from files and users, before loops see it
warned.py             Warnings that point at the user's line
foreign/              Objects of other packages as plain data
tokens/               Sequences of tokens and their labels
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
