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
fig, ax = plt.subplots(figsize=(3.8, 2.4), layout="constrained")
for a, before in enumerate(labels):
    for b, after in enumerate(labels):
        legal_step = not after.startswith("I-") or before != "O"
        ax.text(b, -a, "yes" if legal_step else "no", ha="center", va="center",
                color="tab:green" if legal_step else "tab:red", fontsize=12)  # fmt: skip
ax.set(xticks=range(3), yticks=range(0, -3, -1), xlim=(-0.5, 2.5), ylim=(-2.5, 0.5),
       xlabel="next label", ylabel="label", title="May this label come next?")  # fmt: skip
ax.set_xticklabels(labels)
ax.set_yticklabels(labels)
fig.savefig("allowed.png", dpi=110)
