from .orders import FullOrder as FullOrder
from .structure import Ranking as Ranking
