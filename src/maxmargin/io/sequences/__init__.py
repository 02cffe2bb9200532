"""Files of labelled sequences.

conll.py      CoNLL columns: one token per line, an empty line between sentences
crfsuite.py   CRFsuite files: one token per line, label and attributes divided by tabs
svm_hmm.py    SVM-hmm files: one token per line, sentences told by qid
templates.py  Feature templates: columns of a sentence to named features of each token
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
