"""Trainers for the linear summed error.

cutting_plane.py             Cutting planes for OP2-1-slack, our variant
cutting_plane_as_written.py  Cutting planes for OP2-1-slack, Algorithm 1 as printed
loops.py                     Single steps as printed, and sums over subsets of V_i
n_slack.py                   OP2-n-slack: one slack variable per example
sdcd.py                      Sequential dual coordinate descent, our variant
sdcd_as_written.py           Sequential dual coordinate descent, Algorithm 2 as printed
stream.py                    SDCD in batches, for partial_fit
violators.py                 The sets V_i of the linear summed error, and the problem over them
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
