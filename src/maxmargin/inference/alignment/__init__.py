"""Best paths through alignment tables.

best_path.py        The best path
letter_paths.py     The same where scores depend on letters: no table, 16 bits, less memory
best_other.py       The best path other than a given one
layers.py           The best path for each number of counted matches
path_hypergraph.py  All paths as a hypergraph, for n-best lists and sums
path_sums.py        Sums over all global paths, and their derivatives
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
