"""Clean a noisy image: labels of neighbouring pixels

Each pixel is a node of a grid, its label "ink" or "paper". Seen alone, pixels are too
noisy; `NetworkSVM` learns how much neighbours should agree. With two labels that
attract each other, the best labelling is found exactly, by a graph cut.
"""

# %%
import numpy as np

from maxmargin import NetworkSVM

rng = np.random.default_rng(0)
side = 24
where = np.arange(side * side).reshape(side, side)
edges = np.vstack([np.c_[where[:, :-1].ravel(), where[:, 1:].ravel()],
                   np.c_[where[:-1].ravel(), where[1:].ravel()]])  # fmt: skip


def picture():
    """Two discs, and a noisy photograph of them."""
    rows, columns = np.indices((side, side))
    clean = np.zeros((side, side), int)
    for _ in range(2):
        r, c = rng.uniform(5, side - 5, 2)
        clean |= (rows - r) ** 2 + (columns - c) ** 2 < rng.uniform(9, 30)
    noisy = clean + 0.6 * rng.normal(size=clean.shape)
    return (noisy.reshape(-1, 1), edges), np.array(["paper", "ink"])[
        clean.ravel()
    ].tolist()


data = [picture() for _ in range(16)]
X, y = [d[0] for d in data], [d[1] for d in data]

# %%
joint = NetworkSVM(C=0.1, pairwise="potts").fit(X[:8], y[:8])
alone = NetworkSVM(C=0.1, pairwise="potts").fit([(n, []) for n, _ in X[:8]], y[:8])
print(f"pixel by pixel: {alone.score([(n, []) for n, _ in X[8:]], y[8:]):.1%} right")
print(f"with neighbours: {joint.score(X[8:], y[8:]):.1%} right")

# %%
import matplotlib.pyplot as plt

fig, axes = plt.subplots(1, 4, figsize=(8, 2.3), layout="constrained")
shown = [("photograph", X[9][0].reshape(side, side))]
single, together = alone.predict([(X[9][0], [])])[0], joint.predict(X[9:10])[0]
found = (("pixel by pixel", single), ("with neighbours", together), ("truth", y[9]))
for name, labels in found:
    shown.append((name, (np.array(labels) == "ink").reshape(side, side)))
for ax, (name, image) in zip(axes, shown):
    ax.imshow(image, cmap="gray_r")
    ax.set(title=name, xticks=[], yticks=[])
fig.savefig("discs.png", dpi=110)
