from .f1_parsing import f1_bound as f1_bound
from .kernel_structure import KernelGrammar as KernelGrammar
from .structure import Grammar as Grammar
from .treebank.binarise import BinaryShape as BinaryShape
from .treebank.binarise import restore as restore
