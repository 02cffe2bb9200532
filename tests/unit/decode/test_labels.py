"""Legal labels and spans from plain scores; what is refused, and how it is said."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.decode import (
    Alignment,
    Chain,
    Classes,
    DependencyTree,
    Matching,
    Network,
    Ranking,
    Segments,
    SpanTree,
    best_labels,
    best_spans,
    label_marginals,
    nbest_labels,
)

SCHEMES = {
    "bio": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "iob1": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "bioes": ["O", "B-X", "I-X", "E-X", "S-X", "S-Y", "B-Y", "E-Y", "I-Y"],
}
LETTERS = {"E": "L", "S": "U"}  # of BILOU
SCHEMES["bilou"] = [LETTERS.get(y[0], y[0]) + y[1:] for y in SCHEMES["bioes"]]
seeds = st.integers(0, 2**32 - 1)


def spans_of(labels, scheme):
    """(kind, first, last) read strictly; None if the labels are illegal."""
    if scheme == "bilou":
        back = {"L": "E", "U": "S"}
        labels, scheme = [back.get(y[0], y[0]) + y[1:] for y in labels], "bioes"
    out, open_span = [], None
    for t, label in enumerate(labels):
        head, _, kind = label.partition("-")
        if scheme == "bio":
            if head == "I" and (open_span is None or open_span[0] != kind):
                return None
        elif scheme == "iob1":
            if head == "B" and (open_span is None or open_span[0] != kind):
                return None
        else:
            inside = open_span is not None
            if inside != (head in "IE") or (inside and open_span[0] != kind):
                return None
        if head == "O":
            open_span = None
        elif scheme == "bioes":
            open_span = (kind, t) if head in "BI" else None
        else:
            open_span = (kind, t)
        out.append((kind, t))
    return None if scheme == "bioes" and open_span is not None else out


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=25)
@given(seed=seeds, n=st.integers(1, 4))
def test_legal_labels_are_the_best_legal_ones(scheme, seed, n):
    labels = SCHEMES[scheme]
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, len(labels))) * 3
    legal = [
        y
        for y in product(range(len(labels)), repeat=n)
        if spans_of([labels[k] for k in y], scheme) is not None
    ]
    values = {y: scores[np.arange(n), list(y)].sum() for y in legal}
    top = max(values, key=values.get)
    assert best_labels(scores, labels, scheme) == [labels[k] for k in top]
    order = sorted(values.values(), reverse=True)[:3]
    many = nbest_labels(scores, labels, 3, scheme)
    assert [s for _, s in many] == pytest.approx(order)
    log_z = np.logaddexp.reduce(list(values.values()))
    p = np.zeros_like(scores)
    for y, v in values.items():
        p[np.arange(n), list(y)] += np.exp(v - log_z)
    np.testing.assert_allclose(label_marginals(scores, labels, scheme), p, atol=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_illegal_sequence_on_any_logits(scheme):
    labels = SCHEMES[scheme]
    rng = np.random.default_rng(1)
    rows = [
        (rng.normal(size=(rng.integers(1, 60), len(labels))) * scale).astype(dtype)
        for scale in (0.0, 1e-6, 1.0, 30.0, 1e6)
        for dtype in (np.float32, np.float64)
        for _ in range(40)
    ]
    for y in best_labels(rows, labels, scheme):
        assert spans_of(y, scheme) is not None


@settings(max_examples=50)
@given(seed=seeds, n=st.integers(0, 7))
def test_best_spans_of_all_sets(seed, n):
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        start = int(rng.integers(0, 6))
        rows.append((start, start + int(rng.integers(1, 4)), k, float(rng.normal())))

    def apart(some):
        return all(a[1] <= b[0] or b[1] <= a[0] for a, b in combinations(some, 2))

    every = [s for k in range(n + 1) for s in combinations(rows, k) if apart(s)]
    found = best_spans(rows)
    score = sum(r[3] for r in rows if (r[0], r[1], r[2]) in found)
    assert score == pytest.approx(max(sum(r[3] for r in s) for s in every))
    assert apart(found)


def test_a_list_of_sequences_and_names():
    rows = [np.eye(3), np.eye(3)[:1]]
    assert best_labels(rows, ["a", "b", "c"]) == [["a", "b", "c"], ["a"]]
    assert best_labels([], ["a"]) == []
    assert best_labels(np.eye(2), "ab", allowed={("a", "a"), ("b", "b")}) in (
        ["a", "a"], ["b", "b"],
    )  # fmt: skip


nan = np.zeros((3, 4, 2))
nan[1, 2, 1] = np.nan
padding = np.zeros((2, 3, 2))
padding[1, 2, 0] = np.nan
MISTAKES = [
    (lambda: Chain().best(nan), r"row 1: emissions\[2, 1\] is nan"),
    (lambda: Chain().best(np.zeros((2, 3))), "emissions has shape"),
    (lambda: Chain().best(np.zeros((2, 3, 2)), [2, 0]), "row 1 is empty"),
    (lambda: Chain().best(np.zeros((2, 3, 2)), [2, 4]), "row 1: length 4"),
    (
        lambda: Chain().best(np.zeros((1, 3, 2)), [[True, False, True]]),
        "row 0: mask has a gap",
    ),
    (lambda: Chain().best({"emission": nan}), "there is no table 'emission'"),
    (
        lambda: Chain().best(
            {"emissions": np.zeros((1, 2, 2)), "transitions": [[1.0]]}
        ),
        "transitions has shape",
    ),
    (
        lambda: Chain(labels=("O", "B-X", "I-X"), scheme="bio").score(
            np.zeros((2, 2, 3)), [[0, 1], [0, 2]]
        ),
        "row 1, token 1: 'I-X' may not follow 'O'",
    ),
    (
        lambda: Chain(labels=("O", "B-X", "I-X"), scheme="bio").score(
            np.zeros((1, 2, 3)), [[2, 1]]
        ),
        "row 0: no sequence may begin with 'I-X'",
    ),
    (
        lambda: Chain().score(np.zeros((1, 2, 3)), [[0, 3]]),
        "row 0, position 1: label 3",
    ),
    (lambda: Chain().score(np.zeros((2, 2, 3)), [[0, 0], [0]]), "row 1: 1 labels"),
    (lambda: Chain().best(np.full((2, 2, 2), -np.inf)), "row 0: no output is allowed"),
    (lambda: Chain(scheme="bio"), "needs labels"),
    (
        lambda: Chain(labels=("a", "b"), scheme="bio").best(np.zeros((1, 1, 2))),
        "does not fit",
    ),
    (
        lambda: Chain(labels=("O",), scheme="xx").best(np.zeros((1, 1, 1))),
        "scheme='xx'",
    ),
    (
        lambda: Segments().score(np.zeros((1, 3, 2, 1)), [[(0, 1, 0), (2, 3, 0)]]),
        "row 0: segment .* leaves a gap",
    ),
    (
        lambda: Segments().score(np.zeros((1, 3, 2, 1)), [[(0, 2, 0), (1, 3, 0)]]),
        "row 0: segment .* overlaps",
    ),
    (
        lambda: Segments().score(np.zeros((1, 3, 2, 1)), [[(0, 3, 0)]]),
        "1 to 2 tokens",
    ),
    (
        lambda: SpanTree().score(np.zeros((1, 3, 3, 2)), [[(0, 1, 1), (1, 2, 1)]]),
        "row 0: spans of the target cross",
    ),
    (lambda: SpanTree().score(np.zeros((1, 3, 3, 2)), [[(0, 3, 1)]]), "is not a span"),
    (
        lambda: DependencyTree().score(np.zeros((1, 3, 4)), [[2, 1, 0]]),
        "row 0: the target has a cycle",
    ),
    (
        lambda: DependencyTree().score(np.zeros((1, 2, 3)), [[0, 0]]),
        "row 0: 2 tokens .* single_root=False",
    ),
    (
        lambda: DependencyTree().score(np.zeros((1, 4, 5)), [[3, 4, 0, 3]]),
        "cross; use projective=False",
    ),
    (
        lambda: Alignment().score(np.zeros((1, 2, 2)), [[(0, 1), (1, 0)]]),
        "row 0: matches .* cross",
    ),
    (lambda: Alignment().score(np.zeros((1, 2, 2)), [[(0, 2)]]), "outside of the"),
    (lambda: Alignment("semi"), "mode='semi'"),
    (lambda: Network(edges=((0, 0),)), "joins two nodes"),
    (lambda: Network(edges=((0, 5),)).best(np.zeros((1, 2, 2))), "unary has 2 nodes"),
    (lambda: Matching().best(np.zeros((1, 3, 2))), "row 0: 3 items on the left"),
    (lambda: Matching().score(np.zeros((1, 2, 2)), [[0, 0]]), "uses a column twice"),
    (lambda: Matching().best(np.full((1, 2, 2), -np.inf)), "row 0: no output"),
    (lambda: Ranking().best([[0.0, -np.inf]]), "row 0: a score is -inf"),
    (lambda: Classes(("a", "b")).score([[0.0, 1.0]], [2]), "row 0: class 2"),
    (lambda: Classes(("a", "b")).best([[0.0, 1.0, 2.0]]), "3 columns"),
    (lambda: Classes(taxonomy={"a": "b"}), "needs classes"),
    (
        lambda: best_labels([np.zeros((2, 3)), np.zeros((0, 3))], "abc"),
        "row 1 is empty",
    ),
    (lambda: best_labels([np.zeros((2, 2))], "abc"), "row 0: scores of shape"),
    (lambda: best_spans([(2, 2, "X", 1.0)]), "span 0"),
    (lambda: best_spans([(0, 2, "X", np.nan)]), "span 0: its score is nan"),
    (lambda: Chain().nbest(np.zeros((1, 1, 2)), 0), "n=0"),
]


@pytest.mark.parametrize("call, message", MISTAKES)
def test_mistakes_name_the_row(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_in_the_padding_does_not_count():
    assert Chain().best(padding, [3, 2]).outputs.tolist() == [[0, 0, 0], [0, 0, -1]]


def test_targets_leave_out_empty_spans():
    tree = SpanTree()
    spans = np.zeros((1, 4, 4, 3))
    target = [[(0, 3, 1), (1, 2, 2)]]
    rows = tree.outputs(tree.read(spans), tree.encode(tree.read(spans), target))
    assert len(rows[0]) == 7
    assert {(0, 3, 1), (1, 2, 2)} <= set(rows[0])


def test_loopy_graphs_say_that_they_are_bounds():
    rng = np.random.default_rng(0)
    edges = tuple(combinations(range(12), 2))
    network = Network(edges=edges, inference="trws")
    unary, pairwise = rng.normal(size=(1, 12, 4)), -3.0 * np.eye(4)  # all repel
    scores = {"unary": unary, "pairwise": pairwise}
    found = network.best(scores)
    assert found.bound[0] > found.score[0] + 0.1
    assert not network.is_exact(network.read(scores))
    with pytest.raises(NotImplementedError, match="exactly"):
        network.nbest(scores, 2)


def trees_of(n, single):
    """All non-projective trees of n tokens, as tuples of heads."""
    for heads in product(range(n + 1), repeat=n):
        if single and heads.count(0) != 1:
            continue
        paths = []
        for m in range(1, n + 1):
            at = m
            for _ in range(n):
                at = heads[at - 1] if at else 0
            paths.append(at == 0)
        if all(paths):
            yield heads


@settings(max_examples=25, deadline=None)
@given(
    seed=seeds,
    n=st.integers(1, 4),
    size=st.sampled_from([1.0, 10.0, 40.0, 700.0, 1e5]),
    single=st.booleans(),
)
def test_sums_over_trees_at_any_scale(seed, n, size, single):
    """Cycles whose arcs are far better than the way out of them lose no digits."""
    rng = np.random.default_rng(seed)
    arcs = rng.uniform(-size, size, (1, n, n + 1))
    arcs[0][rng.random((n, n + 1)) < 0.1] = -np.inf
    tree = DependencyTree(projective=False, single_root=single)
    outputs = list(trees_of(n, single))
    values = np.array([arcs[0, np.arange(n), list(y)].sum() for y in outputs])
    if not (values > -np.inf).any():
        with pytest.raises(ValueError, match="no output is allowed"):
            tree.marginals(arcs)
        return
    log_z = np.logaddexp.reduce(values)
    found = tree.marginals(arcs)
    assert found.log_z[0] == pytest.approx(log_z, rel=1e-12, abs=1e-9)
    expected = np.zeros((n, n + 1))
    for y, p in zip(outputs, np.exp(values - log_z), strict=True):
        expected[np.arange(n), list(y)] += p
    np.testing.assert_allclose(found.tables["arcs"][0], expected, atol=1e-7)


def test_sums_over_long_sentences_at_any_scale():
    rng = np.random.default_rng(0)
    for size in (1.0, 30.0, 700.0):
        arcs = rng.uniform(-size, size, (1, 30, 31))
        for single in (False, True):
            tree = DependencyTree(projective=False, single_root=single)
            found, best = tree.marginals(arcs), tree.best(arcs)
            p = found.tables["arcs"][0]
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-8)
            roots = p[:, 0].sum()
            assert roots == pytest.approx(1.0) if single else roots >= 1.0 - 1e-9
            assert found.log_z[0] >= best.score[0] - 1e-9
            if size == 700.0:  # one tree has nearly all of the probability
                assert p[np.arange(30), best.outputs[0]].min() > 0.5


def test_a_wrong_scheme_is_refused_at_once():
    with pytest.raises(ValueError, match="'iobes' is not one of 'bio'"):
        Chain(labels=("O", "B-X"), scheme="iobes")
    with pytest.raises(ValueError, match="label 'X' does not fit"):
        Chain(labels=("O", "X"), scheme="bio")


@pytest.mark.parametrize(
    "labels, scheme, dead",
    [
        (("O", "I-X"), "bio", "I-X"),  # a tagger of IOB1
        (("O", "B-X", "I-X"), "bioes", "B-X"),
        (("O", "B-X", "I-X"), "bilou", "B-X"),
        (("O", "S-X", "E-X"), "bioes", "E-X"),
        (("O", "B-X"), "iob1", "B-X"),
    ],
)
def test_labels_that_no_legal_sequence_contains(labels, scheme, dead):
    message = f"label '{dead}' is in no legal sequence of these labels under scheme='{scheme}'"
    with pytest.raises(ValueError, match=message):
        best_labels(np.zeros((2, len(labels))), labels, scheme)


def test_labels_that_are_rare_but_legal():
    for labels, scheme in (
        (("O", "B-X"), "bio"),
        (("O", "I-X"), "iob1"),
        (("O", "S-X"), "bioes"),
        (("B-X", "E-X"), "bioes"),
        (("O", "U-X", "B-Y", "L-Y"), "bilou"),
    ):
        Chain(labels=labels, scheme=scheme)


def test_names_by_number():
    scores, names = [[0.1, 0.2, 2.0], [3.0, 0.2, 0.1]], ["O", "B-PER", "I-PER"]
    by_number = {2: "I-PER", 0: "O", 1: "B-PER"}  # as config.id2label has them
    for ask in (best_labels, label_marginals):
        given, told = ask(scores, names, "bio"), ask(scores, by_number, "bio")
        assert np.array_equal(given, told)
    assert nbest_labels(scores, by_number, 1) == nbest_labels(scores, names, 1)
    with pytest.raises(ValueError, match="a set has no order"):
        best_labels(scores, set(names))
    with pytest.raises(ValueError, match="a dict has no order"):
        Chain(labels=by_number)
