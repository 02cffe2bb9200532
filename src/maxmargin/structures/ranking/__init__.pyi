from .orders import Orders as Orders
from .structure import Ranking as Ranking
