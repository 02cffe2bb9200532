from .encoded_files import encode_sequences as encode_sequences
from .encoded_files import open_encoded as open_encoded
from .encoded_files import write_encoded as write_encoded
from .token_rows import Tokens as Tokens
