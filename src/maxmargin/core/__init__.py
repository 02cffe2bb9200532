"""What every room builds on: arrays, compiled loops, contracts, the problem.

cuts.py          Cutting planes, one per example or summed
engine.py        The interface of engines, and the engine for one core
factored.py      What SMO on the factored dual needs from a structure
formulations.py  Formulations: plane and slack of a loss, constraints of the dual
jit.py           The Numba decorators: `loop`, `inner_loop`, `dense_loop`
loss.py          The contract of losses, and the zero-one loss
oracle.py        Oracle: structure, loss, formulation and data; the planes of examples
problem.py       Problem: an oracle and its engine; primal values and their rounding
structure.py     The contract of structures, and what they may offer
compiled/        Machine code of loops: from the wheel, a cache, or Numba
data/            Flat arrays, files, memory, and checks of what comes in
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
