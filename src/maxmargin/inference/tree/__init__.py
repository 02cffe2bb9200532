"""Best parse trees.

arborescence.py      Non-projective dependency trees: Chu-Liu/Edmonds, matrix-tree theorem
chart.py             Rules, scores, words and brackets as flat arrays
cky.py               Best trees under scored rules (CKY)
dependency_trees.py  Dependency trees of one sentence: best, k best, max-marginals
eisner.py            Projective dependency trees (Eisner)
parse_forest.py      Trees of a forest: k best, and best for bracket counts
spans.py             Binary trees from scores of labelled spans (CKY), and sums over them
"""
