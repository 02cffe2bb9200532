"""The best labels of the nodes of a graph: exact methods, and which one to use.

best_other.py     The best labels that differ from given ones: what the zero-one loss
decode.py         Which inference method is used for which graph
forest.py         Exact inference on forests: the best labels, and sums over all labels
junction.py       Exact inference on graphs of low treewidth, by elimination (junction
layers.py         The best labels of a forest for every value of an integer cost,
search.py         Exact search with toulbar2, where that optional package is installed
tables.py         The tables that every inference reads: scores of labels and of pairs
triangulation.py  Elimination orders of graphs: which nodes meet in a clique, and how
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
