"""What the score structures share: batches, loss-augmented decoding, smoothing.

base.py          What every structure of scores can do, and what one has to provide
batch.py         A padded batch of score tables: what is refused, and its threads
cell_loops.py    Loops over the cells that outputs choose
oracle.py        The output that violates the margin most: loss-augmented decoding
partition.py     The n best by partition, where one cell is chosen per position
smoothing.py     Smooth relatives of the best output: perturbation and SparseMAP
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
