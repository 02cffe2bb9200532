"""Find a motif in DNA when nobody marked it

Some sequences contain a short pattern, others do not. Where it lies is not known:
`MotifSVM` finds the place in each sequence while it learns what the pattern looks like.
"""

# %%
import numpy as np

from maxmargin import MotifSVM

rng = np.random.default_rng(0)
pattern = "TATAAAC"


def sequence(planted):
    bases = rng.choice(list("acgt"), 40)
    if planted:
        at = rng.integers(0, 33)
        copy = np.array(list(pattern))
        copy[rng.random(7) < 0.08] = "G"
        bases[at : at + 7] = copy
    return "".join(bases)


X = [sequence(k % 2 == 0) for k in range(120)]
y = ["+" if k % 2 == 0 else "-" for k in range(120)]
model = MotifSVM(length=7, C=1.0, order=0, random_state=0).fit(X[:80], y[:80])
print("consensus", model.consensus(), "planted", pattern)
print(f"{model.score(X[80:], y[80:]):.1%} of new sequences right")

# %%
# Where it is, in some new sequences (start counts from 0):
for x, site in zip(X[80:84], model.locate(X[80:84])):
    start = int(site["start"])
    print(x[:start] + "[" + x[start : start + 7].upper() + "]" + x[start + 7 :],
          f"{float(site['score']):6.2f}")  # fmt: skip

# %%
# The learned motif as a logo:
from pathlib import Path

from maxmargin.reports.drawing import sequence_logo

motif = model.motif_
Path("logo.svg").write_text(sequence_logo(motif.probabilities, motif.background))
