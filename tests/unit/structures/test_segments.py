"""Segmentations: features of segments, spans in and out, constraints, factored planes."""

from collections import Counter
from itertools import pairwise

import cases.segments as case
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core import Augment, Ragged
from maxmargin.features import Column, Gazetteer, Templates, shape
from maxmargin.structures.segments import Segments, SegmentVocabulary, given_spans
from maxmargin.structures.segments.vocabulary import FAMILIES

seeds = st.integers(0, 2**31)


def plain_features(families, gazetteers, words, a, b, begin, end):
    """Names of the features of the segment a .. b - 1, from their definition."""
    low = [word.lower() for word in words]
    before = low[a - 1] if a > begin else "_"
    after = low[b] if b < end else "_"
    texts = {
        "length": str(b - a),
        "phrase": " ".join(low[a:b]),
        "shape": " ".join(map(shape, words[a:b])),
        "before": before,
        "after": after,
        "around": f"{before} .. {after}",
        "ends": f"{low[a]} .. {low[b - 1]}",
    }
    out = {f"{f}={texts[f]}" for f in families if f != "ends" or b - a > 1}
    named = [g.name for g in gazetteers if texts["phrase"] in g.phrases.all]
    return out | {f"gazetteer={name}" for name in named}


@given(seed=seeds)
@settings(max_examples=30)
def test_features_of_segments_are_those_of_their_definition(seed):
    rng = np.random.default_rng(seed)
    vocabulary = ["Ana", "ana", "ANA", "de", "Río", "B-7", "."]
    sizes = rng.integers(0, 6, size=4)
    ptr = np.concatenate(([0], np.cumsum(sizes)))
    words = rng.choice(vocabulary, size=ptr[-1]).tolist()
    widest = int(rng.integers(1, 4))
    owner = [(i, a) for i, n in enumerate(sizes) for a in range(n)]
    every = [
        (int(ptr[i]) + a, int(ptr[i]) + a + w)
        for i, a in owner
        for w in range(1, widest + 1)
        if a + w <= sizes[i]
    ]
    chosen = [span for span in every if rng.random() < 0.4]
    families = tuple(f for f in FAMILIES if rng.random() < 0.7)
    gazetteers = [
        Gazetteer.of(["ana de", "río"], name="one"),
        Gazetteer.of(["Río", "ana de ana"], name="two"),
    ][: int(rng.integers(3))]
    spans = np.array(chosen, np.int64).reshape(-1, 2)
    known = SegmentVocabulary.learn(families, gazetteers, words, ptr, spans, widest)
    known.validate()
    names = known.names()
    rows = known.encode(words, ptr, widest)
    assert rows.n == ptr[-1] * widest
    sentence = {int(ptr[i]) + a: (ptr[i], ptr[i + 1]) for i, a in owner}
    asked = families, gazetteers, words
    seen = {f for a, b in chosen for f in plain_features(*asked, a, b, *sentence[a])}
    seen |= {f"gazetteer={g.name}" for g in gazetteers}
    for a, b in every:
        found = [names[f] for f in rows.row(a * widest + b - a - 1)]
        expected = plain_features(*asked, a, b, *sentence[a]) & seen
        assert len(found) == len(set(found)) and set(found) == expected


def seen_features(views, spans, sizes, widest, sentences):
    """Names of the features "seen" of all segments, from counts on some sentences."""
    true, places = Counter(), Counter()
    for i in sentences:
        every = [(a, b) for a in range(sizes[i]) for b in range(a + 1, sizes[i] + 1)]
        for a, b in every:
            if b - a <= widest:
                places.update(views(i, a, b))
        for a, b, label in spans[i]:
            true.update((view, label) for view in views(i, a, b))

    def names(i, a, b):
        out = set()
        for view in views(i, a, b):
            for label in ("LOC", "PER"):
                c = true[view, label]
                if c:
                    lengths = widest if view[0] == "before" else 1
                    rate = c * lengths / places[view]
                    count = "1x" if c < 2 else "2-3x" if c < 4 else "4+x"
                    part = ["<20%", "20-60%", "60-90%", ">=90%"]
                    at = sum(rate >= edge for edge in (0.2, 0.6, 0.9))
                    out.add(f"seen {view[0]}: {label} {count} {part[at]}")
        return out

    return names


