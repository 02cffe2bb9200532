from .structure import Chain as Chain
from .tokens.encoded_files import encode_sequences as encode_sequences
from .tokens.encoded_files import open_encoded as open_encoded
from .tokens.encoded_files import write_encoded as write_encoded
from .tokens.token_rows import Tokens as Tokens
