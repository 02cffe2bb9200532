from .corpora import DownloadError as DownloadError
from .corpora import TaggedText as TaggedText
from .corpora import data_folder as data_folder
from .corpora import fetch_brown as fetch_brown
from .corpora import fetch_conll2000 as fetch_conll2000
from .corpora import fetch_conll2002 as fetch_conll2002
from .corpora import fetch_penn_dependencies as fetch_penn_dependencies
from .corpora import fetch_penn_trees as fetch_penn_trees
from .homologs import LETTERS as LETTERS
from .homologs import make_homologs as make_homologs
from .homstrad import Family as Family
from .homstrad import family_pairs as family_pairs
from .homstrad import read_homstrad as read_homstrad
from .postcodes import CODES as CODES
from .postcodes import written_postcodes as written_postcodes
from .samples import Novel as Novel
from .samples import Promoters as Promoters
from .samples import load_litbank as load_litbank
from .samples import load_promoters as load_promoters

BLOSUM62: str
