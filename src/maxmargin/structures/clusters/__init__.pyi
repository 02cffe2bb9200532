from .coreference import Coreference as Coreference
from .coreference import PairFeatures as PairFeatures
from .correlation import Correlation as Correlation
from .mention_finder import find_mentions as find_mentions
from .mentions import NAMES as NAMES
from .mentions import Document as Document
from .mentions import Mention as Mention
from .mentions import pair_features as pair_features
