from .checkpoint import digest as digest
