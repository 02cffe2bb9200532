from .cutting_plane import LSECuttingPlane as LSECuttingPlane
from .sdcd import SDCD as SDCD
