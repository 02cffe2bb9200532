"""Points of the marginal polytope and moves within it, for the factored dual.

ascent.py      Arrays for ascent on the marginals of forests: what it reads, and
directions.py  Directions in the marginal polytope, and how far one may go along each
factored.py    The capabilities that SMO asks of a structure
polytope.py    A point of the marginal polytope of each graph, and moves of mass within
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
