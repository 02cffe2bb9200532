"""Simple models to compare with.

alignment.py         What learned alignments are compared with: log-odds scores, and
crf.py               Linear-chain conditional random field on the chain's features, by
gibbs_motif.py       Motif finding by Gibbs sampling: one motif in every positive
hmm.py               Hidden Markov model from counts, as the weights of a chain
markov.py            Networks trained by likelihood: a pairwise Markov network by
pairwise_ranking.py  The pairwise ranking SVM, trained by dual coordinate ascent
pcfg.py              Probabilistic context-free grammar from counts, as the weights of
perceptron.py        Averaged structured perceptron for any structure
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
