"""Bracketed trees in and out, brackets that count, pictures."""

import gzip
import warnings
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import GrammarSVM
from maxmargin.io import (
    TreebankError,
    format_tree,
    parse_sentences,
    parse_trees,
    read_treebank,
    strip_tree,
    tagged_words,
    write_treebank,
)
from maxmargin.metrics import ALL, COLLINS, bracket_scores
from maxmargin.metrics.trees.brackets import brackets
from maxmargin.reports.drawing import indented, svg_tree, text_tree

words = st.text(alphabet="abc.,$'", min_size=1, max_size=4)
labels = st.sampled_from(["S", "NP", "VP", "PP"])
tags = st.sampled_from(["DT", "NN", ",", "-LRB-"])
preterminals = st.tuples(tags, words)
trees = st.recursive(
    preterminals,
    lambda inner: st.builds(
        lambda label, children: (label, *children),
        labels,
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
).filter(lambda tree: tree[0] in ("S", "NP", "VP", "PP"))


@given(trees)
def test_writing_and_reading_give_the_tree_back(tree):
    assert parse_trees(format_tree(tree)).trees == [tree]
    assert strip_tree(parse_trees(f"( {format_tree(tree)} )").trees[0]) == tree


def test_files_names_and_gzip(tmp_path):
    tree = ("S", ("NP", ("NN", "a")), ("VP", ("VB", "b")))
    write_treebank(tmp_path / "a.mrg", [tree, tree])
    assert read_treebank(tmp_path / "a.mrg").trees == [tree, tree]
    with gzip.open(tmp_path / "b.mrg.gz", "wt") as file:
        file.write("doc1\t( (S (NP (NN a))\n (VP (VB b))))\ndoc2\t( (S (-NONE- *)))\n")
    bank = read_treebank(tmp_path / "b.mrg.gz")
    assert (bank.trees, bank.names) == ([tree], ["doc1"])


def test_empty_elements_and_function_tags_go():
    text = "( (S (NP-SBJ=2 (NN a)) (SBAR (-NONE- 0) (S (-NONE- *T*-1))) (PRT|ADVP (-LRB- -LRB-))))"
    assert strip_tree(parse_trees(text).trees[0]) == (
        "S",
        ("NP", ("NN", "a")),
        ("PRT", ("-LRB-", "-LRB-")),
    )
    assert strip_tree(("S", ("-NONE-", "*"))) is None


def test_traces_are_left_out_of_trees_of_nltk_and_a_warning_says_where_they_are():
    nltk = pytest.importorskip("nltk")
    text = "(S (NP-SBJ (PRP I)) (VP (VBD saw) (NP (-NONE- *T*))))"
    tree = nltk.Tree.fromstring(text)
    clean = strip_tree(tree)
    assert clean == nltk.Tree.fromstring("(S (NP (PRP I)) (VP (VBD saw)))")
    with pytest.warns(UserWarning, match="1 trees have empty elements"):
        GrammarSVM(tol=0.5).fit([tree.pos()], [tree])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GrammarSVM(tol=0.5).fit([clean.pos()], [clean])


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("(S (NP a)\n (VP b)", "line 1, column 1", "never closed"),
        ("(S (NP a)))", "line 1, column 11", "without an opening"),
        ("(S a)\n  b (S c)", "line 2, column 3", "outside all brackets"),
        ("(S (NP a) ())", "line 1, column 12", "empty bracket"),
        ("(S (NP a)\n\n   (VP))", "line 3, column 7", "no children"),
    ],
)
def test_malformed_brackets_name_file_line_and_column(text, where, what, tmp_path):
    path = tmp_path / "bad.mrg"
    path.write_text(text)
    with pytest.raises(TreebankError, match=f"bad.mrg, {where}: .*{what}"):
        read_treebank(path)


def test_sentences_without_trees():
    text = "a/DT cat/NN\n\n 1\\/2/CD and\\/or /x x/ NN\n"
    assert parse_sentences(text) == [
        [("a", "DT"), ("cat", "NN")],
        [("1\\/2", "CD"), "and\\/or", "/x", "x/", "NN"],
    ]


def test_tagged_words():
    tree = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VBD", "sat"))
    assert tagged_words(tree) == [("the", "DT"), ("cat", "NN"), ("sat", "VBD")]


@given(trees)
def test_a_tree_agrees_with_itself(tree):
    scores = bracket_scores([tree], [tree])
    assert (scores.f1, scores.exact, scores.crossing, scores.tagging) == (1, 1, 0, 1)


def test_brackets_are_a_multiset():
    tree = ("NP", ("NP", ("NN", "a")))
    assert brackets(tree)[("NP", 0, 1)] == 2
    scores = bracket_scores([tree], [("NP", ("NN", "a"))])
    assert (scores.matched, scores.predicted, scores.true) == (1, 1, 2)


def test_evalb_settings():
    truth = (
        "S",
        ("NP", ("NN", "a")),
        ("VP", ("VB", "b"), ("PRT", ("RP", "c"))),
        (".", "."),
    )
    guess = (
        "TOP",
        (
            "S",
            ("NP", ("NN", "a")),
            ("VP", ("VB", "b"), ("ADVP", ("RP", "c")), (".", ".")),
        ),
    )
    strict, loose = (
        bracket_scores([truth], [guess], ALL),
        bracket_scores([truth], [guess], COLLINS),
    )
    assert (strict.matched, strict.predicted, strict.true) == (2, 4, 4)
    assert (loose.matched, loose.exact) == (4, 1.0)
    crossed = bracket_scores(
        [("S", ("X", ("A", "a"), ("A", "b")), ("A", "c"))],
        [("S", ("A", "a"), ("X", ("A", "b"), ("A", "c")))],
    )
    assert crossed.crossing == 1.0


def test_no_parse_costs_recall_and_other_words_are_refused():
    tree = ("S", ("NN", "a"), ("NN", "b"))
    scores = bracket_scores([tree, tree], [None, tree])
    assert (scores.precision, scores.recall, scores.parsed) == (1.0, 0.5, 0.5)
    with pytest.raises(ValueError, match=r"sentence 0: .* 1 words, the truth 2"):
        bracket_scores([tree], [("S", ("NN", "a"))])
    with pytest.raises(ValueError, match="2 true trees, but 1"):
        bracket_scores([tree, tree], [tree])


@given(trees)
def test_pictures_show_every_word_and_label(tree):
    root = ET.fromstring(svg_tree(tree, tree))
    shown = [t.text for t in root.iter() if t.tag.endswith("text")]
    plain = format_tree(tree).replace("(", " ").replace(")", " ").split()
    assert sorted(shown) == sorted(plain)
    assert not any(t.get("class") == "wrong" for t in root.iter())
    last = text_tree(tree).splitlines()[-1].split()
    assert last == [word for word, _ in tagged_words(tree)]
    assert indented(tree).count("\n") + 1 <= len(plain)


def test_wrong_brackets_are_marked_and_none_is_drawn():
    picture = svg_tree(("S", ("NP", ("NN", "a"))), ("S", ("VP", ("NN", "a"))))
    assert picture.count('class="wrong"') == 1
    assert svg_tree(None).startswith("<svg")
    assert text_tree(None) == indented(None) == "(no parse)"
