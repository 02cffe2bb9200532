"""Names in novels: train a tagger on real text

The first pages of 28 novels come with maxmargin, with their names marked by hand
(LitBank). The tagger makes features of words itself: the words around, their capitals,
prefixes and suffixes.
"""

# %%
# Whole novels are held out, so that the people in them are new:
from maxmargin import ChainSVM
from maxmargin.datasets import load_litbank

novels = load_litbank()
test = [k % 4 == 0 for k in range(len(novels))]
X = [row for novel, out in zip(novels, test) if not out for row in novel.sentences]
y = [row for novel, out in zip(novels, test) if not out for row in novel.names]
X_test = [row for novel, out in zip(novels, test) if out for row in novel.sentences]
y_test = [row for novel, out in zip(novels, test) if out for row in novel.names]
print(len(X), "sentences to learn from,", len(X_test), "to test on")
print(y[0][:12])

# %%
# `features="ner"` are the usual features for names:
tagger = ChainSVM(features="ner", C=0.3).fit(X, y)
print(tagger.result_.summary())

# %%
# How good is it? F1 counts a name as found if its words and its type are right. 351
# sentences are few for real text: taggers of newspapers learn from ten thousand.
from maxmargin.metrics import span_scores

scores = span_scores(y_test, list(tagger.predict(X_test)))
for kind, name in (("PER", "people"), ("micro", "all")):
    precision, recall, f1, number = scores[kind]
    print(f"{name:6} precision {precision:.2f}, recall {recall:.2f}, F1 {f1:.2f} "
          f"({number} names)")  # fmt: skip

# %%
# `tag` labels one sentence, given as a list of words:
words = "Mr. Holmes left London and met Miss Adler in Bath .".split()
for word, label in zip(words, tagger.tag(words)):
    print(f"{word:8s} {label}")

# %%
# What tells a person from other words: the largest weights.
import matplotlib.pyplot as plt

top = tagger.top_features("B-PER", 10)[::-1]
fig, ax = plt.subplots(figsize=(5.2, 3), layout="constrained")
ax.barh([name for name, _ in top], [weight for _, weight in top], color="#2f86d6")
ax.set(title="Features for B-PER", xlabel="weight")
ax.spines[["top", "right"]].set_visible(False)
fig.savefig("features.png", dpi=110)
