"""How training converges: primal, dual and gap

Every trainer reports two numbers: the objective of its weights (primal) and a bound that no
weights can beat (dual). Training ends when they meet. The default is fast; the others are
there to compare with.
"""

# %%
import numpy as np
from sklearn.datasets import load_digits

from maxmargin import ChainSVM

digits = load_digits()
rng = np.random.default_rng(0)
rows = [rng.choice(len(digits.target), 6) for _ in range(60)]
X = [digits.data[r] / 16.0 for r in rows]
y = [digits.target[r] for r in rows]

# %%
models = {}
for solver in ("block-dual", "bcfw", "one-slack"):
    models[solver] = ChainSVM(C=0.1, solver=solver, tol=1e-3).fit(X, y)
    result = models[solver].result_
    print(f"{solver:11s} objective {result.primal:.4f}, gap {result.gap:.1e}, "
          f"{result.oracle_calls} calls of inference")  # fmt: skip

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
for name, model in models.items():
    history = model.result_.history
    shown = np.isfinite(history["gap"]) & (history["gap"] > 0)
    ax.semilogy(history["oracle_calls"][shown], history["gap"][shown], label=name)
ax.axhline(1e-3, c="gray", ls="--", lw=1)
ax.set(xlabel="calls of inference", ylabel="relative duality gap")
ax.legend()
fig.savefig("gap.png", dpi=110)
