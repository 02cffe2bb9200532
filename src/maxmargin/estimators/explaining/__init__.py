"""Explanations and reports of a fitted model.

explain.py  Explain: why an output, and which training examples shaped a weight
report.py   Report: the hardest examples of a model, and the page about it
"""
