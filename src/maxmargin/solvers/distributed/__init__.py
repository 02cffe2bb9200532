"""Trainers for data spread over several machines.

choice.py  Which trainer to use where examples are spread over machines
cocoa.py   Block dual over shards: each improves the dual of its own examples
shards.py  What a shard of the block dual does, where its examples are (see `cocoa`)
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
