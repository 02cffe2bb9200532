from .blosum import BLOSUM62 as BLOSUM62
from .homologs import LETTERS as LETTERS
from .homologs import make_homologs as make_homologs
from .homstrad import Family as Family
from .homstrad import family_pairs as family_pairs
from .homstrad import read_homstrad as read_homstrad
from .postcodes import CODES as CODES
from .postcodes import written_postcodes as written_postcodes
