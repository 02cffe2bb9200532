"""Which mentions mean the same thing?

Coreference puts the mentions of a document into clusters, one per thing in the world.
`CoreferenceSVM` learns from pairs of mentions, but decides about all of them together.
"""

# %%
# A mention is (sentence, first word, last word). Two small documents to learn from:
from maxmargin import CoreferenceSVM
from maxmargin.structures.clusters import Document, Mention

first = Document(
    ["Ana lives in Lima .".split(), "She likes Lima , and Ana works there .".split()],
    [Mention(0, 0, 0), Mention(0, 3, 3), Mention(1, 0, 0), Mention(1, 2, 2),
     Mention(1, 5, 5)],
)  # fmt: skip
second = Document(
    ["Otto Klein met a dog .".split(), "He fed the dog , and Klein left .".split()],
    [Mention(0, 0, 1), Mention(0, 3, 4), Mention(1, 0, 0), Mention(1, 2, 3),
     Mention(1, 6, 6)],
)  # fmt: skip
model = CoreferenceSVM(C=1.0).fit([first, second], [[0, 1, 0, 1, 0], [0, 1, 0, 1, 0]])
print(model.result_.meaning())

# %%
# A new document:
new = Document(
    ["Eva Torres saw Bonn .".split(), "She loves Bonn , said Torres .".split()],
    [Mention(0, 0, 1), Mention(0, 3, 3), Mention(1, 0, 0), Mention(1, 2, 2),
     Mention(1, 5, 5)],
)  # fmt: skip
clusters = model.predict([new])[0]
spans = [
    " ".join(new.sentences[m.sentence][m.first : m.last + 1]) for m in new.mentions
]
for cluster in sorted(set(clusters)):
    print(cluster, [s for s, c in zip(spans, clusters) if c == cluster])

# %%
# The text, with a colour for each cluster:
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(4.4, 1.0), layout="constrained")
for row, words in enumerate(new.sentences):
    pen = 0.0
    for at, word in enumerate(words):
        paint = "none"
        for m, cluster in zip(new.mentions, clusters):
            if m.sentence == row and m.first <= at <= m.last:
                paint = plt.cm.Pastel1(cluster)
        box = {"facecolor": paint, "edgecolor": "none", "pad": 4}
        ax.text(pen, -row, word, va="center", bbox=box, family="monospace", fontsize=12)
        pen += len(word) + 1.5
ax.set(xlim=(-1, 36), ylim=(-1.5, 0.5))
ax.axis("off")
fig.savefig("clusters.png", dpi=110)
