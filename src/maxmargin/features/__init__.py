"""Features of tokens by templates: from columns of strings to rows of integers.

templates.py       Templates: what a model reads of its sentences
columns.py         Column: templates written in Python, `word.lower()[-1] & word[0]`
template_files.py  Template files of CRF++ and Wapiti
regex.py           Wapiti's regular expressions
search.py          Search by regular expressions, in bounded time
steps.py           Lower case, prefix, suffix, shape, clusters, ..: string to string
tables.py          Gazetteers and word clusters, from files
slots.py           Slot, Template: the parts of which templates are made
builtin.py         The templates "ner", "pos" and "chunk"
encoding/          How the features of templates are computed
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
