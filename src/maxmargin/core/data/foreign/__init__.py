"""Objects of other packages as plain data, without importing those packages.

biopython_records.py  Sequence records of Biopython as plain tracks
data_frames.py        Rows of data frames as examples
nltk_trees.py         Trees of NLTK, from and to nested tuples
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
