from .aggregates import Aggregates as Aggregates
from .bcfw import BCFW as BCFW
