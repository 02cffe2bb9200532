from .alignment import AlignmentSVM as AlignmentSVM
from .homology import HomologySVM as HomologySVM
from .partial import complete_alignments as complete_alignments
