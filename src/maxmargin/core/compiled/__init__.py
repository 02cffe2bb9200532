"""Machine code of loops: from the wheel, from the user's cache, or compiled by Numba.

code_stamp.py    What a loop's machine code depends on, as a hash
compiler.py      How Numba compiles loops: what it need not do
compiling.py     Compile time: left out of time limits, announced to users
levels.py        Levels of processors that machine code is made for
machine_code.py  The cache of a loop: looks into packs, then into the user's folder
packs.py         Machine code in files: what it was made for, whether it fits here
precompile.py    Compile loops ahead, into a pack of machine code
signatures.py    Which loops there are, and with which types the library calls them
user_cache.py    The folder where compiled loops are kept, safe from other users
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
