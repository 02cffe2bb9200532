"""Tokens of any form as rows of one matrix.

token_rows.py       Tokens of any form as rows of one matrix
named_tokens.py     Features by name: dicts, lists, strings
named_and_dense.py  Named features and a dense matrix beside them
encoded_files.py    Sequences encoded once into files, for large data
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
