"""The best parse trees.

chart.py         What charts are made of: rules, scores, words and brackets as flat
cky.py           Best trees of a string under scored binary rules and unary chains
parse_forest.py  Trees of a forest: the k best, and the best for each pair of bracket
"""
