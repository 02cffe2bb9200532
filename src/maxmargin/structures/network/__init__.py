"""Labels of the nodes of graphs.

structure.py          Network: the structure itself
kernel_structure.py   KernelNetwork: kernels on nodes and edges
clique_structure.py   CliqueNetwork: factors over more than two nodes
cliques.py            Which weights cliques have: tables and patterns
layout.py             Which weight is where, and what each node and edge adds to psi
loops.py              Loops: tables from weights, features, differences
outer_coordinates.py  Differences in (node, label) and (edge, pair) coordinates
smo_loops.py          Compiled SMO steps on forests
kernel_smo.py         SMO steps through Gram matrices
graphs/               Graphs as users give them, and as flat arrays
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
