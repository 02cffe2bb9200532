from .chain import ChainSVM as ChainSVM
from .motif import MotifSVM as MotifSVM
from .segment import SegmentSVM as SegmentSVM
