"""Best outputs of plain score arrays: no model, no training, NumPy only.

alignment.py      Alignments of two sequences: match scores and affine gaps
base.py           What every structure of scores can do, and what one has to provide
batch.py          A padded batch of score tables: what is refused, and its threads
cell_loops.py     Loops over the cells that outputs choose
chain.py          Label sequences: emissions, transitions, first and last labels
classes.py        Single labels, perhaps with a taxonomy above them
dependencies.py   Dependency trees from scores of arcs, projective or not
labels.py         Legal label sequences and spans from token scores, in one call
legal_labels.py   Which label may follow which under BIO, IOB1, BIOES and BILOU
matching.py       Bipartite matching
network.py        Labels of the nodes of a graph
oracle.py         The output that violates the margin most: loss-augmented decoding
partition.py      The n best by partition, where one cell is chosen per position
ranking.py        Orders of items
segments.py       Segmentations of sequences (semi-Markov)
smoothing.py      Smooth relatives of the best output: perturbation and SparseMAP
span_trees.py     Constituency trees from scores of labelled spans
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
