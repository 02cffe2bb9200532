"""Chains against enumeration: orders 1 to 3, losses, masks, n-best, max-marginals."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from cases.chain import outputs
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import Sequences
from maxmargin.core import Augment, Ragged, Structure
from maxmargin.losses import Hamming, ZeroOne
from maxmargin.structures.chain import Chain

LOSSES = [Hamming(), Hamming(normalize=True, class_weight=[0.5, 1.0, 1.5]), ZeroOne()]


def instance(seed, lengths, sparse=False, **options):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for length in [*lengths, 3]:
        dense = rng.normal(size=(length, 3)) * (rng.random((length, 3)) < 0.6)
        X.append(sp.csr_array(dense) if sparse else dense)
        Y.append(rng.integers(3, size=length))
    Y[-1][:] = [0, 1, 2]
    structure = Chain(eta=0.7, **options).bind(X, Y)
    x = structure.encode(X)
    return structure, x, structure.encode_labels(x, Y), rng


def everything(structure, x, i, w):
    """All outputs of example i and their scores by psi."""
    rows = outputs(structure, x, i)
    ids = np.full(len(rows), i)
    return rows, structure.features(x, ids, Ragged.pack(rows)).dot(w)


def check(structure, x, truth, rng, losses=LOSSES):
    w = rng.normal(size=structure.dim)
    ids = rng.permutation(x.n)
    space = {i: everything(structure, x, i, w) for i in range(x.n)}
    check_lists(structure, x, w, ids, space)
    for loss in losses:
        loss = loss.bind(len(structure.labels))
        augment = Augment(truth, loss, rng.random(x.n) * 2)
        found = structure.argmax(x, ids, w, augment)
        fused = structure.cuts(x, ids, w, augment)
        plain = Structure.cuts(structure, x, ids, w, augment)
        for a, b in ((fused.delta, plain.delta), (fused.bound, plain.bound)):
            np.testing.assert_allclose(a, b, atol=1e-9)
        np.testing.assert_allclose(
            fused.dpsi.csr(structure.dim).toarray(),
            plain.dpsi.csr(structure.dim).toarray(),
            atol=1e-12,
        )
        layers = structure.argmax_by_loss(x, ids, w, augment)
        for q, i in enumerate(ids):
            rows, score = space[i]
            cost = loss.value(truth.take(np.full(len(rows), i)), Ragged.pack(rows))
            value = score + augment.weight[i] * cost
            assert np.isclose(found.score[q], value.max())
            best = rows.index(found.labels.row(q).tolist())
            assert np.isclose(value[best], value.max())
            part = slice(layers.ptr[q], layers.ptr[q + 1])
            assert len(np.unique(cost.round(9))) == len(layers.loss[part])
            for r in range(part.start, part.stop):
                top = score[np.isclose(cost, layers.loss[r])].max()
                assert np.isclose(layers.score[r], top)
                assert np.isclose(score[rows.index(layers.labels.row(r).tolist())], top)


def check_lists(structure, x, w, ids, space):
    plain, lists = structure.argmax(x, ids, w), structure.nbest(x, ids, w, 5)
    marginals, at = structure.max_marginals(x, ids, w), 0
    for q, i in enumerate(ids):
        rows, score = space[i]
        assert np.isclose(plain.score[q], score.max())
        part = range(lists.ptr[q], lists.ptr[q + 1])
        np.testing.assert_allclose(lists.score[list(part)], np.sort(score)[::-1][:5])
        listed = [tuple(lists.labels.row(r).tolist()) for r in part]
        assert len(set(listed)) == len(listed)
        for r, row in zip(part, listed, strict=True):
            assert np.isclose(lists.score[r], score[rows.index(list(row))])
        for t in range(x.ptr[i + 1] - x.ptr[i]):
            for k in range(len(structure.labels)):
                some = [s for s, row in zip(score, rows, strict=True) if row[t] == k]
                assert np.isclose(marginals[at, k], max(some, default=-np.inf))
            at += 1


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**31),
    lengths=st.lists(st.integers(0, 4), max_size=3),
    order=st.integers(1, 3),
    options=st.fixed_dictionaries(
        {
            "edge_features": st.booleans(),
            "start_end": st.booleans(),
            "bias": st.booleans(),
            "sparse": st.booleans(),
            "window": st.integers(0, 1),
        }
    ),
)
def test_enumeration(seed, lengths, order, options):
    check(*instance(seed, lengths, order=order, **options))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_enumeration_with_mask_and_forced_labels(order):
    allowed = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1]], bool)
    rng = np.random.default_rng(order)
    X = [rng.normal(size=(length, 2)) for length in (4, 0, 1, 3)]
    Y = [[0, 1, 2, 1], [], [2], [2, 2, 0]]
    structure = Chain(order=order, allowed=allowed).bind(X, Y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, Y)
    check(structure, x, truth, rng)
    held = structure.constrain(x, [{1: 1}, {}, [2], None])
    check(structure, held, structure.encode_labels(held, Y), rng)


def test_bioes_scheme_allows_whole_entities_only():
    labels = ["O", "B-P", "I-P", "E-P", "S-P", "B-Q", "E-Q"]
    Y = [["B-P", "I-P", "E-P", "O", "S-P"], ["B-Q", "E-Q"], []]
    X = [np.ones((len(y), 1)) for y in Y]
    structure = Chain(scheme="bioes").bind(X, Y)
    assert set(structure.labels) == set(labels)
    x, rng = structure.encode(X), np.random.default_rng(0)
    for _ in range(20):
        w = rng.normal(size=structure.dim)
        for y in structure.decode_labels(
            x, structure.argmax(x, np.arange(3), w).labels
        ):
            structure.encode_labels(structure.encode([np.ones((len(y), 1))]), [y])
    lists = structure.nbest(x, np.array([1]), w, 100)
    assert lists.labels.n == 1 + 1 + 1 + 1 + 2  # OO, OS, SO, SS, BE of P and of Q


def test_bio_scheme_refuses_what_it_forbids():
    X = [np.ones((2, 1)), np.ones((1, 1))]
    with pytest.raises(ValueError, match=r"sequence 0, token 1: 'I-Q' may not follow"):
        Chain(scheme="bio").bind(X, [["B-P", "I-Q"], ["B-Q"]])
    with pytest.raises(ValueError, match=r"sequence 1, token 0: no sequence may begin"):
        Chain(scheme="bio").bind(X, [["B-P", "I-P"], ["I-P"]])
    with pytest.raises(ValueError, match="'X-P' does not fit"):
        Chain(scheme="bio").bind(X, [["B-P", "I-P"], ["X-P"]])
    with pytest.raises(
        ValueError,
        match=r"sequence 0, token 1: label 'I-Z' can never occur.* There is no 'B-Z', so "
        r"the data look like IOB1.* rewrite the first label of each entity as B-",
    ):
        Chain(scheme="bio").bind(X, [["O", "I-Z"], ["O"]])


def test_unreachable_forced_labels_name_the_sequence():
    X = [np.ones((2, 1))] * 2
    structure = Chain(allowed={("a", "a"), ("b", "b")}).bind(
        X, [["a", "a"], ["b", "b"]]
    )
    x = structure.constrain(structure.encode(X), [None, ["a", "b"]])
    with pytest.raises(ValueError, match="sequence 1: no label sequence is possible"):
        structure.argmax(x, np.arange(2), np.zeros(structure.dim))
    with pytest.raises(
        ValueError, match="sequence 1, token 0: another label is forced"
    ):
        structure.encode_labels(x, [["a", "a"], ["b", "b"]])
    with pytest.raises(ValueError, match="sequence 0 has no token 7"):
        structure.constrain(x, [{7: "a"}, {}])
    with pytest.raises(ValueError, match="sequence 0, token 0: unknown label 'c'"):
        structure.constrain(x, [["c"], {}])


def test_dense_sparse_and_named_inputs_agree():
    rng = np.random.default_rng(3)
    dense = [(rng.random((n, 4)) < 0.5) * rng.integers(1, 4, (n, 4)) for n in (3, 1, 2)]
    named = [
        [{f"f{j}": float(v) for j, v in enumerate(row)} for row in rows]
        for rows in dense
    ]
    flat = Sequences(np.concatenate(dense), [0, 3, 4, 6])
    Y = [list("abc"), list("b"), list("ca")]
    forms = [dense, [sp.csr_matrix(d) for d in dense], named, flat, flat[np.arange(3)]]
    loss, answers = Hamming().bind(3), []
    for X in forms:
        structure = Chain(order=2).bind(X, Y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, Y)
        step, lasts = np.zeros(structure.dim), []
        augment = Augment(truth, loss, np.ones(3))
        for _ in range(5):
            answer = structure.cuts(x, np.arange(3), step, augment)
            step = step + 0.1 * answer.dpsi.total(structure.dim)
            lasts.append(answer.bound)
        answers.append(np.concatenate(lasts))
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], atol=1e-9)


def test_costs_without_a_common_unit():
    structure, x, truth, _ = instance(0, [3])
    cost = np.array([[0, 1, np.pi], [1, 0, 1], [1, 1, 0]])
    augment = Augment(truth, Hamming(cost=cost).bind(3), np.ones(x.n))
    assert not structure.layered(augment.loss)
    assert structure.layered(Hamming(cost=np.round(cost)).bind(3))
    with pytest.raises(ValueError, match="common unit"):
        structure.argmax_by_loss(x, np.arange(1), np.zeros(structure.dim), augment)


def test_bind_leaves_the_original_alone_and_pickles():
    structure, x, _, rng = instance(1, [2, 3], order=2)
    again = pickle.loads(pickle.dumps(structure))
    w = rng.normal(size=structure.dim)
    one, two = (s.argmax(x, np.arange(x.n), w) for s in (structure, again))
    assert one.labels.unpack() == two.labels.unpack()
    bare = Chain()
    bare.bind([np.ones((1, 1))], [["a"]])
    assert bare == Chain()


def test_bad_input_names_sequence_and_token():
    one = np.ones((2, 2))
    cases = [
        ([one, one], [[0, 1], [0]], "sequence 1 has 2 tokens but 1 labels"),
        ([one], [[0, 1], [0]], "1 sequences of tokens but 2"),
        ([one, np.ones((1, 3))], [[0, 1], [0]], "sequence 1 has 3 features"),
        ([one, [{"a": 1.0}]], [[0, 1], [0]], "sequence 0 holds arrays but sequence 1"),
        ([[{"a": 1.0}, {}]], [[0, 1]], "sequence 0, token 1 has no features"),
        ([[{"a": 1.0}, np.ones(2)]], [[0, 1]], "sequence 0, token 1: a ndarray among"),
        ([[{"a": object()}]], [[0]], "sequence 0, token 0: feature 'a' has a value"),
        ([one * np.nan], [[0, 1]], "sequence 0, token 0: a feature is not finite"),
        ([np.ones(2)], [[0, 1]], "sequence 0 has shape"),
        ([one], [3], "sequence 0: labels are a int"),
        ([], [], "no sequences"),
        ([np.ones((0, 2))], [[]], "no labels"),
    ]
    for X, Y, message in cases:
        with pytest.raises(ValueError, match=message):
            Chain().bind(X, Y)
    structure = Chain().bind([one], [[0, 1]])
    with pytest.raises(ValueError, match="sequence 0, token 1: unknown label 7"):
        structure.encode_labels(structure.encode([one]), [[0, 7]])
    with pytest.raises(ValueError, match="tokens have 3 features"):
        structure.encode([np.ones((1, 3))])


def test_unseen_features_are_ignored():
    structure = Chain().bind([[{"w": "a"}, {"w": "b"}]], [["x", "y"]])
    x = structure.encode([[{"w": "new", "other": 3.0}, {"w": "b"}]])
    assert np.diff(x.vectors.ptr).tolist() == [0, 1]


def test_lists_dicts_and_mixed_tokens_give_the_same_matrix():
    lists = [[["a", "b"], ["b", "b", "c"]], [["a"]]]
    dicts = [[{"a": 1, "b": True}, {"b": 2.0, "c": 1}], [{"a": 1.0}]]
    mixed = [[("a", "b"), {"b": 2, "c": True}], [{"a"}]]
    rows = []
    for X in (lists, dicts, mixed):
        structure = Chain().bind(X, [[0, 1], [0]])
        rows.append(structure.encode([*X, [["zz"]]] if X is lists else X).vectors.csr())
    for other in rows[1:]:
        assert (rows[0][:3] != other).nnz == 0
    assert rows[0].shape == (4, 3)


def test_nested_dicts_follow_crfsuite():
    token = {
        "a": "b",
        "t": True,
        "f": False,
        "n": 2.5,
        "d": {"e": "g", "h": 1},
        "l": ["p"],
    }
    structure = Chain().bind([[token, "plain", ["s", "t"]]], [[0, 1, 0]])
    assert list(structure.names) == [
        "a:b",
        "t",
        "f",
        "n",
        "d:e:g",
        "d:h",
        "l:p",
        "plain",
        "s",
    ]


def test_a_loss_with_too_many_values_for_layers_is_refused():
    X = [np.ones((1100, 1)), np.ones((3, 1))]
    Y = [[0, 1] * 550, [0, 1, 0]]
    structure = Chain().bind(X, Y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, Y)
    augment = Augment(truth, Hamming().bind(2), np.ones(2))
    w = np.zeros(structure.dim)
    with pytest.raises(ValueError, match="sequence 0: its loss may take 1100 values"):
        structure.argmax_by_loss(x, np.arange(2), w, augment)
    assert structure.argmax_by_loss(x, np.array([1]), w, augment).ptr.tolist() == [0, 4]
