"""Choose C by cross-validation

C says how much training errors cost. `PathCV` tries several values, each started from the
weights of the one before, so a whole path costs little more than one fit.
"""

# %%
import numpy as np
from sklearn.datasets import load_digits

from maxmargin import MulticlassSVM, PathCV

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16.0, y[:400]
search = PathCV(MulticlassSVM(), Cs=[0.0003, 0.001, 0.01, 0.1, 1.0, 10.0], cv=4).fit(
    X, y
)
print("best C:", search.C_)

# %%
import matplotlib.pyplot as plt

Cs = sorted(search.scores_)
mean = [np.mean(search.scores_[C]) for C in Cs]
spread = [np.std(search.scores_[C]) for C in Cs]
for C, score in zip(Cs, mean):
    print(f"C={C:<8g} {score:.1%} right")
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.errorbar(Cs, mean, yerr=spread, fmt="o-", capsize=3)
ax.set(xscale="log", xlabel="C", ylabel="accuracy, 4 folds")
fig.savefig("path.png", dpi=110)
