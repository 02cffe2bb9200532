"""Trainers for problems whose outputs can all be listed.

block_dual.py   Block dual over all outputs at once, where they are few
kernel_dual.py  The dual of a kernel machine over all outputs, by working sets of examples
loops.py        Loops of the trainers over all outputs: visits to examples
newton.py       Newton steps for two outputs over few dense features
stream.py       Further batches: dual variables of all examples so far
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
