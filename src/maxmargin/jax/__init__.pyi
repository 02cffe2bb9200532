from .losses import LOSSES as LOSSES
from .losses import decode as decode
from .losses import structured_loss as structured_loss
