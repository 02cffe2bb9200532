"""Trainers for the linear summed error.

cutting_plane.py  Cutting planes for the linear summed error: OP2-1-slack
sdcd.py           SDCD: sequential dual coordinate descent for the linear summed error
violators.py      The sets V_i of the linear summed error, and the problem over them
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
