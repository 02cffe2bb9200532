"""CoreferenceSVM, SVM-cluster, pair features and cluster measures."""

import numpy as np
import pytest

from maxmargin import CoreferenceSVM
from maxmargin.core import Augment, Formulation, Problem, Ragged
from maxmargin.estimators import CorrelationSVM
from maxmargin.inference.cluster import relax
from maxmargin.io.coreference import CoreferenceDocument
from maxmargin.losses import PairLoss
from maxmargin.metrics import clusters as measures
from maxmargin.metrics import clusters_of
from maxmargin.structures.clusters import (
    NAMES,
    Correlation,
    Document,
    Mention,
    PairFeatures,
    pair_features,
)


def documents(seed, n=8, m=12, noise=2.0):
    """Mentions of three things; neighbours in a chain look alike, others do not."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        y = rng.integers(3, size=m)
        rows = []
        for j in range(m):
            for i in range(j):
                same = float(y[i] == y[j])
                strong = same * float(not (y[i + 1 : j] == y[j]).any())
                rows.append([
                    1.0, strong + 0.3 * rng.normal(), same + noise * rng.normal()
                ])  # fmt: skip
        X.append(PairFeatures(m, np.array(rows)))
        Y.append(y.tolist())
    return X, Y


def test_forests_are_learnt_and_the_objective_falls():
    X, Y = documents(0)
    model = CoreferenceSVM(C=0.5).fit(X, Y)
    assert (np.diff(model.result_.outer["objective"]) <= 1e-12).all()
    assert model.score(*documents(1)) > 0.8
    assert model.predict([PairFeatures(0, np.zeros((0, 3)))])[0] == []


def test_a_smaller_r_links_more():
    X, Y = documents(2)
    clusters = [
        sum(max(c) for c in CoreferenceSVM(r, C=0.1).fit(X, Y).predict(X))
        for r in (1.0, 0.01)
    ]
    assert clusters[1] <= clusters[0]


def test_correlation_clustering_is_trained():
    X, Y = documents(3, noise=0.3)
    model = CorrelationSVM(C=0.1, tol=0.02).fit(X, Y)
    losses = [
        measures.pair_loss(a, b) for a, b in zip(Y, model.predict(X), strict=True)
    ]
    assert np.mean(losses) < 5.0


@pytest.mark.parametrize("seed", range(4))
def test_greedy_scores_are_those_of_its_answer(seed):
    rng = np.random.default_rng(seed)
    X = [PairFeatures(m, rng.normal(size=(m * (m - 1) // 2, 2))) for m in (5, 0, 7, 1)]
    Y = [rng.integers(3, size=x.mentions).tolist() for x in X]
    structure = Correlation().bind(X, Y)
    x, w = structure.encode(X), rng.normal(size=2)
    truth = structure.encode_labels(x, Y)
    ids, weight = np.arange(4), rng.uniform(0.1, 2.0, size=4)
    loss = PairLoss()
    plain = structure.argmax(x, ids, w)
    psi = structure.features(x, ids, plain.labels)
    assert np.allclose(plain.score, psi.dot(w))
    worst = structure.argmax(x, ids, w, Augment(truth, loss, weight))
    psi = structure.features(x, ids, worst.labels)
    value = loss.value(truth, worst.labels)
    assert np.allclose(worst.score, psi.dot(w) + weight * value)
    own = structure.features(x, ids, truth).dot(w)
    assert (worst.score >= own - 1e-9).all()
    for i in ids:
        hand = measures.pair_loss(truth.row(i), worst.labels.row(i))
        assert value[i] == pytest.approx(hand)


def partitions(m):
    """All partitions of m items, numbered by first appearance."""
    rows = [[]]
    for _ in range(m):
        rows = [[*r, c] for r in rows for c in range(max(r, default=-1) + 2)]
    return np.array(rows)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("penalty", ["linear", "squared"])
def test_greedy_slacks_are_below_the_exact_ones(rescaling, penalty):
    """Which is what "reduced" says; where costs are not linear they could be above."""
    m, formulation = 6, Formulation(rescaling, penalty)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = [PairFeatures(m, rng.normal(size=(m * (m - 1) // 2, 3)))]
        structure = Correlation("greedy").bind(X, [[0] * m])
        x, w = structure.encode(X), rng.normal(size=3)
        truth = structure.encode_labels(x, [rng.integers(3, size=m).tolist()])
        loss = PairLoss()
        problem = Problem(structure, loss, formulation, x, truth, np.ones(1))
        assert problem.certificate == "reduced"
        every = Ragged.pack(partitions(m))
        ids = np.zeros(every.n, np.int64)
        psi = structure.features(x, ids, every).dot(w)
        margin = structure.features(x, np.array([0]), truth).dot(w)[0] - psi
        height = formulation.criterion.value(loss.value(truth.take(ids), every), margin)
        assert problem.slacks(w)[0] <= height.max() + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_relaxed_partitions_bound_the_best_one(seed):
    rng = np.random.default_rng(seed)
    m = 6
    X = [PairFeatures(m, rng.normal(size=(m * (m - 1) // 2, 3)))]
    structure = Correlation("relaxed").bind(X, [[0] * m])
    x, w, one = structure.encode(X), rng.normal(size=3), np.array([0])
    truth = structure.encode_labels(x, [rng.integers(3, size=m).tolist()])
    every = Ragged.pack(partitions(m))
    assert every.n == 203
    score = structure.features(x, np.zeros(every.n, int), every).dot(w)
    found = structure.argmax(x, one, w)
    assert found.score[0] <= score.max() + 1e-9 <= found.bound[0] + 1e-6
    augment = Augment(truth, PairLoss(), np.array([0.05]))
    loss = PairLoss().value(truth.take(np.zeros(every.n, int)), every)
    own = structure.features(x, one, truth).dot(w)[0]
    slack = (score + 0.05 * loss).max() - own
    answer = structure.cuts(x, one, w, augment)
    assert answer.bound[0] >= slack - 1e-6
    direct = 0.05 * answer.delta - answer.dpsi.dot(w)
    np.testing.assert_allclose(answer.bound, direct, atol=1e-6)
    z, value = relax(m, X[0].features @ w)
    if np.allclose(z, z.round(), atol=1e-6):
        assert value == pytest.approx(score.max(), abs=1e-6)


def test_relaxed_correlation_clustering_is_trained():
    X, Y = documents(3, noise=0.3)
    model = CorrelationSVM(C=0.1, tol=0.02, inference="relaxed").fit(X, Y)
    assert model.result_.certificate == "relaxed"
    losses = [
        measures.pair_loss(a, b) for a, b in zip(Y, model.predict(X), strict=True)
    ]
    assert np.mean(losses) < 5.0
    with pytest.raises(ValueError, match="neither 'greedy' nor 'relaxed'"):
        CorrelationSVM(inference="best").fit(X, Y)
    long = PairFeatures(151, np.zeros((151 * 75, X[0].features.shape[1])))
    with pytest.raises(ValueError, match="document 1 has 151 mentions"):
        model.predict([X[0], long])


def test_greedy_joins_and_stops():
    structure = Correlation().bind([np.zeros((3, 1))], [[0, 0, 0]])
    x = structure.encode([np.array([[3.0], [-1.0], [-1.0], [2.0], [2.0], [-9.0]])])
    found = structure.argmax(x, np.array([0]), np.ones(1))
    assert found.labels.unpack() == [[0, 0, 1, 0]]
    assert found.score[0] == 7.0
    assert structure.decode_labels(x, Ragged.pack([[0, 1, 0, 2]])) == [[0, 1, 0, 2]]


def test_measures_by_hand():
    truth, found = [[0, 0, 0, 1, 1]], [[0, 0, 1, 1, 1]]
    assert measures.score(measures.muc_counts, truth, found).f1 == pytest.approx(2 / 3)
    b3 = measures.score(measures.b3_counts, truth, found)
    assert b3.precision == pytest.approx((1 + 1 + 1 / 3 + 2 / 3 + 2 / 3) / 5)
    ceaf = measures.score(measures.ceaf_counts, truth, found)
    assert ceaf.f1 == pytest.approx(0.8)
    by_mention = measures.score(measures.ceaf_counts, truth, found, entities=False)
    assert by_mention.f1 == pytest.approx(0.8)
    assert measures.pair_loss([0, 0, 1], [0, 1, 1]) == pytest.approx(200 / 3)
    assert measures.pair_loss([0], [0]) == measures.mitre_loss([0, 1], [1, 0]) == 0.0
    assert measures.score(measures.muc_counts, [[]], [[]]).f1 == 0.0
    with pytest.raises(ValueError, match="clustered"):
        measures.pair_loss([0], [0, 1])


def named(pairs, p):
    row = pairs.features[[p]].tocoo()
    return {NAMES[c] for c in row.col if c < 28}


def test_pair_features_by_hand():
    text = [
        ["Mr.", "Ford", ",", "the", "baker", ",", "saw", "Mrs.", "Ford", "."],
        ["He", "was", "a", "tall", "man", "."],
    ]
    mentions = [
        Mention(0, 0, 1, "PER"), Mention(0, 3, 4, "PER"), Mention(0, 7, 8, "PER"),
        Mention(1, 0, 0, "PER"), Mention(1, 2, 4, "PER"),
    ]  # fmt: skip
    pairs = pair_features(Document(text, mentions))
    assert pairs.features.shape == (10, len(NAMES))
    assert "apposition" in named(pairs, 0)  # 0, 1
    assert {"same head", "words shared", "gender differs"} <= named(pairs, 1)  # 0, 2
    assert {"gender agrees", "next sentence"} <= named(pairs, 3)  # 0, 3
    assert {"copula", "second indefinite"} <= named(pairs, 9)  # 3, 4
    kinds = [NAMES[c] for c in pairs.features[[3]].tocoo().col if c >= 39]
    assert all(name.endswith("[PROP, PRON]") for name in kinds)
    with pytest.raises(ValueError, match="mention 0: tokens 3 to 9"):
        pair_features(Document([["a"]], [Mention(0, 3, 9)]))
    with pytest.raises(ValueError, match="no sentence 2"):
        pair_features(Document([["a"]], [Mention(2, 0, 0)]))
    none = pair_features(Document([["a"]], []))
    assert none.features.shape == (0, len(NAMES))


def test_entities_and_texts_in_the_wrong_place_say_what_to_do():
    text = [["Ann", "met", "Bob", "."], ["Ann", "saw", "Bob", "."]]
    spans = [(0, 0, 0), (0, 2, 2), (1, 0, 0), (1, 2, 2)]
    document = Document(text, [Mention(*span) for span in spans])
    entities = [[spans[0], spans[2]], [spans[1], spans[3]]]
    for model in (CoreferenceSVM(), CorrelationSVM()):
        with pytest.raises(ValueError, match=r"document 0: .* clusters_of"):
            model.fit([document], [entities])
        with pytest.raises(ValueError, match="document 0 has words, but no mentions"):
            model.fit([text], [[0]])
    assert clusters_of(spans, entities) == [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"entity 0: \(9, 0, 0\) is not one of the 4"):
        clusters_of(spans, [[spans[0], (9, 0, 0)]])
    with pytest.raises(ValueError, match="is in entity 0, too"):
        clusters_of(spans, [spans[:2], spans[1:]])


def test_documents_bring_their_clusters_along():
    text = [["Ann", "met", "Bob", "."], ["Ann", "saw", "Bob", "."]]
    spans = [(0, 0, 0), (0, 2, 2), (1, 0, 0), (1, 2, 2)]
    document = CoreferenceDocument(text, spans, ["e1", "e2", "e1", "e2"])
    for make in (CoreferenceSVM, CorrelationSVM):
        alone = make(C=1.0).fit([document])
        given = make(C=1.0).fit([document], [[0, 1, 0, 1]])
        np.testing.assert_array_equal(alone.coef_, given.coef_)
        assert alone.score([document]) == given.score([document], [[0, 1, 0, 1]])
        plain = Document(text, [Mention(*span) for span in spans])
        with pytest.raises(
            ValueError, match="document 1 is a Document, which does not"
        ):
            make().fit([document, plain])
