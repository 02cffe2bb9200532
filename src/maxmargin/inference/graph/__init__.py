"""Best labels of the nodes of a graph: exact methods, and which one to use.

tables.py         GraphTables: scores of labels and of pairs of labels
decode.py         Which method is used for which graph
forest.py         Forests: best labels, and marginals
junction.py       Low treewidth: elimination along a junction tree
triangulation.py  Elimination orders and their cliques
layers.py         Forests: the best labels for each value of a cost
best_other.py     The best labels that differ from given ones
cliques.py        Factors over more than two nodes
toulbar2.py       Exact search with toulbar2
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
