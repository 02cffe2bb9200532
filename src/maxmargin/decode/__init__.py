"""Best outputs of plain score arrays: no model, no training, NumPy only.

alignment.py     Alignments of two sequences: match scores and affine gaps
classes.py       Single labels, perhaps with a taxonomy above them
dependencies.py  Dependency trees from scores of arcs, projective or not
matching.py      Bipartite matching
network.py       Labels of the nodes of a graph
ranking.py       Orders of items
span_trees.py    Constituency trees from scores of labelled spans
machinery/       Batches, loss-augmented decoding, smoothing: shared
sequences/       Labels and segments of sequences, legal label sequences
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
