"""Charts pruned by a coarse grammar, against enumeration of the trees they keep."""

import warnings

import numpy as np
import pytest
from cases import grammar as case
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from maxmargin import GrammarSVM
from maxmargin.core import Augment, Ragged
from maxmargin.inference.tree.chart import NODE
from maxmargin.structures.grammar.coarse_to_fine import kept_share, pruned

seeds = st.integers(0, 2**31)


def instance(seed, threshold):
    rng = np.random.default_rng(seed)
    unbound, X, Y = case.tiny(rng)
    grammar = unbound.bind(X, Y)
    x = grammar.encode(X)
    truth = grammar.encode_labels(x, Y)
    w = rng.normal(size=grammar.dim)
    return grammar, x, pruned(grammar, x, truth, X, Y, threshold), truth, w


def parts(grammar, row):
    """Span and symbol of every part of an encoded tree that its rules name."""
    known = grammar.productions
    binary, unary = list(known.binary), list(known.unary)
    rules = known.rules
    for start, split, end, rule, _ in np.asarray(row).reshape(-1, NODE).tolist():
        whole = end * (end + 1) // 2 - 1 - start
        if rule < len(binary):
            yield whole, rules.parent[rule]
            yield split * (split + 1) // 2 - 1 - start, rules.left[rule]
            yield end * (end + 1) // 2 - 1 - split, rules.right[rule]
        elif rule < len(binary) + len(unary):
            chain = unary[rule - len(binary)]
            if isinstance(chain, tuple):
                yield from ((whole, a) for a in chain)


def inside(grammar, kept, row):
    """Whether all ends of rules of a tree are kept (middles of chains are no parts)."""
    return all(kept.mask[c, kept.group[a]] for c, a in parts(grammar, row))


@given(seed=seeds)
@settings(max_examples=25)
def test_the_truth_and_all_trees_that_are_kept_can_be_found(seed):
    grammar, _, x, truth, w = instance(seed, 1.0)
    ids = np.arange(x.n)
    score = grammar.features(x, ids, truth).dot(w)
    found = grammar.argmax(x, ids, w)
    assert (found.score >= score - 1e-9).all()
    for i in ids:
        assert inside(grammar, x.kept[i], truth.row(i))
        rows = Ragged.pack([
            row for row in case.outputs(grammar, x, i) if inside(grammar, x.kept[i], row)
        ])  # fmt: skip
        psi = grammar.features(x, np.full(rows.n, i), rows)
        assert found.score[i] >= psi.dot(w).max() - 1e-9
        every = Ragged.pack(case.outputs(grammar, x, i))
        most = grammar.features(x, np.full(every.n, i), every).dot(w).max()
        assert found.score[i] <= most + 1e-9


@given(seed=seeds)
@settings(max_examples=15)
def test_a_wide_threshold_prunes_nothing_that_a_tree_needs(seed):
    grammar, plain, x, truth, w = instance(seed, np.inf)
    ids = np.arange(x.n)
    for loss in case.LOSSES:
        bound = loss.bind(grammar.label_count())
        augment = Augment(truth, bound, np.full(x.n, 0.7))
        exact = grammar.argmax(plain, ids, w, augment)
        found = grammar.argmax(x, ids, w, augment)
        np.testing.assert_allclose(found.score, exact.score, rtol=1e-9, atol=1e-9)


def test_a_narrow_threshold_keeps_less():
    shares = [kept_share(instance(5, t)[2]) for t in (1e-3, 1.0, np.inf)]
    assert shares[0] <= shares[1] <= shares[2]
    assert shares[0] < shares[2]


def sentences(n=12, seed=0):
    rng = np.random.default_rng(seed)
    X = [
        [("xyz"[rng.integers(3)], "ab"[rng.integers(2)]) for _ in range(m)]
        for m in rng.integers(2, 6, n)
    ]
    return X, [case.random_tree(rng, sentence) for sentence in X]


@pytest.mark.parametrize("loss", ["f1", "hamming"])
def test_refined_training_ends_at_the_exact_optimum(loss):
    X, y = sentences()
    exact = GrammarSVM(C=1.0, loss=loss, tol=1e-6, vertical=2).fit(X, y)
    model = GrammarSVM(C=1.0, loss=loss, tol=1e-6, vertical=2, coarse=1.0).fit(X, y)
    assert model.result_.certificate == "exact"
    assert model.result_.dual == pytest.approx(exact.result_.dual, rel=1e-5)
    told = model.result_.notes["coarse"]
    assert 0.0 < told["kept"] < 1.0
    assert told["dual"] <= exact.result_.primal * (1 + 1e-6)


def test_without_refinement_the_gap_says_what_pruning_missed():
    X, y = sentences()
    exact = GrammarSVM(C=1.0, tol=1e-6).fit(X, y)
    asked = GrammarSVM(C=1.0, tol=1e-6, coarse=1e-3, refine=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = asked.fit(X, y)
    result, told = model.result_, model.result_.notes["coarse"]
    problem = model._problem(
        model.structure_, model.structure_.encode(X),
        model.structure_.encode_labels(model.structure_.encode(X), y), None,
    )  # fmt: skip
    true = problem.primal_at(result.w, problem.risk_at(result.w))
    assert result.primal == pytest.approx(true)
    assert told["missed"] == pytest.approx(result.primal - told["primal"])
    assert told["missed"] >= -1e-9
    assert result.dual <= exact.result_.primal * (1 + 1e-6)
    assert result.primal >= exact.result_.dual * (1 - 1e-6)
    assert result.converged == (result.gap <= 1e-6)


def test_wrong_settings_are_refused():
    X, y = sentences(3)
    with pytest.raises(ValueError, match="the threshold must be positive"):
        GrammarSVM(coarse=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="no checkpoints with coarse"):
        GrammarSVM(coarse=1.0, checkpoint="here").fit(X, y)
