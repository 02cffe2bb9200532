"""Mercer kernels, their Gram matrices, and explicit maps.

functions.py      Mercer kernels between rows of matrices, dense or sparse
gram.py           Gram matrices, and a cache of their columns, in bounded memory
growing_basis.py  A basis that grows point by point: incremental Cholesky, preimages
joint.py          Joint kernels: inner products of pairs (input, output)
maps.py           Explicit maps: a kernel as the inner product of vectors of `width` numbers
preimage.py       Points whose span comes nearest to an expansion: the preimage problem
pursuit.py        Bases that grow towards an expansion: the choice step of subspace pursuit
row_pairs.py      Kernels between two rows at a time
sampling.py       Rows drawn from an expansion, and functions that are sums over them
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
