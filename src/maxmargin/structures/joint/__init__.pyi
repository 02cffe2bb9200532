from .growing import Growing as Growing
from .space import JointKernelError as JointKernelError
from .space import PairSpace as PairSpace
from .structure import ClassPairs as ClassPairs
from .structure import OwnPairs as OwnPairs
from .structure import PairStructure as PairStructure
