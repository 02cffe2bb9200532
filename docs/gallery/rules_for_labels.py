"""Rules for labels: only legal sequences, and labels you already know

In BIO format, I-LOC may follow B-LOC or I-LOC only. `ChainSVM` recognises such labels and
never breaks that rule; `scheme="bio"` asks for it explicitly, and `scheme=None` turns it
off. You may also fix some labels at prediction time; the others are chosen to fit.
"""

# %%
from maxmargin import ChainSVM

X = [
    [{"w": w} for w in s.split()]
    for s in ("new york wins", "old york sleeps", "he wins")
]
y = [["B-LOC", "I-LOC", "O"], ["B-LOC", "I-LOC", "O"], ["O", "O"]]
free = ChainSVM(C=1.0, scheme=None).fit(X, y)
legal = ChainSVM(C=1.0, scheme="bio").fit(X, y)
odd = [{"w": "york"}, {"w": "sleeps"}]
print("free: ", free.predict([odd])[0])
print("legal:", legal.predict([odd])[0])

# %%
# Someone has told us that "he" is part of a name here:
given = [{"w": "he"}, {"w": "york"}]
print("alone:     ", legal.predict([given])[0])
print("with a hint:", legal.predict([given], forced=[{0: "B-LOC"}])[0])

# %%
# Which steps are allowed:
import matplotlib.pyplot as plt

labels = legal.classes_
table = [[0 if b.startswith("I-") and a == "O" else 1 for b in labels] for a in labels]
fig, ax = plt.subplots(figsize=(3.4, 2.8), layout="constrained")
ax.imshow(table, cmap="RdYlGn", vmin=-0.4, vmax=1.4)
ax.set(xticks=range(3), yticks=range(3), title="Allowed steps (row, then column)")
ax.set_xticklabels(labels)
ax.set_yticklabels(labels)
fig.savefig("allowed.png", dpi=110)
