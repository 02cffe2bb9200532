"""The models that experiments compare with.

perceptron.py        Averaged structured perceptron, for any structure
hmm.py               Hidden Markov model from counts
crf.py               Linear-chain conditional random field
pcfg.py              Probabilistic context-free grammar from counts
markov.py            Pairwise Markov network, trained by pseudo-likelihood
alignment.py         Alignments by log-odds scores, or by BLOSUM62
pairwise_ranking.py  The pairwise ranking SVM
gibbs_motif.py       Motif finding by Gibbs sampling
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
