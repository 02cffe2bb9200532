from .structure import Dependency as Dependency
from .trees import is_projective as is_projective
from .trees import projective_heads as projective_heads
