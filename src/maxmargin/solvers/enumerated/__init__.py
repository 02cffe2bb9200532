"""Trainers for problems whose outputs can all be listed.

block_dual.py  Block dual over all outputs at once, where they are few and psi is a
loops.py       Loops of `Enumerated`: visits to examples, their outputs at hand
newton.py      Newton steps for two outputs over few dense features
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