@given(seed=seeds)
@settings(max_examples=20)
def test_evidence_is_counted_on_all_data_or_on_other_tenths(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 5, size=int(rng.integers(3, 25))).tolist() + [1, 1]
    X = [rng.choice(["Ana", "ana", "de", "Río"], size=n).tolist() for n in sizes]
    widest, n = int(rng.integers(1, 4)), len(sizes)
    Y = [case.spans(rng, size, widest, ["LOC", "PER"]) for size in sizes]
    Y[-2:] = [[(0, 1, "PER")], [(0, 1, "LOC")]]
    asked = ("length", "phrase", "before", "around", "seen")
    structure = Segments(max_length=widest, segment_features=asked).bind(X, Y)
    structure.validate()
    x = structure.encode(X)
    inner = structure.cross_fitted(x, structure.encode_labels(x, Y))

    def views(i, a, b):
        low = ["_", *(word.lower() for word in X[i]), "_"]
        around = low[a], low[b + 1]
        return [
            ("phrase", *low[a + 1 : b + 1]),
            ("before", low[a]),
            ("around", *around),
        ]

    ends = np.linspace(0, n, 11).astype(int)
    names = structure.piece_names()
    assert len(names) == structure.n_pieces
    of_all = seen_features(views, Y, sizes, widest, range(n))
    for low, high in pairwise(ends):
        others = [i for i in range(n) if not low <= i < high]
        of_others = seen_features(views, Y, sizes, widest, others)
        for i in range(low, high):
            every = [(a, w) for a in range(sizes[i]) for w in range(widest)]
            for a, w in every:
                b, row = a + w + 1, (x.ptr[i] + a) * widest + w
                if b <= sizes[i]:
                    for pieces, expected in (
                        (x.pieces, of_all),
                        (inner.pieces, of_others),
                    ):
                        found = [names[f] for f in pieces.row(row)]
                        assert len(found) == len(set(found))
                        seen = {name for name in found if name.startswith("seen")}
                        assert seen == expected(i, a, b)
                    plain = {
                        f for f in inner.pieces.row(row) if f < structure.evidence.n
                    }
                    assert plain <= set(x.pieces.row(row))


@given(seed=seeds)
@settings(max_examples=15)
def test_factored_planes_are_the_same_planes(seed):
    """Coordinates (token, label) times the tokens' vectors are the weights' coordinates."""
    rng = np.random.default_rng(seed)
    unbound, X, Y = case.tiny(rng)
    structure = unbound.bind(X, Y)
    x = structure.encode(X)
    truth, ids = structure.encode_labels(x, Y), rng.permutation(x.n)
    w = rng.normal(size=structure.dim)
    parts = structure.outer_coordinates(x)
    n, k, width = parts.vectors.n, parts.k, structure.layout.width

    def weights(rows):
        flat = rows.csr(n * k + structure.dim - width * k).toarray()
        inputs = flat[:, : n * k].reshape(-1, n, k)
        made = np.einsum("qtk,tf->qfk", inputs, x.vectors.csr().toarray())
        made = made if x.vectors.sparse else made.transpose(0, 2, 1)
        return np.hstack([made.reshape(len(flat), -1), flat[:, n * k :]])

    rows = structure.outer_features(x, ids, truth.take(ids))
    plain = structure.features(x, ids, truth.take(ids))
    np.testing.assert_allclose(weights(rows), plain.csr(structure.dim).toarray())
    for loss in case.LOSSES:
        augment = Augment(truth, loss.bind(structure.label_count()), np.ones(x.n))
        a = structure.cuts(x, ids, w, augment)
        b = structure.outer_cuts(x, ids, w, augment)
        np.testing.assert_allclose(a.bound, b.bound)
        dense = a.dpsi.csr(structure.dim).toarray()
        np.testing.assert_allclose(weights(b.dpsi), dense, atol=1e-12)


@given(seed=seeds)
@settings(max_examples=15)
def test_max_marginals_are_the_best_outputs_with_a_code(seed):
    rng = np.random.default_rng(seed)
    unbound, X, Y = case.tiny(rng)
    structure = unbound.bind(X, Y)
    x = structure.encode(X)
    w = rng.normal(size=structure.dim)
    found = structure.max_marginals(x, np.arange(x.n), w)
    assert found.shape == (x.ptr[-1], structure.label_count())
    for i in range(x.n):
        rows = Ragged.pack(case.outputs(structure, x, i))
        score = structure.features(x, np.full(rows.n, i), rows).dot(w)
        table = rows.data.reshape(rows.n, -1)
        for t in range(table.shape[1]):
            for code in range(found.shape[1]):
                best = score[table[:, t] == code].max(initial=-np.inf)
                assert np.isclose(found[x.ptr[i] + t, code], best)


