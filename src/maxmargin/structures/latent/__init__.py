"""Outputs of which some labels are not known.

partial.py          Outputs of which some labels are not known: they are hidden parts
partial_network.py  Networks of which some nodes have no label: those labels are hidden
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
