"""Several labels per example: rare labels need thresholds

A photograph may show a beach and a mountain. `MultilabelSVM` predicts a set of labels.
Where labels are rare, a threshold below zero finds more of them.
"""

# %%
# Made-up photographs: five kinds of things, from common to rare.
import numpy as np

from maxmargin import MultilabelSVM

rng = np.random.default_rng(0)
labels = ["sky", "tree", "water", "boat", "eagle"]
share = np.array([0.5, 0.4, 0.25, 0.08, 0.05])
signs = rng.normal(size=(5, 12))


def photographs(n):
    there = rng.random((n, 5)) < share
    X = there @ signs + 1.6 * rng.normal(size=(n, 12))
    return X, [[labels[k] for k in np.flatnonzero(row)] for row in there]


X, y = photographs(600)
X_test, y_test = photographs(2000)
print(y[:4])

# %%
# One threshold of zero for all labels, and thresholds chosen for each label by
# cross-validation:
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

table = MultiLabelBinarizer(classes=labels)
truth, scores = table.fit_transform(y_test), {}
for name, thresholds in (("zero", None), ("chosen", "macro")):
    model = MultilabelSVM(C=0.1, thresholds=thresholds).fit(X, y)
    found = table.transform(model.predict(X_test))
    scores[name] = f1_score(truth, found, average=None)
    print(f"{name:7s} mean F1 {scores[name].mean():.3f}")

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for k, (name, values) in enumerate(scores.items()):
    ax.bar(np.arange(5) + 0.38 * k - 0.19, values, 0.36, label=f"threshold: {name}")
ax.set(xticks=range(5), ylabel="F1", ylim=(0, 1))
ax.set_xticklabels(labels)
ax.legend(fontsize="small")
fig.savefig("f1.png", dpi=110)
