"""How wrong an output is: Delta(y, y') >= 0, zero at the truth.

The contract that losses keep, `Loss`, and `ZeroOne`, which every structure knows, are in
`core/loss.py`.

labels.py       Sums over labels: Hamming distance, matrices of costs
spans.py        Spans of a text that are missed or wrong
pairs.py        Aligned pairs of residues
ranking.py      Places of documents: precision@k, NDCG@k, average precision, ROC area
clusters.py     Partitions: links of a forest, pairs in one cluster
motif.py        Motifs missed or seen where there are none
partial.py      Labels of which some are not known
python_loss.py  The loss of a user's Python object
trees.py        Labelled brackets of parse trees, arcs of dependency trees
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
