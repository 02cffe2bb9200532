"""What every room builds on: arrays, compiled loops, contracts, the problem.

arrays.py         Array types that every room uses: `Ragged`, `Rows` and `Vectors`
compiled/         Machine code of loops: from the wheel, a cache, or Numba
cuts.py           Cutting planes, one per example or summed
engine.py         The interface of engines, and the engine for one core
factored.py       What SMO on the factored dual needs from a structure
files.py          Files that are replaced at once or not at all; locks
formulations.py   Formulations: the plane of a loss, its dual, the violation
jit.py            The Numba decorators `loop`, `inner_loop` and `dense_loop`
label_schemes.py  How spans are written as labels: BIO, IOB1, BIOES, BILOU
loss.py           The contract of losses, and the zero-one loss
mapped.py         Arrays in memory-mapped files
memory.py         The one memory setting
oracle.py         Oracle: structure, loss, formulation and data; the planes of examples
prediction.py     The question of prediction, in the form that engines run
problem.py        Problem: an oracle and the engine that runs it
sequences.py      Sequences of tokens or labels in one flat array
structure.py      The contract of structures, and what they may offer
validation.py     Checks of what comes from files and users, before loops see it
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
