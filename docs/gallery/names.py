"""Find names in sentences

The classic task for a tagger: mark people and places. A token is described by features,
the model learns a weight for each feature and label, and for each pair of neighbouring
labels.
"""

# %%
# Eight sentences are enough to see how it works. Labels are in BIO format: B begins a
# name, I continues it, O is outside.
from maxmargin import ChainSVM
from maxmargin.io.sequences import templates

text = """Ana/B-PER lives/O in/O Lima/B-LOC ./O
Juan/B-PER Carlos/I-PER flew/O from/O Cusco/B-LOC to/O New/B-LOC York/I-LOC ./O
The/O bank/O of/O Puno/B-LOC pays/O Eva/B-PER Torres/I-PER ./O
Mary/B-PER works/O near/O San/B-LOC Marcos/I-LOC ./O
In/O Lima/B-LOC the/O sun/O shines/O ./O
Yesterday/O Otto/B-PER Klein/I-PER met/O Ana/B-PER in/O Bonn/B-LOC ./O
We/O flew/O to/O New/B-LOC Delhi/I-LOC ./O
Eva/B-PER sings/O in/O the/O rain/O ./O"""
pairs = [[token.rsplit("/", 1) for token in line.split()] for line in text.splitlines()]
X = [templates.ner([(word,) for word, _ in sentence]) for sentence in pairs]
y = [[label for _, label in sentence] for sentence in pairs]
tagger = ChainSVM(C=0.5, scheme="bio").fit(X, y)
print(tagger.result_.summary())

# %%
# A sentence that it has not seen:
words = "Maria Torres flew from San Diego to Lima .".split()
sentence = templates.ner([(word,) for word in words])
for word, label in zip(words, tagger.predict([sentence])[0]):
    print(f"{word:8s} {label}")

# %%
# The features with the largest weights, and how labels follow each other:
import matplotlib.pyplot as plt

print([name for name, _ in tagger.top_features("B-LOC", 5)])
labels = tagger.classes_
scores = tagger.transitions()
table = [[scores[a, b] for b in labels] for a in labels]
fig, ax = plt.subplots(figsize=(4.2, 3.4), layout="constrained")
most = max(abs(v) for row in table for v in row)
shown = ax.imshow(table, cmap="RdBu", vmin=-most, vmax=most)
ax.set(xticks=range(len(labels)), yticks=range(len(labels)), xlabel="label",
       ylabel="label before", title="Which label follows which")  # fmt: skip
ax.set_xticklabels(labels)
ax.set_yticklabels(labels)
fig.colorbar(shown, label="weight")
fig.savefig("transitions.png", dpi=110)
