"""GrammarSVM with trees of NLTK, with words that a tagger inside tags."""

import io
from dataclasses import replace

import pytest

from maxmargin import GrammarSVM, load
from maxmargin.io import parse_trees, read_treebank
from maxmargin.io.trees import from_nltk, is_nltk, to_nltk

TEXT = [
    "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
    "(S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN dog))))",
    "(S (NP (DT a) (NN dog)) (VP (VBD saw) (NP (PRP me))))",
]
TREES = [parse_trees(text).trees[0] for text in TEXT]
WORDS = [
    ["the", "cat", "sat"],
    ["I", "saw", "a", "dog"],
    ["a", "dog", "saw", "me"],
]
TAGS = [["DT", "NN", "VBD"], ["PRP", "VBD", "DT", "NN"], ["DT", "NN", "VBD", "PRP"]]


def test_trees_of_nltk_go_in_and_come_out(tmp_path):
    nltk = pytest.importorskip("nltk")
    trees = [nltk.Tree.fromstring(text) for text in TEXT]
    assert [from_nltk(tree) for tree in trees] == TREES
    assert to_nltk(TREES[0]) == trees[0] and to_nltk(None) is None
    assert not is_nltk(TREES[0])
    X = [[(w, t) for w, t in tree.pos()] for tree in trees]
    model = GrammarSVM(C=1.0).fit(X, trees)
    plain = GrammarSVM(C=1.0).fit(X, TREES)
    assert model.result_.primal == plain.result_.primal
    found = model.predict(X)
    assert list(found) == trees and is_nltk(found[0])
    assert list(plain.predict(X)) == TREES
    assert (
        model.score(X, trees) == model.score(X, TREES) == plain.score(X, trees) == 1.0
    )
    assert is_nltk(model.predict_nbest(X[:1], 1)[0][0][0])
    assert model.hardest(X, trees, 1)[0].short_by == 0.0
    model.report(tmp_path / "page.html", X, trees)
    file = io.BytesIO()
    model.save(file)
    assert is_nltk(load(io.BytesIO(file.getvalue())).predict(X)[0])


def test_words_are_tagged_by_a_tagger_inside():
    model = GrammarSVM(C=1.0, tagger="chain").fit(WORDS, TREES)
    assert list(model.predict(WORDS)) == TREES
    tagged = [list(zip(*pair, strict=True)) for pair in zip(WORDS, TAGS, strict=True)]
    assert list(model.predict(tagged)) == TREES
    assert model.score(WORDS, TREES) == 1.0
    assert len(model.predict_nbest(WORDS[:1], 2)[0]) >= 1
    file = io.BytesIO()
    model.save(file)
    assert list(load(io.BytesIO(file.getvalue())).predict(WORDS)) == TREES
    plain = GrammarSVM(C=1.0).fit(tagged, TREES)
    with pytest.raises(ValueError, match=r"'the' is not a tag .* tagger='chain'"):
        plain.predict(WORDS)


def test_wrong_taggers_are_refused():
    with pytest.raises(ValueError, match="tagger='hmm': 'chain', an estimator"):
        GrammarSVM(tagger="hmm").fit(WORDS, TREES)
    with pytest.raises(ValueError, match="a tagger is for terminals='tags'"):
        GrammarSVM(tagger="chain", terminals="words").fit(WORDS, TREES)


def test_files_with_any_leading_fields(tmp_path):
    path = tmp_path / "a.mrg"
    path.write_text(f"wsj_0001 17\t{TEXT[0]}\n3 gold ( {TEXT[1]} )\n{TEXT[2]}\n")
    bank = read_treebank(path)
    assert bank.trees == TREES and bank.names == ["wsj_0001", "3", "3"]


def agreeing(middles):
    """Three tags under P if the first and the last agree, else under Q."""
    rows = [(a, m, b) for a in "ab" for b in "ab" for m in middles]
    trees = [
        ("P" if row[0] == row[2] else "Q", *((tag, f"{tag}0") for tag in row))
        for row in rows
    ]
    return [list(row) for row in rows], trees


@pytest.mark.parametrize("method", ["exact", "cpsp"])
def test_a_kernel_sees_both_ends_of_a_span_together(method, tmp_path):
    X, trees = agreeing("cd")
    labels = [tree[0] for tree in trees]
    asked = {"C": 10.0, "horizontal": 0, "anchors": ("first", "last")}
    linear = GrammarSVM(**asked).fit(X, trees)
    assert [tree[0] for tree in linear.predict(X)] != labels
    model = GrammarSVM(**asked, kernel="quadratic", kernel_method=method, n_basis=20)
    model.fit(X, trees)
    assert [tree[0] for tree in model.predict(X)] == labels
    model.save(tmp_path / "model.mm")
    again = load(tmp_path / "model.mm")
    assert list(again.predict(X)) == list(model.predict(X))
    best = model.predict_nbest(X[:1], 2)[0]
    assert best[0][1] > best[1][1] and best[0][0][0] == labels[0]
    if method == "cpsp":
        assert len(model.basis_) <= 20


def test_kernels_that_nodes_cannot_have_are_refused():
    X, trees = agreeing("cd")
    with pytest.raises(ValueError, match="there are none: give anchors"):
        GrammarSVM(kernel="rbf").fit(X, trees)
    with pytest.raises(ValueError, match="'split' is not a feature of the span"):
        GrammarSVM(kernel="rbf", anchors=("first", "split")).fit(X, trees)
    with pytest.raises(
        ValueError, match="coarse charts are not available with a kernel"
    ):
        GrammarSVM(kernel="rbf", anchors="all", coarse=5.0).fit(X, trees)
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = GrammarSVM(kernel="rbf", anchors="all").partial_fit
    model = GrammarSVM(kernel="quadratic", anchors="all").fit(X, trees)
    broken = replace(model.structure_, dim=model.structure_.dim + 1)
    with pytest.raises(ValueError, match="dim="):
        broken.validate()
    narrow = replace(model.structure_.anchored, values=())
    with pytest.raises(ValueError, match="a template lacks its values"):
        replace(model.structure_, anchored=narrow).validate()
