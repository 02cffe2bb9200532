"""Dependency trees: the head of every word

`DependencySVM` finds for every word the word it depends on, and the kind of the relation.
All words are decided together, so the answer is always a tree.
"""

# %%
# A sentence is a list of words with tags. A tree has the number of the head of each word
# (0 is the root, 1 the first word) and the relation.
from maxmargin import DependencySVM

text = """the/DET:2:det dog/NOUN:3:nsubj barks/VERB:0:root
I/PRON:2:nsubj saw/VERB:0:root a/DET:4:det cat/NOUN:2:obj
she/PRON:2:nsubj reads/VERB:0:root a/DET:5:det good/ADJ:5:amod book/NOUN:2:obj
old/ADJ:2:amod men/NOUN:3:nsubj sleep/VERB:0:root
we/PRON:2:nsubj eat/VERB:0:root bread/NOUN:2:obj at/ADP:5:case home/NOUN:2:obl
the/DET:2:det man/NOUN:3:nsubj works/VERB:0:root in/ADP:6:case the/DET:6:det park/NOUN:3:obl"""
X, y = [], []
for line in text.splitlines():
    parts = [word.split(":") for word in line.split()]
    X.append([tuple(word.split("/")) for word, _, _ in parts])
    y.append([(int(head), relation) for _, head, relation in parts])
parser = DependencySVM(C=1.0, rare=0).fit(X, y)
print(parser.result_.summary())

# %%
# A new sentence:
from maxmargin.reports.drawing import text_arcs

sentence = [("the", "DET"), ("old", "ADJ"), ("dog", "NOUN"), ("eats", "VERB"),
            ("a", "DET"), ("fish", "NOUN"), ("at", "ADP"), ("home", "NOUN")]  # fmt: skip
words = [word for word, _ in sentence]
tree = parser.predict([sentence])[0]
print(text_arcs(words, tree))

# %%
# How sure is each arc? The margin is what the best tree without that arc scores less.
for word, margin in zip(words, parser.arc_margins(sentence)):
    print(f"{word:5s} {margin:.2f}")

# %%
# The same as a picture:
from pathlib import Path

from maxmargin.reports.drawing import svg_arcs

Path("arcs.svg").write_text(svg_arcs(words, tree))
