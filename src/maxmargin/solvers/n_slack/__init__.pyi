from .block_dual import BlockDual as BlockDual
from .cutting_plane import NSlack as NSlack
from .cutting_plane import NSlackBlock as NSlackBlock
from .sdm import SDM as SDM
from .stream import StreamDual as StreamDual
