"""Rank documents for the top of the list

Only the first few results are read. `RankingSVM` trains for precision among the first k
directly, instead of predicting grades and sorting by them.
"""

# %%
import numpy as np

from maxmargin import RankingSVM
from maxmargin.metrics import mean_over_queries, precision_at_k

rng = np.random.default_rng(0)
weights = np.array([2.0, -1.0, 0.5, 0.0, 0.0])


def query():
    """30 documents with 5 features; about one in five is relevant."""
    x = rng.normal(size=(30, 5))
    taste = x @ weights + 1.5 * rng.normal(size=30)
    return x, (taste > np.quantile(taste, 0.8)).astype(int)


data = [query() for _ in range(140)]
X, y = [d[0] for d in data], [d[1] for d in data]
model = RankingSVM(C=0.1, k=5).fit(X[:40], y[:40])
print(f"precision among the first 5: {model.score(X[40:], y[40:]):.1%}")
print("weights", np.round(model.coef_ / np.abs(model.coef_).max(), 2))

# %%
# Precision among the first k, against a random order:
import matplotlib.pyplot as plt

ks = range(1, 11)
scores = model.decision_function(X[40:])
learned = [mean_over_queries(precision_at_k, y[40:], scores, k) for k in ks]
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(ks, learned, "o-", label="RankingSVM")
ax.axhline(0.2, ls="--", c="gray", label="random order")
ax.set(xlabel="k", ylabel="precision among the first k", ylim=(0, 1))
ax.legend()
fig.savefig("precision.png", dpi=110)
