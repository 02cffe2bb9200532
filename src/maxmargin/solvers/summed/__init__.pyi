from .cutting_plane import LSECuttingPlane as LSECuttingPlane
from .cutting_plane_as_written import (
    LSECuttingPlaneAsWritten as LSECuttingPlaneAsWritten,
)
from .n_slack import LSENSlack as LSENSlack
from .sdcd import SDCD as SDCD
from .sdcd_as_written import SDCDAsWritten as SDCDAsWritten
from .stream import SummedStream as SummedStream
