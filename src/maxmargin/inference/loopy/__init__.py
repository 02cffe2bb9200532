"""Labels of graphs with cycles: message passing, graph cuts, linear programming.

graphcut.py     Graph cuts: exact for two labels that attract, expansion moves for more
max_product.py  Loopy max-product with damping: belief propagation where it need not
maxflow.py      Minimum cuts by the search trees of Boykov and Kolmogorov
messages.py     Messages between the nodes of a graph: what loopy max-product and TRW-S
relaxation.py   The LP relaxation: marginals that agree locally, possibly fractional
trws.py         A convergent dual bound with rounding: sequential tree-reweighted
"""
