from .conll2012 import read_conll2012 as read_conll2012
from .conll2012 import write_conll2012 as write_conll2012
from .corefud import read_corefud as read_corefud
from .corefud import write_corefud as write_corefud
from .document import CoreferenceDocument as CoreferenceDocument
