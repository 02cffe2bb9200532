"""Bounds of the papers as numbers: how many constraints, how far off, which error.

comparison.py   Bounds beside what happened in a run
formulas.py     The bounds as functions of C, R, Delta, epsilon, ...
margin_loss.py  Theorem 6.1 of Taskar et al.: the error of new examples
norms.py        How long differences of psi can be, and how large losses, from data
yu_theorems.py  Theorems of Yu 2011, which trainers report
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
