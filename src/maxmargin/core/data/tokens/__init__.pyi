from .label_schemes import Recognised as Recognised
from .label_schemes import convert_scheme as convert_scheme
from .label_schemes import labels_of_spans as labels_of_spans
from .label_schemes import recognise_scheme as recognise_scheme
from .sequences import Sequences as Sequences
from .token_features import TokenFeatures as TokenFeatures
from .token_features import TokenReader as TokenReader
from .token_features import TokenTemplates as TokenTemplates
