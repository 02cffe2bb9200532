"""The cutting planes of each example, and steps on their dual variables.

blocks.py       The working sets: planes of each example, and the dual on them
coordinates.py  Loops over the parts that planes are made of
least_memory.py How much memory one plane per example takes
loops.py        Loops over a store of planes, one block per example
steps.py        Ascent on the dual of one block of planes, from its Gram matrix
store.py        The arrays that hold planes, and loops that make room in them
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
