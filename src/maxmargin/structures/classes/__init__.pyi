from .label_sets import LabelSets as LabelSets
from .output_features import compact as compact
from .output_features import described as described
from .output_features import similar as similar
from .structure import Multiclass as Multiclass
from .taxonomy import Taxonomy as Taxonomy
from .taxonomy import join_paths as join_paths
from .taxonomy import split_paths as split_paths
