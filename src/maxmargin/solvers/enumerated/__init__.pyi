from .block_dual import Enumerated as Enumerated
from .newton import Newton as Newton
from .newton import newton_applies as newton_applies
