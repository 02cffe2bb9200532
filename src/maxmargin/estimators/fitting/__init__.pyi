from .checkpoint import digest as digest
from .inputs import check_same_length as check_same_length
