"""What every room builds on: array shapes, compiled loops, the problem.

arrays.py        The array shapes that every room speaks: `Ragged`, `Rows` and `Vectors`
code_stamp.py    What a loop's machine code depends on, as a hash
compiling.py     When Numba compiles: the clock that leaves it out, and who is told
cuts.py          Planes as they travel: one per example, or their sum; and how parts
engine.py        Where the oracle runs, in four verbs
formulations.py  How a loss becomes a plane, and what the dual may do with it
jit.py           The Numba decorators: `loop`, `inner_loop`, `dense_loop` for sums over
levels.py        Levels of processors that machine code is made for
machine_code.py  Where the machine code of a loop comes from: wheel, cache or Numba
mapped.py        Arrays that lie in files: opened, found again, and let go of
packs.py         Machine code in files: what it was made for, whether it fits here
precompile.py    Compile loops ahead, into a pack of machine code
problem.py       Where structure, loss, formulation, data and engine meet
sequences.py     Sequences of tokens or labels: one flat array with offsets; labels of
signatures.py    Which loops there are, and with which types the library calls them
structure.py     What an output is: the contract between a structure and the rest
user_cache.py    The folder where compiled loops are kept, safe from other users
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
