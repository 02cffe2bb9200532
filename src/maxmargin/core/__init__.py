"""What every room builds on: array shapes, compiled loops, the problem.

arrays.py        The array shapes that every room speaks: `Ragged`, `Rows` and `Vectors`
cuts.py          Planes as they travel: one per example, or their sum; and how parts
engine.py        Where the oracle runs: the interface of engines, and the serial one
formulations.py  How a loss becomes a plane, and what the dual may do with it
jit.py           The Numba decorators: `loop`, `inner_loop`, `dense_loop` for sums over
loss.py          How wrong an output is: the contract of losses, and the zero-one loss
mapped.py        Arrays in memory-mapped files: open, find, give pages back
memory.py        The one memory setting: how many bytes a trainer or a kernel may hold
problem.py       Where structure, loss, formulation, data and engine meet
sequences.py     Sequences of tokens or labels: one flat array with offsets; labels of
structure.py     What an output is: the contract between a structure and the rest
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
