from .block_dual import Enumerated as Enumerated
from .newton import Newton as Newton
from .newton import suits as suits
