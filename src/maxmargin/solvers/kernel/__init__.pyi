from .binary_smo import BinarySmo as BinarySmo
from .cuts import TokenCuts as TokenCuts
from .cuts import carried as carried
from .moving_points import descend as descend
from .result import KernelResult as KernelResult
from .sampled_cuts import SampledCuts as SampledCuts
from .subspace import Subspace as Subspace
