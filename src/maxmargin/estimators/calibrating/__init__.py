"""How sure a fitted model is: functions behind methods of estimators.

calibration.py  Calibration: what held-out examples say about the scores of a model
held_out.py     Scores of examples that training has not seen, from data or by folds
outputs.py      Probabilities of n-best outputs, and sets of them
classes.py      Probabilities of classes, answers at the nodes of a taxonomy
outside.py      A constant for the label O, chosen for the F1 of rare spans
labels.py       Probabilities of the labels of tokens, sets of labels, sure spans
"""
