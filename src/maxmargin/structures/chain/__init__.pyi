from .encoded import encode_sequences as encode_sequences
from .encoded import open_encoded as open_encoded
from .encoded import write_encoded as write_encoded
from .structure import Chain as Chain
from .tokens import Tokens as Tokens
