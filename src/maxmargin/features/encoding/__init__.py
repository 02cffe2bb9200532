"""From columns of strings to rows of integers: how templates are computed.

fitted.py       FittedTemplates: the vocabulary, and the features of sentences
learning.py     How the vocabulary is learnt
plan.py         Templates taken apart, as arrays
type_tables.py  What each distinct string turns into
tokens.py       Sentences in any form, as columns
phrases.py      Names of several words, found in sentences
strings.py      Lists of strings as arrays
loops.py        The compiled loops
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
