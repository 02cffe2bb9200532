"""Explanations and reports of a fitted model: functions behind methods of estimators.

explain.py       Why an output: its score taken apart into pieces and features
fitted_model.py  What explanations and reports ask of a fitted estimator
report.py        The hardest examples of a model, and the page about it
support.py       Which training examples shaped a weight
"""
