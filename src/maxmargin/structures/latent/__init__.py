"""Outputs of which some labels are not known.

partial.py          Partial: label sequences with hidden labels
partial_network.py  PartialNetwork: networks with hidden labels
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