@given(seed=seeds)
@settings(max_examples=10)
def test_forbidden_neighbours_never_occur(seed):
    rng = np.random.default_rng(seed)
    X = [["a", "b", "c"], ["b", "a"]]
    Y = [[(0, 1, "P"), (2, 3, "Q")], [(1, 2, "Q")]]
    structure = Segments(max_length=2, forbidden={("P", "Q"), ("Q", "Q")}).bind(X, Y)
    x = structure.encode(X)
    w = 3.0 * rng.normal(size=structure.dim)
    rows = Ragged.pack(case.outputs(structure, x, 0))
    best = structure.features(x, np.zeros(rows.n, np.int64), rows).dot(w).max()
    found = structure.argmax(x, np.arange(2), w)
    assert np.isclose(found.score[0], best)
    for spans in structure.spans(structure.nbest(x, np.arange(2), w, 50).labels):
        for (_, end, a), (first, _, b) in pairwise(spans):
            assert first > end or (a, b) not in structure.forbidden


def test_true_neighbours_that_are_forbidden_are_named():
    with pytest.raises(ValueError, match="sequence 1, token 1: 'Q' follows 'P'"):
        Segments(forbidden={("P", "Q")}).bind(
            [["a"], ["a", "b"]], [[(0, 1, "P")], [(0, 1, "P"), (1, 2, "Q")]]
        )
    with pytest.raises(ValueError, match=r"\('P', 'R'\) is not a pair of known labels"):
        Segments(forbidden={("P", "R")}).bind([["a"]], [[(0, 1, "P")]])


def test_long_spans_are_refused_or_split():
    X, Y = [["a"], list("abcde")], [[(0, 1, "P")], [(0, 5, "P")]]
    message = "sequence 1, token 0: the span .* has 5 tokens, more than max_length=2"
    with pytest.raises(ValueError, match=message):
        Segments(max_length=2).bind(X, Y)
    structure = Segments(max_length=2, longer="split").bind(X, Y)
    x = structure.encode(X)
    rows = structure.encode_labels(x, Y)
    assert structure.spans(rows)[1] == [(0, 2, "P"), (2, 4, "P"), (4, 5, "P")]


@pytest.mark.parametrize("scheme, labels", [
    ("bio", ["B-P", "I-P", "B-P", "O", "B-Q"]),
    ("iob1", ["I-P", "I-P", "B-P", "O", "I-Q"]),
    ("bioes", ["B-P", "E-P", "S-P", "O", "S-Q"]),
    ("bilou", ["B-P", "L-P", "U-P", "O", "U-Q"]),
    (None, [(0, 2, "P"), (2, 3, "P"), (4, 5, "Q")]),
])  # fmt: skip
def test_outputs_come_back_as_they_were_written(scheme, labels):
    X = [list("abcde")]
    structure = Segments().bind(X, [labels])
    x = structure.encode(X)
    rows = structure.encode_labels(x, [labels])
    assert structure.scheme == scheme
    assert structure.decode_labels(x, rows) == [labels]
    assert structure.spans(rows) == [[(0, 2, "P"), (2, 3, "P"), (4, 5, "Q")]]


BAD = [
    ([["I-P", "O"], ["B-P", "O"]], r"mixed: 'I-P' \(sequence 0, token 0\)"),
    ([["B-P", "E-P"], ["S-P", "U-P"]], "labels of BIOES and BILOU are mixed"),
    ([["S-P", "O"], ["B-P", "O"]], "sequence 1, token 0: 'B-P' does not fit BIOES"),
    ([["NN", "VB"], ["NN", "O"]], "the labels do not mark spans: 'NN'"),
    ([["B-P", None], ["O", "O"]], "sequence 0, token 1: the label is None"),
    ([["B-P"], ["O", "O"]], "sequence 0 has 2 tokens but 1 labels"),
    ([[(0, 2, "P")], ["O", "O"]], "sequence 0 holds spans but sequence 1 holds labels"),
    ([[(0, 2, "P")], [(0, 2, "P"), (1, 2, "Q")]], "sequence 1: spans .* overlap"),
    ([[(0, 3, "P")], []], r"sequence 0: span \(0, 3, 'P'\) does not lie in its 2"),
    ([[(1, 1, "P")], []], "does not lie in its 2 tokens"),
    ([[(0, "P")], []], "sequence 0: .* is not a span"),
    ([[(0.0, 1, "P")], []], "sequence 0: .* is not a span"),
    ([[(0, 1, "O")], []], "has no label"),
    (["OO", "OO"], "sequence 0: the output is a str"),
    ([["O", "O"]], "2 sequences of tokens but 1 of outputs"),
    ([["O", "O"], ["O", "O"]], "there are no spans in y"),
]


