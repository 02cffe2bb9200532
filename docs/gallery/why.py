"""Why did it say that? From a prediction back to the training data

An explanation takes the score of a prediction apart: which token, which feature. From a
feature, `support_structures` goes on to the training sentences that gave it its weight.
"""

# %%
from maxmargin import ChainSVM

sentences = ["Ana lives in Lima", "today Bob flew to Quito", "Eva Luna sings",
             "the old man sings in Lima", "Quito is far", "Luna is a dog"]  # fmt: skip
labels = [
    "PER O O LOC",
    "O PER O O LOC",
    "PER PER O",
    "O O O O O LOC",
    "LOC O O",
    "PER O O O",
]


def features(sentence):
    return [{"word": w.lower(), "capital": w[0].isupper(), "end": w[-2:]}
            for w in sentence.split()]  # fmt: skip


X, y = [features(s) for s in sentences], [row.split() for row in labels]
tagger = ChainSVM(C=1.0).fit(X, y)
why = tagger.explain(features("Bob sings in Quito"), n=3)
print(why)

# %%
# Where does the largest weight of the last token come from?
feature = why[-1].terms[0].feature
print(tagger.support_structures(feature, X, y, n=3))

# %%
import matplotlib.pyplot as plt

terms = why[-1].terms
fig, ax = plt.subplots(figsize=(5.4, 1.8), layout="constrained")
ax.barh([t.feature for t in terms][::-1], [t.adds for t in terms][::-1])
ax.set(xlabel="adds to the score", title="Why Quito is a place")
fig.savefig("terms.png", dpi=110)
