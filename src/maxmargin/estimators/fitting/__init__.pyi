from .base import check_same_length as check_same_length
from .checkpoint import digest as digest
