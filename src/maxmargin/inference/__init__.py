"""The best output under given scores: no weights, no features, no loss.

assignment.py     Bipartite matching: the best assignment of rows to columns
hypergraph.py     Dynamic programs written out: k best, sums, best per cost
label_sets.py     The best set of labels in a taxonomy
motif_sampler.py  Places of a motif drawn by Gibbs sampling, one in every sequence
orders.py         Orders of documents: the best under scores and a loss
alignment/        The best paths through alignment tables
chain/            The best label sequences
cluster/          Spanning forests and partitions of complete graphs
graph/            The best labels of the nodes of a graph: exact methods, and which one
loopy/            Labels of graphs with cycles: message passing, graph cuts, linear programs
marginals/        Points of the marginal polytope and moves within it, for the factored dual
tree/             The best parse trees
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
