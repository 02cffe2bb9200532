"""Points of the marginal polytope, for the factored dual.

polytope.py         A point for each graph, and moves of mass
directions.py       Directions, and how far one may go along each
compiled_ascent.py  What a compiled ascent on forests works on
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
