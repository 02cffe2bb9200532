"""Fit and predict with a wheel's machine code; fails if a loop had to be compiled."""

import numpy as np

import maxmargin as mm
from maxmargin import runtime

X = np.random.default_rng(0).normal(size=(30, 3))
y = np.arange(30) % 3
mm.MulticlassSVM().fit(X, y).predict(X)
words = [X[k : k + 3] for k in range(0, 30, 3)]
mm.ChainSVM().fit(words, [[0, 1, 2]] * 10).predict(words)
mm.RankingSVM(k=3).fit(words, [[1, 0, 0]] * 10).predict(words)
counts = runtime.describe()["loops"]
assert counts["compiled"] == 0 and counts["shipped"] > 10, counts
