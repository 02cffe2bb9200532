from .binarise import BinaryShape as BinaryShape
from .binarise import restore as restore
from .f1_parsing import f1_bound as f1_bound
from .structure import Grammar as Grammar
