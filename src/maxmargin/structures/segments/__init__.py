"""Segmentations: labelled spans of a sentence that do not overlap (semi-Markov models).

structure.py     Segments: the structure itself
layout.py        Which weight is where, and psi as sparse rows
oracle.py        Loops: tables of segment scores from weights, most violated outputs
vocabulary.py    Features of whole segments
evidence.py      How often features of segments were seen at true segments
inputs.py        Sentences of any form as rows of features, and their words
spans.py         Label sequences, lists of spans, rows of codes
constraints.py   Labels that may not be neighbours
weight_names.py  Names of weights, and what each segment adds to a score
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
