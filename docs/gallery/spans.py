"""Spans as wholes: names, dates, products

A tagger decides word by word. `SegmentSVM` cuts the sentence into spans and scores each
as a whole: its length, its phrase, and whether it is in a list that you have.
"""

# %%
# Spans are (first word, end, label); the end is not included. The list of cities is a
# gazetteer: it knows names that no training sentence has.
from maxmargin import SegmentSVM
from maxmargin.features import Gazetteer

X = [line.split() for line in """Ana Ruiz lives in Buenos Aires
the train to New York leaves on 3 May
Eva met Otto Klein in Lima
we stay in San Marcos until 12 June
on 7 July Ana flew to San Juan de Pasto
Juan de la Cruz works in Puno
the bus from Cusco arrives on 1 March
Otto and Eva Klein sing""".splitlines()]  # fmt: skip
y = [[(0, 2, "PERSON"), (4, 6, "CITY")], [(3, 5, "CITY"), (7, 9, "DATE")],
     [(0, 1, "PERSON"), (2, 4, "PERSON"), (5, 6, "CITY")],
     [(3, 5, "CITY"), (6, 8, "DATE")],
     [(1, 3, "DATE"), (3, 4, "PERSON"), (6, 10, "CITY")],
     [(0, 4, "PERSON"), (6, 7, "CITY")], [(3, 4, "CITY"), (6, 8, "DATE")],
     [(0, 1, "PERSON"), (2, 4, "PERSON")]]  # fmt: skip
cities = Gazetteer.of(["Buenos Aires", "New York", "Lima", "San Marcos", "Cusco",
                       "San Juan de Pasto", "Rio de Janeiro", "Puno"],
                      name="city")  # fmt: skip
model = SegmentSVM(C=1.0, features="ner", gazetteers=[cities], max_length=4).fit(X, y)
print(model.result_.summary())

# %%
# Rio de Janeiro is three words long, and no training sentence has it:
words = "Eva Ruiz flew to Rio de Janeiro on 9 May".split()
found = model.predict_spans([words])[0]
for begin, end, label in found:
    print(f"{label:7s}", " ".join(words[begin:end]))

# %%
# The second best answer, and by how much it is worse:
(best, first), (other, second) = model.predict_nbest([words], 2)[0]
print(f"margin {first - second:.2f}, second:", other)

# %%
# The sentence with its spans:
import matplotlib.pyplot as plt

colours = {"PERSON": "#2f86d6", "CITY": "#e07b1a", "DATE": "#2a9d5c"}
fig, ax = plt.subplots(figsize=(7.2, 1.1), layout="constrained")
x = 0.0
for k, word in enumerate(words):
    inside = [label for begin, end, label in found if begin <= k < end]
    colour = colours[inside[0]] if inside else "none"
    box = {"facecolor": colour, "alpha": 0.3, "edgecolor": "none", "pad": 4}
    ax.text(x, 0.6, word, fontsize=12, family="monospace", bbox=box)
    if inside and k in [begin for begin, _, _ in found]:
        ax.text(x, 0.1, inside[0], fontsize=9, color=colour)
    x += len(word) + 1.4
ax.set(xlim=(-0.5, x), ylim=(0, 1))
ax.axis("off")
fig.savefig("sentence.png", dpi=110)
