"""Label sequences.

constraints.py  Which label may follow which, and which must stand: masks, BIO and
encoded.py      Sequences encoded once, in files, for data that do not fit into memory
layout.py       psi of a chain as sparse rows, and the layout of its weights
names.py        Names for the weights of a chain, and what each of them adds to a score
oracle.py       The oracle of a chain: fill tables, find the best labels
structure.py    Label sequences: one label per token, label tuples of neighbours scored
tokens.py       Tokens of sequences as rows of one matrix, whatever form they come in
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
