"""Match two sets: who works on what

Each of n people does one of n jobs. The score of a matching is a sum over its pairs, and
the best one is found by the Hungarian algorithm. `Matching` is a structure written for
compiled loops, and the worked example for writing more of them.
"""

# %%
import numpy as np
from scipy.optimize import linear_sum_assignment

from maxmargin import StructuralSVM
from maxmargin.losses import Hamming
from maxmargin.structures import Matching

rng = np.random.default_rng(0)
taste = np.array([1.0, -0.5, 0.0])
X = [rng.normal(size=(6, 6, 3)) for _ in range(80)]
values = [x @ taste + 0.4 * rng.normal(size=(6, 6)) for x in X]
y = [linear_sum_assignment(v, maximize=True)[1].tolist() for v in values]
model = StructuralSVM(Matching(), C=0.2, loss=Hamming()).fit(X[:40], y[:40])
right = np.mean([np.array(a) == b for a, b in zip(model.predict(X[40:]), y[40:])])
print(f"{right:.1%} of the jobs are given to the right person")
print("learned", (model.coef_ / np.abs(model.coef_).max()).round(2))

# %%
import matplotlib.pyplot as plt

found, true = model.predict(X[41:42])[0], y[41]
fig, ax = plt.subplots(figsize=(4, 3), layout="constrained")
for person, job in enumerate(found):
    colour = "tab:green" if job == true[person] else "tab:red"
    ax.plot([0, 1], [person, job], color=colour, marker="o")
ax.set(xticks=[0, 1], yticks=range(6), title="green: as in the truth")
ax.set_xticklabels(["person", "job"])
fig.savefig("pairs.png", dpi=110)
