from .chain import Chain as Chain
from .labels import best_labels as best_labels
from .labels import best_spans as best_spans
from .labels import label_marginals as label_marginals
from .labels import nbest_labels as nbest_labels
from .segments import Segments as Segments
