from .alignment import AlignmentSVM as AlignmentSVM
from .homology import HomologySVM as HomologySVM
