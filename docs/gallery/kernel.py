"""Curved boundaries: a kernel, exact or with few points

`KernelSVM` compares inputs by a kernel. The exact model keeps every support vector;
`kernel_method="cpsp"` keeps as few points as you allow, so that predictions are fast.
"""

# %%
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import KernelSVM

X, y = make_moons(300, noise=0.25, random_state=0)
X_test, y_test = make_moons(1000, noise=0.25, random_state=1)
exact = KernelSVM(C=1.0, kernel="rbf", gamma=2.0).fit(X, y)
few = KernelSVM(C=1.0, kernel="rbf", gamma=2.0, kernel_method="cpsp", n_basis=8).fit(
    X, y
)
for name, model in (("exact", exact), ("8 points", few)):
    print(f"{name:9s} {model.score(X_test, y_test):.1%} right, "
          f"{len(model.expansion_.points)} points kept")  # fmt: skip

# %%
import matplotlib.pyplot as plt

grid = np.stack(
    np.meshgrid(np.linspace(-1.8, 2.8, 120), np.linspace(-1.4, 1.9, 120)), -1
)
fig, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, (("exact", exact), ("8 points", few))):
    score = model.decision_function(grid.reshape(-1, 2)).reshape(120, 120)
    ax.contourf(*np.moveaxis(grid, -1, 0), score, levels=[-9, 0, 9], cmap="Pastel2")
    ax.scatter(*X.T, c=y, s=8, cmap="coolwarm")
    ax.set(title=name, xticks=[], yticks=[])
fig.savefig("moons.png", dpi=110)
