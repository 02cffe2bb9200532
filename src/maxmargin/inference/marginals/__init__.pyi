from .directions import connected as connected
from .factored import CompiledAscent as CompiledAscent
from .factored import Factored as Factored
