"""Learn when some labels are missing

Put `None` where a label is not known. Training completes the missing labels and learns
from the rest, in turns. The objective is no longer convex, so the certificate is that of
the last convex problem; `result_.meaning()` says so.
"""

# %%
import numpy as np

from maxmargin import ChainSVM

rng = np.random.default_rng(1)


def sample(n):
    X, y = [], []
    for _ in range(n):
        state = np.cumsum(rng.random(30) < 0.2) % 3
        X.append(np.eye(3)[state] + 0.8 * rng.normal(size=(30, 3)))
        y.append(["abc"[s] for s in state])
    return X, y


X, y = sample(40)
X_test, y_test = sample(100)


def hidden(share):
    """The labels with a share of them missing."""
    return [[None if rng.random() < share else v for v in row] for row in y]


# %%
# Accuracy on new data as labels disappear:
shares = [0.0, 0.3, 0.6, 0.8, 0.9]
scores = [ChainSVM(C=0.1).fit(X, hidden(s)).score(X_test, y_test) for s in shares]
for share, score in zip(shares, scores):
    print(f"{share:4.0%} of the labels missing: {score:.1%} right")

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot([100 * s for s in shares], scores, "o-")
ax.set(xlabel="missing labels, %", ylabel="accuracy on new data", ylim=(0.5, 1))
fig.savefig("missing.png", dpi=110)
model = ChainSVM(C=0.1).fit(X, hidden(0.6))
print(model.result_.meaning())
