"""Scores of outputs as probabilities that can be trusted, and sets with a coverage.

A row of scores, one per candidate (a label of a token, an output of an n-best list), is
all that is needed; rows may have different lengths.

candidates.py   Candidates: rows of scores, and which one is the truth
temperature.py  Temperature: softmax of scores divided by a number that held-out data fix
isotonic.py     Isotonic: any increasing function from confidence to probability
conformal.py    ConformalSets: sets that hold the truth as often as promised
spans.py        How sure a span of a label sequence is, from an n-best list
sigmoid.py      Probabilities of yes-or-no answers from margins
thresholds.py   The threshold on scores that is best for F1
measures.py     Reliability, expected calibration error, log loss
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
