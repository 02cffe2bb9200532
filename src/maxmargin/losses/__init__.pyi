from .base import BracketF1 as BracketF1
from .base import BracketHamming as BracketHamming
from .base import Hamming as Hamming
from .base import ZeroOne as ZeroOne
from .base import bracket_counts as bracket_counts
from .pairs import AlignedPairs as AlignedPairs
