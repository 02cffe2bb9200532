"""How sure is it? Margins and n-best lists

A score is not a probability. The margin of a token says how much less the best sequence
with another label there would score. It has the unit of the loss: training asks for a
margin of 1 per wrong token.
"""

# %%
import numpy as np

from maxmargin import ChainSVM

rng = np.random.default_rng(0)


def sample(n):
    """Noisy signals that switch between "low" and "high"."""
    X, y = [], []
    for _ in range(n):
        state = np.cumsum(rng.random(40) < 0.15) % 2
        X.append((state + 0.7 * rng.normal(size=40))[:, None])
        y.append(np.array(["low", "high"])[state].tolist())
    return X, y


model = ChainSVM(C=1.0).fit(*sample(60))
X, y = sample(100)
print(f"{model.score(X, y):.1%} of the labels are right")

# %%
# The three best label sequences of one signal differ in a few places:
for labels, score in model.predict_nbest(X[:1], 3)[0]:
    print(f"{score:7.3f}", "".join("#" if v == "high" else "." for v in labels))

# %%
# Labels with a large margin are right more often:
margin = np.concatenate(model.confidence(X))
right = np.concatenate([np.array(a) == b for a, b in zip(y, model.predict(X))])
edges = np.quantile(margin, np.linspace(0, 1, 9))
middle = [
    margin[(margin >= a) & (margin <= b)].mean() for a, b in zip(edges, edges[1:])
]
share = [right[(margin >= a) & (margin <= b)].mean() for a, b in zip(edges, edges[1:])]

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.plot(middle, share, "o-")
ax.set(
    xlabel="margin", ylabel="share of right labels", title="Margins tell how sure it is"
)
fig.savefig("margins.png", dpi=110)
print(f"lowest eighth of margins: {share[0]:.1%} right; highest: {share[-1]:.1%}")
