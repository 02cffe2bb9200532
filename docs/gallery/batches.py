"""Learn in batches: data that arrive over time

`partial_fit` continues training with new data. The constraints found so far are kept, so
earlier data are not needed again.
"""

# %%
from sklearn.datasets import load_digits

from maxmargin import MulticlassSVM

X, y = load_digits(return_X_y=True)
X = X / 16.0
X_test, y_test = X[1200:], y[1200:]
model = MulticlassSVM(C=0.1)
seen, scores = [], []
for start in range(0, 1200, 150):
    batch = slice(start, start + 150)
    model.partial_fit(X[batch], y[batch])
    seen.append(start + 150)
    scores.append(model.score(X_test, y_test))
    print(f"after {seen[-1]:4d} digits: {scores[-1]:.1%} right")

# %%
# All data at once, for comparison:
at_once = MulticlassSVM(C=0.1).fit(X[:1200], y[:1200]).score(X_test, y_test)
print(f"at once: {at_once:.1%}")

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(seen, scores, "o-", label="in batches")
ax.axhline(at_once, c="gray", ls="--", label="all at once")
ax.set(xlabel="digits seen", ylabel="accuracy on new digits")
ax.legend()
fig.savefig("batches.png", dpi=110)
