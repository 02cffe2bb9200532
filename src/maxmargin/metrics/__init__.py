"""How good predictions are, as each field measures it.

alignment.py    Q and Q4 of alignments
clusters.py     MUC, B-cubed and CEAF of one clustering against another
coreference.py  MUC, B-cubed, CEAF, LEA and the CoNLL score, as the official scorer has them
margins.py      The gamma-margin per-label loss of Taskar et al. 2003, section 6
ranking.py      NDCG, average precision and precision at k of rankings
sequences.py    Scores of label sequences: tokens, whole sequences, and spans
taxonomy.py     Hierarchical precision, recall and F1 of answers in a taxonomy
trec.py         What the program trec_eval prints, under its names
trees/          Brackets of parse trees, arcs of dependency trees
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
