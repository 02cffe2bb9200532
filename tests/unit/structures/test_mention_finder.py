"""Mentions found by rules."""

import pytest

from maxmargin.structures.clusters import find_mentions


def spans(words, tags=None):
    found = find_mentions([words.split()], None if tags is None else [tags.split()])
    return [" ".join(words.split()[m.first : m.last + 1]) for m in found]


def test_pronouns_names_and_noun_phrases_without_tags():
    assert spans("Ann Smith fed her old dog .") == ["Ann Smith", "her old dog", "her"]
    assert spans("Slowly he went to the big house of Mr. Ford .") == [
        "he", "the big house", "Mr. Ford",
    ]  # fmt: skip
    assert spans("It rained .") == ["It"]


def test_tags_tell_noun_phrases():
    words = "Ann 's old dog saw two cats"
    assert spans(words, "NNP POS JJ NN VBD CD NNS") == [
        "Ann 's old dog", "Ann", "two cats",
    ]  # fmt: skip
    assert spans(words, "PROPN PART ADJ NOUN VERB NUM NOUN") == [
        "Ann", "old dog", "two cats",
    ]  # fmt: skip
    kinds = [
        m.category for m in find_mentions([["He", "saw", "Ann", "and", "a", "dog"]])
    ]
    assert kinds == ["PRON", "PROP", "NOM"]


def test_tags_must_fit_the_words():
    with pytest.raises(ValueError, match="tags and words"):
        find_mentions([["a"]], [["DT", "NN"]])
    assert find_mentions([]) == []
