"""Classes in a taxonomy: make milder mistakes

To call a trout a salmon is a smaller mistake than to call it an eagle. Give the tree of
classes and train for its loss: classes share what they have in common, and mistakes stay
near.
"""

# %%
import numpy as np

from maxmargin import MulticlassSVM

tree = {"trout": "fish", "salmon": "fish", "eagle": "bird", "owl": "bird",
        "fish": "animal", "bird": "animal"}  # fmt: skip
centre = {"trout": (0, 0), "salmon": (1, 0.6), "eagle": (0.5, 3), "owl": (1.6, 2.6)}
rng = np.random.default_rng(0)


def sample(n):
    y = rng.choice(list(centre), n)
    return np.array([centre[c] for c in y]) + rng.normal(scale=0.7, size=(n, 2)), y


X, y = sample(80)
X_test, y_test = sample(2000)

# %%
# How far apart are the true and the predicted class in the tree? 1: siblings, 2: not even
# the same kind of animal.
plain = MulticlassSVM(C=0.1).fit(X, y)
aware = MulticlassSVM(C=0.1, taxonomy=tree, loss="taxonomy").fit(X, y)
for name, model in (("without the tree", plain), ("with the tree", aware)):
    found = model.predict(X_test)
    wrong = found != y_test
    far = [tree[a] != tree[b] for a, b in zip(y_test, found)]
    print(
        f"{name:17s} {wrong.mean():.1%} wrong, {np.mean(far):.1%} wrong kind of animal"
    )

# %%
import matplotlib.pyplot as plt

grid = np.stack(np.meshgrid(np.linspace(-2, 4, 150), np.linspace(-2, 5, 150)), -1)
names = sorted(centre)
areas = [names.index(c) for c in aware.predict(grid.reshape(-1, 2))]
fig, ax = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
ax.contourf(*np.moveaxis(grid, -1, 0), np.reshape(areas, (150, 150)), levels=3,
            cmap="Pastel1")  # fmt: skip
for name in names:
    ax.scatter(*X[y == name].T, s=12, label=name)
ax.legend(fontsize="small")
fig.savefig("areas.png", dpi=110)
