"""Labels of graphs with cycles: messages, cuts, linear programming.

messages.py    Loopy max-product and TRW-S
graphcut.py    Graph cuts and expansion moves
maxflow.py     Minimum cuts by Boykov and Kolmogorov
relaxation.py  The LP relaxation, whose marginals may be fractional
"""
