"""Label sequences.

structure.py     Chain: the structure itself
layout.py        Which weight is where, and psi as sparse rows
oracle.py        Loops: tables from weights, most violated sequences
constraints.py   Allowed transitions, BIO schemes and forced labels
weight_names.py  Names of weights, and what each token adds to a score
one_sequence.py  The best labels of one sequence, quickly
tokens/          Tokens of any form as rows of one matrix, in memory or files
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
