"""Labels of graphs with cycles: message passing, graph cuts, linear programming.

graphcut.py    Graph cuts: exact for two labels that attract, expansion moves for more
maxflow.py     Minimum cuts by the search trees of Boykov and Kolmogorov
messages.py    Message passing: loopy max-product and TRW-S
relaxation.py  The LP relaxation: marginals that agree locally, possibly fractional
"""
