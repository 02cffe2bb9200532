from .blocks import PlaneBlocks as PlaneBlocks
from .steps import block_gap as block_gap
from .steps import box_steps as box_steps
from .steps import pair_steps as pair_steps
from .store import planes_of as planes_of
