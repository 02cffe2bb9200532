from .orders import AveragePrecision as AveragePrecision
from .orders import Orders as Orders
from .orders import RocArea as RocArea
from .structure import NDCGAtK as NDCGAtK
from .structure import PrecisionAtK as PrecisionAtK
from .structure import Ranking as Ranking
