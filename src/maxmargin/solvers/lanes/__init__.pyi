from .islands import Islands as Islands
from .solver import Lanes as Lanes
