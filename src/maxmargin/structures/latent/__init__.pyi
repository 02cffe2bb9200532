from .partial import Partial as Partial
from .partial_network import PartialNetwork as PartialNetwork
from .partial_network import part_of as part_of
