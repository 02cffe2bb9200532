"""Real data that come with the package."""

from maxmargin.core.data.tokens.label_schemes import recognise_scheme
from maxmargin.datasets import load_litbank, load_promoters


def test_promoters():
    X, y = load_promoters()
    assert len(X) == len(y) == 106
    assert y.count("+") == y.count("-") == 53
    assert {len(x) for x in X} == {57} and set("".join(X)) == set("acgt")


def test_novels():
    novels = load_litbank()
    assert len({novel.title for novel in novels}) == len(novels) == 28
    labels = [row for novel in novels for row in novel.names]
    assert recognise_scheme(labels).scheme == "bio"
    for novel in novels:
        assert [len(s) for s in novel.sentences] == [len(row) for row in novel.names]
        assert novel.document.sentences is novel.sentences
        assert len(novel.document.spans) == len(novel.document.clusters) > 30
        for place, first, last in novel.document.spans:
            assert 0 <= first <= last < len(novel.sentences[place])
