"""Another output with the score of the truth is a mistake, and is called one."""

from maxmargin import GrammarSVM
from maxmargin.io import tagged_words
from maxmargin.io.treebank import parse_trees

SUMS = """
(E (E (N 1)) (P +) (E (E (N 2)) (T *) (E (N 3))))
(E (E (E (N 4)) (T *) (E (N 5))) (P +) (E (N 6)))
(E (E (N 1)) (T *) (E (N 7)))
"""


def test_a_tie_is_not_right(tmp_path):
    """Both trees of a sum have the same rules, so weights of rules cannot decide."""
    bank = parse_trees(SUMS).trees
    X = [tagged_words(tree) for tree in bank]
    model = GrammarSVM(C=1.0).fit(X, bank)
    found = model.predict(X)
    wrong = [i for i in range(3) if found[i] != bank[i]]
    assert wrong, "the trees are tied"
    hard = model.hardest(X, bank)
    assert [case.example for case in hard if case.tied] == wrong
    assert [case.example for case in hard if not case.right] == wrong
    assert hard[0].tied and hard[0].short_by == 0.0
    model.report(tmp_path / "page.html", X, bank)
    page = (tmp_path / "page.html").read_text(encoding="utf8")
    assert "examples are right" not in page
    assert page.count("which scores the same as the truth") == len(wrong)


def test_right_answers_are_not_tied():
    bank = parse_trees(SUMS).trees
    X = [tagged_words(tree) for tree in bank]
    model = GrammarSVM(C=10.0, anchors="all").fit(X, bank)
    assert model.score(X, bank) == 1.0
    assert all(case.right and not case.tied for case in model.hardest(X, bank))
