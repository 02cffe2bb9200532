"""Dependency trees: features of arcs, checks of trees, the names of weights."""

import numpy as np
import pytest
from cases import dependency as case
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import MaxMarginals
from maxmargin.structures.dependency import (
    Dependency,
    is_projective,
    projective_heads,
)

X = [[("I", "PRON"), ("saw", "VERB"), ("a", "DET"), ("dog", "NOUN")]]
Y = [[(2, "nsubj"), (0, "root"), (4, "det"), (2, "obj")]]


def bound(**settings):
    structure = Dependency(rare=0, **settings).bind(X, Y)
    return structure, structure.encode(X)


def test_weights_have_names_that_say_what_they_are():
    structure, x = bound()
    names = list(structure.feature_names())
    assert len(names) == structure.dim == len(set(names))
    assert "head word=saw, modifier word=dog" in names
    assert "head tag=VERB, modifier tag=PRON, left, 1" in names
    assert "tag between=DET, head tag=VERB, modifier tag=NOUN, right" in names
    assert "modifier tag=NOUN, right : obj" in names
    assert structure.feature_names()[-1] == names[-1]
    assert structure.feature_names()[:3] == names[:3]
    pieces = structure.explain_pieces(x, 0, structure.encode_labels(x, Y).row(0))
    assert pieces.names[0] == "saw -> I (nsubj)"
    assert pieces.names[1] == "root -> saw (root)"
    own = {names[j] for j in pieces.psi.take([0]).idx}
    assert "head word=saw, modifier word=I : nsubj" not in own  # needs a direction
    assert "head word=saw, modifier word=I, left : nsubj" in own


def test_features_differ_by_distance_and_direction():
    sentence = [("a", "A")] * 12
    y = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    structure = Dependency(rare=0).bind([sentence], [y])
    x = structure.encode([sentence])
    far = [1] * 12
    far[0] = 0
    other = structure.encode_labels(x, [far])
    psi = structure.features(x, np.array([0]), other)
    known = structure.features(x, np.array([0]), structure.encode_labels(x, [y]))
    assert len(psi.idx) < len(known.idx)  # those of long arcs were never seen


def test_the_ending_stands_for_a_tag_that_is_missing():
    structure = Dependency(rare=1).bind([["dogs", "barking"]], [[2, 0]])
    assert structure.vocabulary.tags == ("-ing", "-ogs")
    x = structure.encode([["cats", "jumping"]])
    assert x.tokens == [[("cats", "-ats"), ("jumping", "-ing")]]


@given(seed=st.integers(0, 2**31))
def test_max_marginals_are_the_best_trees_with_each_arc(seed):
    rng = np.random.default_rng(seed)
    unbound, sentences, trees = case.tiny(rng)
    structure = unbound.bind(sentences, trees)
    assert structure.offers(MaxMarginals) is not None
    x = structure.encode(sentences)
    w = rng.normal(size=structure.dim)
    i = int(rng.integers(x.n))
    n, width = len(sentences[i]), max(len(structure.labels), 1)
    best = np.full((n, (n + 1) * width), -np.inf)
    for row in case.outputs(structure, x, i):
        labels = np.array(row)
        from maxmargin.core import Ragged

        psi = structure.features(x, np.array([i]), Ragged.pack([row]))
        each = np.arange(n)
        best[each, labels] = np.maximum(best[each, labels], psi.dot(w)[0])
    found = structure.max_marginals(x, np.array([i]), w)
    np.testing.assert_allclose(found, best.ravel(), rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 2**31), n=st.integers(1, 9))
def test_lifting_makes_any_tree_projective(seed, n):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    heads = [0] * n
    for k in range(1, n):
        heads[order[k]] = int(order[rng.integers(k)]) + 1
    lifted = projective_heads(heads)
    assert is_projective(lifted)
    assert lifted == heads or not is_projective(heads)
    Dependency(True, rare=0).bind([["w"] * n], [lifted])  # still a tree


def test_crossing_arcs_decide_what_is_allowed():
    sentence, crossing = ["a", "b", "c", "d"], [3, 4, 0, 3]
    assert Dependency().bind([sentence], [crossing]).projective is False
    assert Dependency().bind([sentence], [[2, 0, 2, 3]]).projective is True
    strict = Dependency(projective=True).bind([sentence], [crossing])
    x = strict.encode([sentence])
    with pytest.raises(
        ValueError, match=r"sentence 0: the arcs of tokens 0 and 1 cross"
    ):
        strict.encode_labels(x, [crossing])


@pytest.mark.parametrize(
    "sentences, trees, message",
    [
        (["a b"], [[0, 1]], "sentence 0 is one string"),
        ([[1, 2]], [[0, 1]], "sentence 0, token 0: 1 is neither a word nor"),
        ([["a", "b"]], [[0]], "sentence 0 has 2 tokens, but heads of 1"),
        ([["a", "b"]], [[0, 3]], r"sentence 0, token 1: head 3 is not one of 0 .. 2"),
        ([["a", "b"]], [[2, 1]], "sentence 0: heads go round in a circle, 1 -> 2 -> 1"),
        ([["a", "b"]], [[0, "x"]], "sentence 0, token 1: the head 'x' is no number"),
        ([["a", "b"]], [[(0, "r"), 1]], "sentence 0 has arcs without a label"),
        ([["a", "b"]], [None], "sentence 0: None is not a tree"),
        ([[]], [[]], "there are no words"),
    ],
)
def test_mistakes_are_named(sentences, trees, message):
    with pytest.raises(ValueError, match=message):
        Dependency().bind(sentences, trees)


def test_several_roots_and_unknown_labels_are_named():
    structure, x = bound()
    two = [(0, "root"), (0, "root"), (4, "det"), (2, "obj")]
    with pytest.raises(ValueError, match="tokens 0 and 1 both have the root"):
        structure.encode_labels(x, [two])
    with pytest.raises(ValueError, match="token 0: no training tree has the label 'x'"):
        structure.encode_labels(x, [[(2, "x"), *Y[0][1:]]])


def test_validate_refuses_what_does_not_fit_together():
    from dataclasses import replace

    structure, _ = bound()
    structure.validate()
    for change in (
        {"dim": structure.dim + 1},
        {"keys": structure.keys[::-1].copy()},
        {"labels": ("a", "a")},
        {"labels": ()},
        {"projective": None},
        {"rare": -1},
    ):
        with pytest.raises(ValueError):
            replace(structure, **change).validate()


def test_slices_hold_the_same_sentences():
    sentences = [*X, [("it", "PRON"), ("ran", "VERB")], *X]
    trees = [*Y, [(2, "nsubj"), (0, "root")], *Y]
    structure = Dependency(rare=0).bind(sentences, trees)
    x = structure.encode(sentences)
    w = np.random.default_rng(0).normal(size=structure.dim)
    whole = structure.argmax(x, np.array([1, 2]), w)
    part = structure.argmax(structure.slice(x, 1, 3), np.array([0, 1]), w)
    assert whole.labels.unpack() == part.labels.unpack()
    np.testing.assert_array_equal(whole.score, part.score)
