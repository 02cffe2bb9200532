from .block_dual import Enumerated as Enumerated
from .kernel_dual import KernelDual as KernelDual
from .kernel_dual import kernel_dual_applies as kernel_dual_applies
from .newton import Newton as Newton
from .newton import newton_applies as newton_applies
from .stream import EnumeratedStream as EnumeratedStream
