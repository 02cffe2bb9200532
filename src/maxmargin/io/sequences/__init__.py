"""Files of labelled sequences.

conll.py      CoNLL columns: one token per line, an empty line between sentences
conllu.py     CoNLL-U: ten columns of Universal Dependencies, comments and all
svm_hmm.py    SVM-hmm: one token per line, sentences numbered by qid
crfsuite.py   CRFsuite: one token per line, label and attributes separated by tabs
annotated.py  JSON lines of texts with spans in characters, as spaCy and doccano have them
templates.py  Feature templates: from the columns of a sentence to named features
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
