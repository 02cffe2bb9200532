from .base import Decoded as Decoded
from .base import Marginals as Marginals
from .base import NBest as NBest
from .base import ScoreStructure as ScoreStructure
from .oracle import most_violated as most_violated
