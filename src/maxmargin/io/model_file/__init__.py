"""Model files: an archive of JSON and arrays.

archive.py  The container of model files: a zip of one JSON manifest and .npy arrays
codec.py    Objects as JSON with typed nodes, from a closed list of types
model.py    Objects to model files and back; which classes are known, the caller says
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
