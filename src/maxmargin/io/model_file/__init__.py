"""Model files: an archive of JSON and arrays.

model.py    Objects to model files and back, for a given table of classes
codec.py    Objects as JSON with typed nodes, from a closed list of types
archive.py  The container: a zip of one JSON manifest and .npy arrays
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
