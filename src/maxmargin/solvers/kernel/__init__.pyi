from .binary_smo import train_pairs as train_pairs
from .cuts import TokenCuts as TokenCuts
from .cuts import carried as carried
