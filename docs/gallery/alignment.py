"""Align sequences with learned scores

`AlignmentSVM` learns which letters match and what gaps cost from pairs that were aligned
by hand, instead of taking the scores from a table.
"""

# %%
# Made-up proteins: the second is a copy of the first with mutations and deletions, so
# the true alignment is known.
import numpy as np

from maxmargin import AlignmentSVM

rng = np.random.default_rng(0)
letters, twin = "ACDEFGHIKL", dict(zip("ACDEFGHIKL", "CADGFEIHLK"))


def pair():
    """Two sequences and their alignment, as rows with gaps."""
    top, bottom = "", ""
    for letter in rng.choice(list(letters), 30):
        chance = rng.random()
        top += letter
        bottom += "-" if chance < 0.1 else twin[letter] if chance < 0.5 else letter
    return (top, bottom.replace("-", "")), (top, bottom)


pairs = [pair() for _ in range(90)]
X, y = [p[0] for p in pairs], [p[1] for p in pairs]
model = AlignmentSVM(C=1.0, mode="global").fit(X[:30], y[:30])
print(f"{model.score(X[30:], y[30:]):.1%} of the matched pairs are found")

# %%
# One of the new pairs. Green matches are right, red ones are not:
from pathlib import Path

from maxmargin.reports.drawing import alignment_svg, alignment_text
from maxmargin.structures.alignment.paths import columns_of

found, truth = model.predict(X[40:41])[0], columns_of(y[40], "pair 40")
print(alignment_text(*X[40], found, truth))
Path("aligned.svg").write_text(alignment_svg(*X[40], found, truth))

# %%
# It has learned that A and C replace each other, as do E and G, and so on:
names, scores = model.substitution_matrix()
at = {str(name): k for k, name in enumerate(names)}
print("A-C", round(float(scores[at["A"], at["C"]]), 3),
      " A-D", round(float(scores[at["A"], at["D"]]), 3))  # fmt: skip
