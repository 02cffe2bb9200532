from .base import Result as Result
from .base import Run as Run
from .base import Solver as Solver
from .base import Status as Status
from .base import Trainer as Trainer
from .base import check as check
from .base import run as run
from .cccp import CCCP as CCCP
from .choose import AS_WRITTEN as AS_WRITTEN
from .choose import SOLVERS as SOLVERS
from .choose import Auto as Auto
from .choose import Costs as Costs
from .choose import decide as decide
from .choose import resolve as resolve
from .distributed.cocoa import Cocoa as Cocoa
from .enumerated.block_dual import Enumerated as Enumerated
from .enumerated.newton import Newton as Newton
from .frank_wolfe.bcfw import BCFW as BCFW
from .lanes.solver import Lanes as Lanes
from .n_slack.block_dual import BlockDual as BlockDual
from .n_slack.cutting_plane import NSlack as NSlack
from .n_slack.cutting_plane import NSlackBlock as NSlackBlock
from .n_slack.sdm import SDM as SDM
from .one_slack.cutting_plane import OneSlack as OneSlack
from .one_slack.qp import maximise as maximise
from .smo import Smo as Smo
from .sparse.proximal import ProximalL1 as ProximalL1
from .subgradient import Subgradient as Subgradient
from .summed.cutting_plane import LSECuttingPlane as LSECuttingPlane
from .summed.cutting_plane_as_written import (
    LSECuttingPlaneAsWritten as LSECuttingPlaneAsWritten,
)
from .summed.n_slack import LSENSlack as LSENSlack
from .summed.sdcd import SDCD as SDCD
from .summed.sdcd_as_written import SDCDAsWritten as SDCDAsWritten
