"""Promoters of E. coli: the TATA box, found in real DNA

A promoter is where a cell begins to read a gene. 53 of these 106 pieces of DNA have one.
Textbooks say that most promoters of E. coli have something like TATAAT about ten bases
before the start of the gene. `MotifSVM` is told only which pieces have a promoter.
"""

# %%
from maxmargin import MotifSVM
from maxmargin.datasets import load_promoters

X, y = load_promoters()
print(len(X), "pieces of", len(X[0]), "bases;", X[0], y[0])

# %%
# Five-fold cross-validation. The place of the motif is hidden, so training depends on its
# start; `restarts` tries five and keeps the one with the lowest objective.
from sklearn.model_selection import StratifiedKFold, cross_val_score

model = MotifSVM(length=6, order=0, C=0.3, restarts=5, random_state=0)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = cross_val_score(model, X, y, cv=folds)
print(f"{scores.mean():.1%} right, folds {scores.min():.0%} to {scores.max():.0%}")

# %%
# What it found in all of them, and where. The gene starts at the 51st base of a piece.
import numpy as np

model.fit(X, y)
with_promoter = [x for x, label in zip(X, y) if label == "+"]
starts = model.locate(with_promoter)["start"]
print("consensus", model.consensus())
print(
    "it begins",
    int(np.median(50 - starts)),
    "bases before the start of the gene (median)",
)
for x, start in zip(with_promoter[:4], starts):
    print(x[:start] + "[" + x[start : start + 6].upper() + "]" + x[start + 6 :])

# %%
# The motif as a logo: the height of a letter tells how much it matters.
from pathlib import Path

from maxmargin.reports.drawing import sequence_logo

Path("logo.svg").write_text(
    sequence_logo(model.motif_.probabilities, model.motif_.background)
)
