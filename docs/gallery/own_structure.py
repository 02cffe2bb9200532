"""A structure of your own: pack a suitcase

Your output is none of the built-in ones? Say how an output is scored (`joint_feature`), how
wrong it is (`loss`), and how to find the best one (`argmax`). Everything else, training
and certificate included, comes with the library.
"""

# %%
# Which three of eight things does someone take along? Features: use, weight, beauty.
from itertools import combinations

import numpy as np

from maxmargin import StructuralSVM, check_structure


class Suitcase:
    """Outputs are sorted tuples of three things."""

    def joint_feature(self, x, y):
        return np.asarray(x)[list(y)].sum(axis=0)

    def loss(self, y, y_hat):
        return 3.0 - len(set(y) & set(y_hat))

    def argmax(self, w, x, y=None):
        def value(z):
            extra = 0.0 if y is None else self.loss(y, z)
            return w @ self.joint_feature(x, z) + extra

        return max(combinations(range(len(x)), 3), key=value)


rng = np.random.default_rng(0)
taste = np.array([2.0, -1.5, 0.5])
X = [rng.normal(size=(8, 3)) for _ in range(60)]
y = [tuple(sorted(np.argsort(-(x @ taste + 0.5 * rng.normal(size=8)))[:3].tolist()))
     for x in X]  # fmt: skip
check_structure(Suitcase(), X[:5], y[:5])  # says what is wrong with it, if anything
model = StructuralSVM(Suitcase(), C=0.5).fit(X[:30], y[:30])
print(model.result_.summary())

# %%
# Did it find the taste behind the choices?
found = model.coef_ / np.linalg.norm(model.coef_)
print("learned", found.round(2), " true", (taste / np.linalg.norm(taste)).round(2))
right = np.mean(
    [len(set(a) & set(b)) / 3 for a, b in zip(model.predict(X[30:]), y[30:])]
)
print(f"{right:.1%} of the things packed are right")

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(4.6, 2.6), layout="constrained")
at = np.arange(3)
ax.bar(at - 0.2, taste / np.linalg.norm(taste), 0.4, label="true")
ax.bar(at + 0.2, found, 0.4, label="learned")
ax.set_xticks(at, ["use", "weight", "beauty"])
ax.legend()
fig.savefig("taste.png", dpi=110)
