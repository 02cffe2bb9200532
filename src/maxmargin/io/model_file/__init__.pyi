from .archive import FREE as FREE
from .archive import Archive as Archive
from .archive import write_archive as write_archive
from .codec import Decoder as Decoder
from .codec import Encoder as Encoder
from .model import describe as describe
