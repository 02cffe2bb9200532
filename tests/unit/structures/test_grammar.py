"""Grammars: binarisation, charts, baselines, the estimator, bad input."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from cases.grammar import outputs, random_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from maxmargin import GrammarSVM
from maxmargin.baselines import PCFG
from maxmargin.core import Augment, Formulation, Ragged
from maxmargin.io import tagged_words
from maxmargin.losses import BracketF1, BracketHamming, bracket_counts
from maxmargin.metrics.trees.brackets import brackets
from maxmargin.structures.grammar import BinaryShape, Grammar, f1_bound, restore
from maxmargin.structures.grammar.treebank.binarise import binarise

seeds = st.integers(0, 2**31)
shapes = st.builds(
    BinaryShape,
    st.sampled_from(["left", "right"]),
    st.sampled_from([None, 0, 1, 2]),
    st.integers(1, 3),
)

CAT = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
DOG = (
    "S",
    ("NP", ("PRP", "I")),
    ("VP", ("VBD", "saw"), ("NP", ("DT", "a"), ("JJ", "big"), ("NN", "dog"))),
)
TREES = [CAT, DOG]
X = [tagged_words(tree) for tree in TREES]


VIOLATIONS = {
    formulation.criterion: formulation.criterion.value
    for formulation in map(
        Formulation, ("margin", "margin", "slack", "slack"), ("linear", "squared") * 2
    )
}


def trees_of(rng, sizes):
    sentences = [
        [("xyz"[rng.integers(3)], "abc"[rng.integers(3)]) for _ in range(n)]
        for n in sizes
    ]
    return sentences, [random_tree(rng, s) for s in sentences]


@given(seeds, shapes)
def test_binarising_and_restoring_is_the_identity(seed, shape):
    rng = np.random.default_rng(seed)
    _, (tree,) = trees_of(rng, [int(rng.integers(1, 9))])
    node = binarise(tree, shape)
    assert restore(node) == tree
    stack = [node]
    while stack:
        here = stack.pop()
        assert len(here.children) <= 2
        stack.extend(here.children)


@given(seeds)
@settings(max_examples=20)
def test_binarisation_is_that_of_nltk(seed):
    nltk = pytest.importorskip("nltk")
    rng = np.random.default_rng(seed)
    _, (tree,) = trees_of(rng, [6])
    theirs = nltk.Tree.fromstring(bracketed(tree))
    theirs.chomsky_normal_form(horzMarkov=2)

    def ours(node):
        if node.symbol.tag:
            return nltk.Tree(node.symbol.label, [node.word])
        return nltk.Tree(str(node.symbol), [ours(c) for c in node.children])

    assert ours(binarise(tree, BinaryShape(horizontal=2))) == theirs


def bracketed(tree):
    return tree if isinstance(tree, str) else f"({' '.join(map(bracketed, tree))})"


@given(seeds)
@settings(max_examples=15)
def test_every_output_is_a_tree_of_its_own(seed):
    """Derivations and trees are one to one, and rows say which brackets they have."""
    rng = np.random.default_rng(seed)
    sentences, trees = trees_of(rng, [3, 4, 2])
    grammar = Grammar(
        horizontal=(None, 0, 1)[rng.integers(3)], vertical=int(rng.integers(1, 3))
    ).bind(sentences, trees)
    x = grammar.encode(sentences[:1])
    rows = outputs(grammar, x, 0)
    same = grammar.encode(sentences[:1] * len(rows))
    labels = Ragged.pack(rows)
    decoded = grammar.decode_labels(same, labels)
    assert len(set(decoded)) == len(rows)
    assert grammar.encode_labels(same, decoded).unpack() == rows
    truth = grammar.encode_labels(same, trees[:1] * len(rows))
    m, p, g = bracket_counts(truth, labels)
    gold = brackets(trees[0])
    for q, tree in enumerate(decoded):
        mine = brackets(tree)
        assert m[q] == sum((mine & gold).values())
        assert (p[q], g[q]) == (sum(mine.values()), sum(gold.values()))


@given(seeds, st.sampled_from([0.0, 0.01, 0.1, 0.5, 3.0]))
@settings(max_examples=25)
def test_f1_is_exact_early_and_late_in_training(seed, scale):
    """The best tree of all in each formulation, whatever the loss weighs."""
    rng = np.random.default_rng(seed)
    sentences, trees = trees_of(rng, [5, 4, 4])
    grammar = Grammar(horizontal=0).bind(sentences, trees)
    x = grammar.encode(sentences)
    truth, w = grammar.encode_labels(x, trees), scale * rng.normal(size=grammar.dim)
    augment = Augment(truth, BracketF1(), np.full(x.n, 0.7))
    found = grammar.argmax(x, np.arange(x.n), w, augment)
    layers = {
        criterion: grammar.argmax_by_loss(
            x, np.arange(x.n), w, augment._replace(criterion=criterion)
        )
        for criterion in (None, *VIOLATIONS)
    }
    own = grammar.features(x, np.arange(x.n), truth).dot(w)
    for i in range(x.n):
        rows = Ragged.pack(outputs(grammar, x, i))
        same = np.full(rows.n, i)
        score = grammar.features(x, same, rows).dot(w)
        loss = BracketF1().value(truth.take(same), rows)
        np.testing.assert_allclose(found.score[i], (score + 0.7 * loss).max())
        for criterion, violation in VIOLATIONS.items():
            best = violation(loss, own[i] - score).max()
            for kept in (layers[None], layers[criterion]):
                some = slice(kept.ptr[i], kept.ptr[i + 1])
                each = violation(kept.loss[some], own[i] - kept.score[some])
                np.testing.assert_allclose(each.max(), best, atol=1e-9)


@given(seeds)
@settings(max_examples=10)
def test_all_trees_come_out_of_nbest_in_order(seed):
    rng = np.random.default_rng(seed)
    sentences, trees = trees_of(rng, [3, 3, 3])
    grammar = Grammar().bind(sentences, trees)
    x = grammar.encode(sentences[:1])
    w = rng.normal(size=grammar.dim)
    rows = outputs(grammar, x, 0)
    found = grammar.nbest(x, np.array([0]), w, len(rows) + 5)
    assert sorted(map(tuple, found.labels.unpack())) == sorted(map(tuple, rows))
    assert (np.diff(found.score) <= 1e-9).all()


@given(seeds)
@settings(max_examples=10)
def test_a_wide_beam_is_exact_and_a_narrow_one_still_parses(seed):
    rng = np.random.default_rng(seed)
    sentences, trees = trees_of(rng, [5, 5, 4])
    grammar = Grammar(horizontal=0).bind(sentences, trees)
    x, ids = grammar.encode(sentences), np.arange(3)
    w = rng.normal(size=grammar.dim)
    exact = grammar.argmax(x, ids, w)
    wide = replace(grammar, beam=1e3).argmax(x, ids, w)
    narrow = replace(grammar, beam=0.01).argmax(x, ids, w)
    assert wide.labels.unpack() == exact.labels.unpack()
    assert (narrow.score <= exact.score + 1e-9).all()
    assert (narrow.labels.sizes > 0).all()


def test_longer_sentences_agree_with_the_best_of_many():
    """Strata against k-best lists, where enumeration is out of reach."""
    rng = np.random.default_rng(5)
    sentences, trees = trees_of(rng, [7, 8, 6, 7])
    grammar = Grammar(horizontal=1).bind(sentences, trees)
    x = grammar.encode(sentences)
    truth = grammar.encode_labels(x, trees)
    for scale in (0.05, 0.3, 1.0):
        w = rng.normal(size=grammar.dim) * scale
        for loss in (BracketF1(), BracketHamming(normalize=True)):
            augment = Augment(truth, loss, np.full(x.n, 0.7))
            best = grammar.argmax(x, np.arange(x.n), w, augment)
            for i in range(x.n):
                many = grammar.nbest(x, np.array([i]), w, 400)
                value = loss.value(truth.take(np.full(many.labels.n, i)), many.labels)
                reach = many.score + 0.7 * value
                assert best.score[i] >= reach.max() - 1e-9
                if many.score[-1] + 0.7 * 3 < reach.max() or len(reach) < 400:
                    np.testing.assert_allclose(best.score[i], reach.max())


def test_pcfg_has_the_relative_frequencies():
    model = PCFG().fit(X, TREES)
    names = dict(zip(model.structure_.feature_names(), model.coef_, strict=True))
    assert names["NP -> DT NN"] == pytest.approx(np.log(1 / 3))
    assert names["-> S"] == 0.0
    assert names["VP -> VBD"] == pytest.approx(np.log(1 / 2))
    smooth = PCFG(smoothing=1.0).fit(X + X[:1], [*TREES, CAT])
    names = dict(zip(smooth.structure_.feature_names(), smooth.coef_, strict=True))
    assert names["NP -> DT NN"] == pytest.approx(np.log(3 / 7))
    assert model.predict(X) == TREES
    with pytest.raises(ValueError, match="smoothing=-1"):
        PCFG(smoothing=-1)


def test_probabilities_of_a_symbol_sum_to_one():
    rng = np.random.default_rng(1)
    sentences, trees = trees_of(rng, [5, 6, 4, 5])
    for terminals in ("tags", "words"):
        model = PCFG(Grammar(terminals=terminals), 0.3).fit(sentences, trees)
        own = model.structure_.productions
        total = Counter()
        heads = [a for a, *_ in own.binary] + [a for a, _ in own.unary]
        heads += [-1] * len(own.root) + [t for t, _ in own.lexical]
        for head, weight in zip(heads, model.coef_, strict=True):
            total[head] += np.exp(weight)
        np.testing.assert_allclose(list(total.values()), 1.0)


@pytest.mark.parametrize("loss", ["f1", "hamming", "hamming-mean", "zero-one"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("penalty", ["linear", "squared"])
def test_training_ends_with_an_exact_certificate(loss, rescaling, penalty):
    model = GrammarSVM(C=10.0, loss=loss, rescaling=rescaling, penalty=penalty)
    model.fit(X, TREES)
    assert model.result_.status.name == "CONVERGED"
    assert model.result_.certificate == "exact"
    assert list(model.predict(X)) == TREES
    assert model.score(X, TREES) == 1.0


def test_words_alone_and_words_never_seen():
    words = [[w for w, _ in sentence] for sentence in X]
    model = GrammarSVM(C=5.0, terminals="words", rare=0).fit(words, TREES)
    assert list(model.predict(words)) == TREES
    unseen = model.predict([["the", "gnu", "sat"]])[0]
    assert [w for w, _ in tagged_words(unseen)] == ["the", "gnu", "sat"]


def test_anchored_features_tell_apart_what_rules_cannot():
    """Two bracketings of the same tags, decided by the word after the inner one."""
    a, b = (("N", "x"), ("N", "x"), ("N", "u")), (("N", "x"), ("N", "v"), ("N", "x"))
    left = ("S", ("S", a[0], a[1]), a[2])
    right = ("S", b[0], ("S", b[1], b[2]))
    sentences = [tagged_words(t) for t in (left, right)]
    plain = GrammarSVM(C=100.0).fit(sentences, [left, right])
    model = GrammarSVM(C=100.0, anchors=("word:after",), rare=0)
    model.fit(sentences, [left, right])
    assert plain.score(sentences, [left, right]) < 1.0
    assert model.score(sentences, [left, right]) == 1.0
    assert GrammarSVM(anchors="all").fit(X, TREES).structure_.anchored.has_length
    single = GrammarSVM(anchors="split").fit(X, TREES).structure_
    assert single.anchored.templates == ("split",)


def test_sentences_without_a_parse_do_not_stop_a_batch():
    model = GrammarSVM(C=1.0, fallback="none").fit(X, TREES)
    batch = [X[0], [("!", "SYM")], [("the", "DT")], [], X[1]]
    with pytest.warns(UserWarning, match="sentence 1, token 0: 'SYM'"):
        found = list(model.predict(batch))
    assert found == [CAT, None, None, None, DOG]
    flat = GrammarSVM(C=1.0, fallback="flat").fit(X, TREES)
    with pytest.warns(UserWarning, match="each may stand for any other tag"):
        found = list(flat.predict(batch))
    assert found[1:4] == [("S", ("SYM", "!")), ("S", ("DT", "the")), None]
    with pytest.warns(UserWarning, match="no training tree has"):
        assert model.predict_nbest(batch, 2)[1] == []


@pytest.mark.parametrize(
    "settings",
    [{}, {"vertical": 2}, {"anchors": "all"}, {"anchors": "all", "anchor_by": "rule"},
     {"branching": "left", "horizontal": None}, {"terminals": "words", "rare": 0},
     {"anchors": "all", "kernel": "quadratic"}],
)  # fmt: skip
def test_smoothed_rules_add_children_to_phrases(settings):
    """A determiner too many becomes a child; the score is that of the known rules."""
    model = GrammarSVM(C=1.0, **settings).fit(X, TREES)
    one_more = [X[0][0], ("big", "JJ"), ("the", "DT"), *X[0][1:]]
    words = [word for word, _ in one_more]
    sentence = words if settings.get("terminals") else one_more
    assert model.set_params(fallback="none").predict([sentence])[0] is None
    tree = model.set_params(fallback="smooth").predict([sentence])[0]
    assert [word for word, _ in tagged_words(tree)] == words and tree[0] == "S"
    x = model.structure_.encode([sentence])
    row = model.structure_.argmax(x, np.array([0]), model.coef_).labels.row(0)
    nodes = row.reshape(-1, 5)
    assert (nodes[:, 3] == -1).sum() >= 1
    assert (nodes[:, 4] >= 0).sum() == len(brackets(tree))
    ((best, score),) = model.predict_nbest([sentence], 3)[0]
    assert best == tree
    if "kernel" not in settings:
        told = model.explain(sentence)
        assert np.isclose(told.score, sum(part.score for part in told.parts))
        assert np.isclose(told.score, score)


def test_smoothed_trees_have_as_few_new_rules_as_can_be():
    """All ways to leave out words: the fewest that lead to a sentence with a parse."""
    model = GrammarSVM(C=1.0).fit(X, TREES)
    rng, tags = np.random.default_rng(0), ["DT", "NN", "VBD", "PRP", "JJ"]
    for _ in range(30):
        sentence = [(t.lower(), t) for t in rng.choice(tags, rng.integers(2, 7))]
        x = model.structure_.encode([sentence])
        row = model.structure_.argmax(x, np.array([0]), model.coef_).labels.row(0)
        new = int((row.reshape(-1, 5)[:, 3] == -1).sum())
        plain = replace(model.structure_, fallback="none")
        parsed = plain.argmax(x, np.array([0]), model.coef_).labels.row(0)
        assert (new == 0 and len(row) > 0) == (len(parsed) > 0)
        fewest = len(sentence)
        for mask in range(1, 2 ** len(sentence)):
            some = [t for q, t in enumerate(sentence) if mask >> q & 1]
            left_out = len(sentence) - len(some)
            if left_out < fewest:
                part = plain.encode([some])
                if len(plain.argmax(part, np.array([0]), model.coef_).labels.row(0)):
                    fewest = left_out
        assert len(row) == 0 or new <= fewest
    lonely = model.predict([[("a", "DT")], [("a", "DT"), ("b", "DT")]])
    assert list(lonely) == [("S", ("DT", "a")), ("S", ("DT", "a"), ("DT", "b"))]


def test_flat_trees_have_the_commonest_tag_of_each_word():
    words = [[w for w, _ in sentence] for sentence in X]
    model = GrammarSVM(terminals="words", rare=0, fallback="flat").fit(words, TREES)
    flat = model.predict([["cat", "the", "gnu"]])[0]
    assert flat == ("S", ("NN", "cat"), ("DT", "the"), flat[3])
    assert flat[3][0] in ("DT", "NN", "VBD")  # as common as each other


@pytest.mark.parametrize(
    ("loss", "asked"), [("f1", 1), ("hamming", 1), ("zero-one", 4)]
)
def test_the_summed_error_asks_for_as_many_trees_as_the_loss_allows(loss, asked):
    model = GrammarSVM(C=1.0, loss=loss, penalty="summed", horizontal=0, tol=0.01)
    result = model.fit(X, TREES).result_
    assert (result.certificate, result.notes["outputs_asked"]) == ("reduced", asked)
    assert model.score(X, TREES) == 1.0


@pytest.mark.parametrize(
    "solver", ["block-dual", "sdm", "bcfw", "one-slack", "n-slack"]
)
def test_trees_without_any_rival_need_no_weights(solver):
    result = GrammarSVM(solver=solver).fit(X[:1], TREES[:1]).result_
    assert (result.status.name, result.primal) == ("CONVERGED", 0.0)


def test_nbest_of_the_estimator():
    model = GrammarSVM(C=1.0, horizontal=0).fit(X, TREES)
    (best, *others), _ = model.predict_nbest(X, 3)
    assert best[0] == model.predict(X[:1])[0]
    assert all(score <= best[1] for _, score in others)


def test_estimators_clone_and_pickle():
    model = clone(GrammarSVM(C=3.0, horizontal=1)).fit(X, TREES)
    again = pickle.loads(pickle.dumps(model))
    assert list(again.predict(X)) == list(model.predict(X))
    assert model.get_params()["horizontal"] == 1


@pytest.mark.parametrize(
    ("sentences", "trees", "message"),
    [
        ([X[0]], [X[1]], "sentence 0, word 0: "),
        ([X[0], X[1]], [CAT, CAT], "sentence 1: the tree has 3 words, the sentence 5"),
        ([X[0]], [("S", ("DT", "the"), ("X", "cat"), ("VBD", "sat"))],
         "sentence 0, token 1: the tree has the tag 'X', the sentence 'NN'"),
        ([["DT", 3, "VBD"]], [CAT], "sentence 0, token 1: 3 is neither a tag"),
        (["DT NN VBD"], [CAT], "sentence 0: 'DT NN VBD' is a string"),
        ([X[0]], [None], r"y\[0\] is None"),
        ([X[0]], [("S", "the", "cat")], "sentence 0, word 0: 'the' has no tag"),
        ([X[0]], ["(S (DT the))"], "sentence 0, word 0: .* is text; .*parse_trees"),
        ([X[0]], [("S", ("NP",), ("NN", "a"))], "sentence 0, word 0: .* is not a node"),
        ([X[0]], [(3, ("NN", "a"))], "the label 3 is not a string"),
    ],
)  # fmt: skip
def test_bad_training_data_is_named(sentences, trees, message):
    with pytest.raises(ValueError, match=message):
        GrammarSVM().fit(sentences, trees)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"terminals": "letters"}, "terminals='letters'"),
        ({"branching": "up"}, "branching='up'"),
        ({"vertical": 0}, "vertical=0"),
        ({"horizontal": -1}, "horizontal=-1"),
        ({"beam": 0.0}, "beam=0.0"),
        ({"rare": -1}, "rare=-1"),
        ({"fallback": "x"}, "fallback='x'"),
        ({"anchors": ("middle",)}, "anchors: 'middle' is not one of"),
        ({"anchors": "middle"}, "anchors: 'middle' is not one of"),
        ({"loss": "f2"}, "loss='f2' is not known"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        GrammarSVM(**options).fit(X, TREES)


def test_rules_that_the_grammar_lacks_are_named():
    grammar = Grammar().bind(X[:1], TREES[:1])
    other = ("S", ("NN", "a"), ("DT", "b"))
    x = grammar.encode([tagged_words(other)])
    with pytest.raises(ValueError, match=r"sentence 0: a rule .*: S -> NN DT"):
        grammar.encode_labels(x, [other])
    with pytest.raises(ValueError, match="no rules yet"):
        Grammar().encode(X)


@given(g=st.integers(1, 12), a=st.floats(0.0, 1.0), data=st.data())
def test_the_linear_bound_is_never_below_the_loss(g, a, data):
    m, e = data.draw(st.integers(0, g)), data.draw(st.integers(0, 60))
    bonus = f1_bound(g, 2.0, a)
    bound = 2.0 + bonus.bracket * (m + e) + bonus.match * m
    assert bound >= 2.0 * float(BracketF1().of_counts(m, e, g)) - 1e-12


def test_a_tag_never_seen_is_named_and_may_be_any_tag():
    model = GrammarSVM(C=1.0, tol=0.1).fit(X, TREES)
    strange = [("ye", "XX"), ("cat", "NN"), ("sat", "YY")]
    with pytest.warns(UserWarning, match="sentence 1, token 0: 'XX' and 1 more"):
        found = model.predict([X[0], strange])
    assert found[0] == CAT
    assert found[1] == ("S", ("NP", ("XX", "ye"), ("NN", "cat")), ("VP", ("YY", "sat")))
    with pytest.raises(ValueError, match="sentence 0, token 2: 'sat' is not a tag"):
        model.predict([["DT", "NN", "sat"]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scores_that_cancel_out_leave_a_tree():
    """Rules of 1e9 that sum to 1e-7: the rounding error is that of the terms.

    The forest above the best score less its rounding had no tree (IndexError).
    """

    def written(tree):
        return ("N", "n") if tree == "N" else (tree[0], *map(written, tree[1:]))

    left = ("A", ("A", "N", "N"), "N")
    rows = [
        ("A", "N", "N"), left, ("A", "N", ("B", "N", "N")),
        ("B", ("A", "N", "N"), ("B", "N", "N")), left,
    ]  # fmt: skip
    tags = [["N"] * n for n in (2, 3, 3, 4, 3)]
    model = GrammarSVM(C=1e9, solver="subgradient", max_iter=300, tol=1e-11)
    model.fit(tags, list(map(written, rows)))
    assert np.isfinite(model.result_.primal)
    assert model.result_.dual <= model.result_.primal
