from .coreference import CoreferenceSVM as CoreferenceSVM
from .coreference import CorrelationSVM as CorrelationSVM
from .dependency import DependencySVM as DependencySVM
from .grammar import GrammarSVM as GrammarSVM
