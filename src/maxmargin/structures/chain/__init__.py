"""Label sequences.

structure.py    Chain: the structure itself
layout.py       Which weight is where, and psi as sparse rows
oracle.py       Loops: tables from weights, most violated sequences
constraints.py  Allowed transitions, BIO schemes and forced labels
tokens.py       Tokens of any form as rows of one matrix
named_tokens.py Features by name: dicts, lists, strings
beside.py       Named features and a dense matrix beside them
names.py        Names of weights, and what each token adds to a score
single.py       The best labels of one sequence, quickly
encoded.py      Sequences encoded once into files, for large data
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
