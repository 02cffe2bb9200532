"""Labels of all nodes of a graph: pairwise Markov networks.

ascent.py            Ascent on the marginals of one forest after the other, compiled
graphs.py            Graphs as users have them, and how to build them
inputs.py            From graphs to the flat arrays that loops read
kernel_moves.py      Steps on the marginals of a network whose scores come from Gram
kernel_structure.py  Networks with a Mercer kernel on the inputs of nodes, and of edges
layout.py            Where the weights of a network are: types, label sets, edge classes
loops.py             Loops of the network: fill tables, read features, differences to
structure.py         Pairwise Markov networks on any graph
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
