"""Best parse trees.

chart.py         Rules, scores, words and brackets as flat arrays
cky.py           Best trees under scored rules (CKY)
parse_forest.py  Trees of a forest: k best, and best for bracket counts
"""
