"""How good predictions are, as each field measures it.

alignment.py  How good alignments are, from columns (k, 2) of positions with -1 for a
brackets.py   Labelled brackets: what parsers are compared by
clusters.py   Scores of a clustering against the true one: MUC (MITRE), B-cubed, CEAF,
margins.py    The gamma-margin per-label loss of Taskar et al. 2003, section 6
ranking.py    Measures of a ranking: documents sorted by score, equal scores in the
sequences.py  Scores of label sequences: tokens, whole sequences, and spans
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
