"""Parse trees: a grammar learned from a handful of sentences

`GrammarSVM` reads the rules of a grammar off the training trees, learns a weight for each,
and finds the best tree of a new sentence. It trains for the F1 score of brackets.
"""

# %%
from maxmargin import GrammarSVM
from maxmargin.io.treebank import parse_trees, tagged_words

bank = parse_trees("""
(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))))
(S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN dog))))
(S (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN hat)))) (VP (VBD slept)))
(S (NP (PRP she)) (VP (VBD saw) (NP (DT a) (NN bird)) (PP (IN in) (NP (DT the) (NN tree)))))
(S (NP (PRP we)) (VP (VBD ate) (NP (NN bread)) (PP (IN in) (NP (DT the) (NN park)))))
""").trees
X = [tagged_words(tree) for tree in bank]
parser = GrammarSVM(C=1.0).fit(X, bank)
print(parser.result_.summary())

# %%
# A new sentence, as words with tags:
from maxmargin.reports.drawing import text_tree

sentence = [("the", "DT"), ("dog", "NN"), ("saw", "VBD"), ("a", "DT"), ("cat", "NN"),
            ("in", "IN"), ("the", "DT"), ("park", "NN")]  # fmt: skip
tree = parser.predict([sentence])[0]
print(text_tree(tree))

# %%
# The second best tree says that the cat is in the park, not that it was seen there. The
# bracket that differs is red:
from pathlib import Path

from maxmargin.reports.drawing import svg_tree

(best, first), (other, second) = parser.predict_nbest([sentence], 2)[0]
print(f"best {first:.3f}, second {second:.3f}")
Path("second.svg").write_text(svg_tree(other, best))
