from .partition import relax as relax
from .spanning import components as components
from .spanning import spanning_forest as spanning_forest
from .spanning import spanning_trees as spanning_trees
