"""Explanations and reports of a fitted model: functions behind methods of estimators.

chain_weights.py     The weights of label sequences as tables
class_weights.py     The weights of classes by feature
pictures.py          Pictures of outputs, for notebooks, reports and pages
explain.py           Why an output: its score taken apart into pieces and features
fitted_model.py      What explanations and reports ask of a fitted estimator
report.py            The hardest examples of a model, and the page about it
support_examples.py  Which training examples shaped a weight
"""