@pytest.mark.parametrize("y, message", BAD, ids=lambda v: str(v)[:30])
def test_outputs_that_are_wrong_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        Segments().bind([["a", "b"], ["c", "d"]], y)


SETTINGS = [
    ({"max_length": 0}, "max_length=0"),
    ({"max_length": 2.5}, "max_length=2.5"),
    ({"roles": "iob"}, "roles='iob'"),
    ({"longer": "cut"}, "longer='cut'"),
    ({"window": -1}, "window=-1"),
    ({"segment_features": ("size",)}, "segment_features: 'size' is not known"),
    ({"gazetteers": (Gazetteer.of(["A"], lower=False),)}, "sensitive to case"),
    ({"templates": Templates([Column()], [Column()])}, "leave the bigrams out"),
    ({"templates": Templates([Column()]), "window": 1}, "leave window at 0"),
]


@pytest.mark.parametrize("options, message", SETTINGS, ids=lambda v: str(v)[:30])
def test_settings_that_are_wrong_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        Segments(**options).bind([["a"]], [[(0, 1, "P")]])


def test_words_are_found_where_they_are_said_to_be():
    Y = [[(0, 2, "P")]]
    inputs = [
        ([[{"w": "Ana"}, {"w": "Ruiz"}]], "w"),
        ([[["x", "w=Ana"], ["w=Ruiz"]]], "w="),
        ([["Ana", "Ruiz"]], None),
    ]
    for X, words in inputs:
        structure = Segments(words=words).bind(X, Y)
        assert "phrase=ana ruiz" in structure.vocabulary.names()
    templates = Templates([Column("tag")], columns=["tag", "word"])
    X = [[("NP", "Ana"), ("NP", "Ruiz")]]
    structure = Segments(templates=templates, words="word").bind(X, Y)
    assert "phrase=ana ruiz" in structure.vocabulary.names()
    assert Segments().bind([[{"w": "Ana"}, {"w": "Ruiz"}]], Y).vocabulary.names() == [
        "length=2"
    ]


def test_words_that_are_missing_are_named():
    Y = [[(0, 2, "P")]]
    with pytest.raises(
        ValueError, match="sequence 0, token 1: the word, feature 'w', is"
    ):
        Segments(words="w").bind([[{"w": "Ana"}, {"v": "Ruiz"}]], Y)
    with pytest.raises(ValueError, match="sequence 0, token 1: no feature begins with"):
        Segments(words="w=").bind([[["w=Ana"], ["x"]]], Y)
    with pytest.raises(ValueError, match="tokens are rows of numbers"):
        Segments(words="w").bind([np.eye(2)], Y)
    with pytest.raises(ValueError, match="gazetteers need the words"):
        Segments(gazetteers=(case.NAMES,)).bind([np.eye(2)], Y)
    with pytest.raises(ValueError, match="'w' is not a column of the templates"):
        templates = Templates([Column("word")], columns=["word"])
        Segments(words="w", templates=templates).bind([["a", "b"]], Y)


def test_a_scheme_that_is_told_forgives_slips():
    X, y = [["a", "b", "c"], ["a", "b"]], [["O", "I-P", "I-P"], ["B-P", "O"]]
    with pytest.raises(ValueError, match=r"mixed.*or give scheme='bio'"):
        Segments().bind(X, y)
    structure = Segments(told_scheme="bioes").bind(X, y)
    rows = structure.encode_labels(structure.encode(X), y)
    assert structure.spans(rows) == [[(1, 3, "P")], [(0, 1, "P")]]
    assert structure.decode_labels(None, rows) == [["O", "B-P", "E-P"], ["S-P", "O"]]
    with pytest.raises(ValueError, match="scheme='iob' is not one of 'bio'"):
        Segments(told_scheme="iob").bind(X, y)


def test_spans_of_sentences_without_any():
    assert given_spans([[], []], np.array([0, 2, 2])).rows == [[], []]
    assert given_spans([["O", "O"], []], np.array([0, 2, 2])) == ([[], []], "bio")
