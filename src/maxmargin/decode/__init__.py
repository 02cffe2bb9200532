"""Best outputs of plain score arrays: no model, no training, NumPy only.

alignment.py     Alignments of two sequences: match scores and affine gaps
chain.py         Label sequences: emissions, transitions, first and last labels
classes.py       Single labels, perhaps with a taxonomy above them
dependencies.py  Dependency trees from scores of arcs, projective or not
labels.py        Legal label sequences and spans from token scores, in one call
matching.py      Bipartite matching
network.py       Labels of the nodes of a graph
ranking.py       Orders of items
segments.py      Segmentations of sequences (semi-Markov)
span_trees.py    Constituency trees from scores of labelled spans
machinery/       Batches, loss-augmented decoding, smoothing: shared
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
