"""Trainers with one slack variable per example.

block_dual.py     Block dual: the default trainer of most structures
cutting_plane.py  Algorithm 1 of Tsochantaridis et al. 2005: n slacks
sdm.py            SDM, the sequential dual method: loops with and without the oracle
stream.py         A stream of examples: the oracle for the new ones, planes for all
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
