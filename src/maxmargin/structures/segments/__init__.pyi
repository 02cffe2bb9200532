from .inputs import SegmentInputs as SegmentInputs
from .spans import given_spans as given_spans
from .structure import Segments as Segments
from .vocabulary import SegmentVocabulary as SegmentVocabulary
