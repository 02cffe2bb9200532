from .binarise import BinaryShape as BinaryShape
from .binarise import restore as restore
