"""Dual ascent in lanes: the default trainer of label sequences.

solver.py   The trainer: oracle passes, sweeps, averaging, certificate
islands.py  The constraints held, and room for more of them
recut.py    Where long examples are cut, away from constraints
crew.py     Lanes that work side by side, a round at a time
loops.py    Dual ascent on label sequences, one example after the other, compiled
groups.py   Islands of a block: where new ones belong, how groups unite and split
scores.py   Scores of tokens and label tuples, inner products, steps of one group
rounds.py   Loops that begin and end a round of lanes
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
