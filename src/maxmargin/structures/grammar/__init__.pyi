from .binarise import BinaryShape as BinaryShape
from .binarise import restore as restore
from .f1_parsing import f1_bound as f1_bound
from .kernel_structure import KernelGrammar as KernelGrammar
from .structure import Grammar as Grammar
