"""The figures of evalb on the sample that is distributed with it."""

import pytest

from maxmargin.io import parse_trees, tagged_words
from maxmargin.io.treebank import format_tree
from maxmargin.io.trees import dependencies_of_tree, to_nltk
from maxmargin.metrics import COLLINS, bracket_scores
from maxmargin.metrics.trees import evalb
from maxmargin.metrics.trees.brackets import BracketRules
from maxmargin.reports.drawing import indented, svg_tree, text_tree

TRUE = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"
LONG = f"(S {' '.join([TRUE[3:-1]] * 11)})"
GOLD = [
    *[TRUE] * 20,
    "(S (A-SBJ-1 (P this)) (B-WHATEVER (Q is) (A (R a) (T test))))",
    LONG,
    "(S (A (P this)) (B (Q is) (A (R a) (T test))) (-NONE- *))",
    "(S (A (P this)) (B (Q is) (A (R a) (T test))) (: *))",
]
TEST = [
    TRUE,
    "(S (A (P this)) (B (Q is) (C (R a) (T test))))",
    "(S (A (P this)) (B (Q is) (A (R a) (U test))))",
    "(S (C (P this)) (B (Q is) (A (R a) (U test))))",
    "(S (A (P this)) (B (Q is) (R a) (A (T test))))",
    "(S (A (P this) (Q is)) (A (R a) (T test)))",
    "(S (P this) (Q is) (R a) (T test))",
    "((P this) (Q is) (R a) (T test))",
    "(S (A (P this)) (B (Q is) (A (A (R a) (T test)))))",
    "(S (A (P this)) (B (Q is) (A (A (A (A (A (R a) (T test))))))))",
    None,
    "(S (A (P this)) (B (Q was) (A (A (R a) (T test)))))",
    "(S (A (P this)) (B (Q is) (U not) (A (A (R a) (T test)))))",
    None,
    f"(TOP {TRUE})",
    "(S (A (P this)) (NONE *) (B (Q is) (A (R a) (T test))))",
    "(S (A (P this)) (S (NONE abc) (A (NONE *))) (B (Q is) (A (R a) (T test))))",
    "(S (A (P this)) (B (Q is) (A (R a) (TT test))))",
    "(S (A (P This)) (B (Q is) (A (R a) (T test))))",
    "(S (A (P That)) (B (Q is) (A (R a) (T test))))",
    TRUE,
    LONG,
    *GOLD[-2:],
]
RULES = BracketRules(
    dropped_tags=frozenset(("-NONE-", ",", ":", "``", "''")),
    dropped_labels=frozenset(("", "TOP")),
    same={"TT": "T"},
)


def tree(text):
    return None if text is None else parse_trees(text).trees[0]


def scores(cutoff=None):
    truth, found = [tree(t) for t in GOLD], [tree(t) for t in TEST]
    return evalb(truth, found, RULES, cutoff=cutoff, same_words={"This": "this"})


@pytest.mark.parametrize(
    "cutoff, printed",
    [
        (None, (24, 5, 2, 17, 87.76, 90.53, None, 52.94, 0.06, 94.12, 100.00, 98.15)),
        (40, (23, 5, 2, 16, 81.25, 85.25, None, 50.00, 0.06, 93.75, 100.00, 96.88)),
    ],
)
def test_the_summary_of_the_sample(cutoff, printed):
    found = scores(cutoff)
    for value, expected in zip(found, printed, strict=True):
        assert expected is None or round(value, 2) == expected
    r, p = found.bracketing_recall, found.bracketing_precision
    assert found.bracketing_fmeasure == pytest.approx(2 * r * p / (r + p))


def test_names_are_those_of_evalb():
    text = str(scores())
    assert "Bracketing Recall         =  87.76" in text
    assert "2 or less crossing        = 100.00" in text
    assert "Number of Skip sentence   =      2" in text


def test_collins_drops_punctuation_and_takes_particles_for_adverbs():
    truth = tree("(S (NP (PRP I)) (VP (VBD gave) (PRT (RP up))) (. .))")
    guess = tree("(TOP (S (NP (PRP I)) (VP (VBD gave) (ADVP (RP up) (. .)))))")
    assert evalb([truth], [guess]).bracketing_fmeasure == 100.0
    assert bracket_scores([truth], [guess], COLLINS).f1 == 1.0
    assert evalb([], []).bracketing_fmeasure == 0.0
    with pytest.raises(ValueError, match="1 true trees, but 0 predictions"):
        evalb([truth], [])


def test_trees_of_another_number_are_refused():
    tree = parse_trees(TRUE)[0]
    with pytest.raises(ValueError, match="2 true trees, but 1 predictions"):
        bracket_scores([tree, tree], [tree])


def test_tags_count_words_that_are_tagged_and_bare_ones():
    """Tags are compared word by word; a tree may have words without a tag."""
    truth = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    other = ("S", ("NP", ("DT", "the"), ("VB", "cat")), ("VP", ("VBD", "sat")))
    scores = bracket_scores([truth], [other])
    assert scores.tagging == pytest.approx(2 / 3) and scores.f1 == 1.0
    bare = ("S", ("NP", "the", "cat"), "sat")
    assert bracket_scores([bare], [("S", ("NP", "the", "dog"), "sat")]).tagging == (
        pytest.approx(2 / 3)
    )
    with pytest.raises(ValueError, match="sentence 0: the prediction has 2 words"):
        bracket_scores([truth], [("S", ("DT", "the"), ("NN", "cat"))])


def test_trees_of_nltk_count_as_tuples():
    pytest.importorskip("nltk")
    a = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    b = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VBD", "sat"))
    trees = [to_nltk(a), to_nltk(a)], [to_nltk(b), None]
    assert evalb(*trees) == evalb([a, a], [b, None])
    assert bracket_scores(*trees) == bracket_scores([a, a], [b, None])
    assert format_tree(to_nltk(a)) == format_tree(a)
    assert tagged_words(to_nltk(a)) == tagged_words(a)
    assert text_tree(to_nltk(a)) == text_tree(a) and indented(to_nltk(a)) == indented(a)
    assert svg_tree(to_nltk(a), to_nltk(b)) == svg_tree(a, b)
    assert dependencies_of_tree(to_nltk(a)) == dependencies_of_tree(a)


@pytest.mark.parametrize(("crossings", "few"), [(0, 100.0), (2, 100.0), (3, 0.0)])
def test_sentences_with_few_crossing_brackets_are_counted(crossings, few):
    """Pairs of neighbours in the one tree, shifted by a word in the other."""
    words = [("T", w) for w in "abcdefgh"]
    true = ("S", *(("A", *words[k : k + 2]) for k in range(0, 8, 2)))
    pairs = [("A", *words[k : k + 2]) for k in range(1, 1 + 2 * crossings, 2)]
    guess = ("S", words[0], *pairs, *words[1 + 2 * crossings :])
    found = evalb([true], [guess])
    assert found.average_crossing == crossings
    assert found.two_or_less_crossing == few
    assert found.no_crossing == (0.0 if crossings else 100.0)
