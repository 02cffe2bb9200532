"""Alignment structure: views, weights, losses, messages."""

import numpy as np
import pytest
from cases.alignment import paths

from maxmargin.core import Ragged
from maxmargin.inference.alignment import DELETE, INSERT, MATCH, MODES
from maxmargin.io.biology import Substitution
from maxmargin.losses import AlignedPairs
from maxmargin.structures.alignment import (
    Alignment,
    Gaps,
    Homology,
    View,
    anova2,
    collapse,
    fill_tables,
    matrix,
    simple,
    structural_gaps,
    tensor,
    window,
)
from maxmargin.structures.alignment.paths import decode_paths

TRACKS = ["residue", "ss"]


def proteins(rng, n=6):
    """Pairs with residues and secondary structure, and their diagonal alignments."""
    X, Y = [], []
    for _ in range(n):
        m = int(rng.integers(5, 30))
        s, t = (
            {
                "residue": "".join(rng.choice(list("ACDE"), m)),
                "ss": "".join(rng.choice(list("HEC"), m)),
            }
            for _ in range(2)
        )
        X.append((s, t))
        Y.append(np.stack([np.arange(m), np.arange(m)], axis=1))
    return X, Y


def test_sizes_and_names_of_the_plain_model():
    pair = [("ACDE", "EDCA")]
    plain = Alignment(model=simple(["residue"]), gaps=Gaps(affine=False, tied=True))
    bound = plain.bind(pair, [])
    assert bound.dim == 4 * 4 + 1
    names = bound.feature_names()
    assert names[1] == "residue=A|residue=C"
    assert names[-1] == "gap open any=*"
    assert Alignment(model=simple(["residue"])).bind(pair, []).dim == 16 + 4
    both = Alignment(model=simple(["residue"]), symmetric=True).bind(pair, [])
    assert both.dim == 10 + 2  # gaps cost the same in both sequences
    assert len(both.feature_names()) == both.dim


def test_sizes_of_crossed_views():
    X, Y = proteins(np.random.default_rng(0), 40)
    dims = {
        name: Alignment(model=model).bind(X, Y).dim - 4
        for name, model in (
            ("simple", simple(TRACKS)), ("anova2", anova2(TRACKS)), ("tensor", tensor(TRACKS)),
        )
    }  # fmt: skip
    assert dims == {"simple": (4 + 3) ** 2, "anova2": 13**2, "tensor": 13**2}


@pytest.mark.parametrize(
    "model", [simple(TRACKS) + tensor(TRACKS), simple(TRACKS) + window({"ss": 1})]
)
def test_tabulated_letters_give_the_same_bits(model):
    rng = np.random.default_rng(1)
    X, Y = proteins(rng)
    structure = Alignment(model=model).bind(X, Y)
    x = structure.encode(X)
    full = structure.layout.full(rng.normal(size=structure.dim))
    rows, cols = x.sizes
    lo, hi = np.zeros(rows.sum(), np.int64), np.repeat(cols, rows)
    start = np.concatenate([[0], np.cumsum(hi)])
    sides = (x.s, x.t)
    plain = fill_tables(x.left, x.right, lo, hi, start, sides, structure.layout, full)
    short = fill_tables(
        x.left, x.right, lo, hi, start, *collapse(sides, structure.layout, full)
    )
    assert (plain.match == short.match).all()


def test_a_symbol_never_seen_scores_nothing():
    structure = Alignment(model=tensor(TRACKS), gaps=Gaps(affine=False, tied=True))
    seen = ({"residue": "AC", "ss": "HE"}, {"residue": "AC", "ss": "HE"})
    bound = structure.bind([seen], [])
    new = ({"residue": "AC", "ss": "EH"}, {"residue": "AC", "ss": "EH"})
    x = bound.encode([new])
    names = np.array(bound.feature_names())
    rows = bound.features(x, np.array([0]), Ragged.pack([[0, 0, 0, 0]]))
    assert [str(v) for v in names[rows.idx]] == ["residue+ss=?|residue+ss=?"]
    assert rows.val.tolist() == [2.0]


def test_a_known_matrix_has_one_weight():
    table = Substitution(("A", "C"), np.array([[4.0, -1.0], [-1.0, 9.0]]))
    bound = Alignment(model=matrix(table), gaps=Gaps(affine=False, tied=True)).bind(
        [("AC", "CA")], []
    )
    assert bound.feature_names() == ["matrix(residue)", "gap open any=*"]
    x = bound.encode([("AC", "AC")])
    found = bound.argmax(x, np.array([0]), np.array([1.0, -5.0]))
    assert found.score.tolist() == [13.0]
    letters, scores = bound.substitution(np.array([2.0, 0.0]), "residue")
    assert (letters, scores.tolist()) == (("A", "C"), [[8.0, -2.0], [-2.0, 18.0]])
    with pytest.raises(ValueError, match="no row for 'D'"):
        Alignment(model=matrix(table)).bind([("AD", "AC")], [])


def test_gap_features_see_the_slot():
    gaps = structural_gaps("residue", ["ss"])
    pair = ({"residue": "AC", "ss": "HE"}, {"residue": "ADC", "ss": "HCE"})
    bound = Alignment(model=simple(["residue"]), gaps=gaps).bind([pair], [])
    x = bound.encode([pair])
    rows = bound.features(x, np.array([0]), Ragged.pack([[0, 0, 0, 2, 0]]))
    names = np.array(bound.feature_names())[rows.idx]
    assert {n for n in names if n.startswith("insert")} == {
        "insert open residue=D", "insert open ss=C", "insert around ss=H,E",
    }  # fmt: skip


def test_losses_of_the_figures():
    reference = Ragged.pack([[0, 0, 2, 0, 0, 0, 1]])  # -AECD / EACC-
    other = Ragged.pack([[0, 0, 0, 2, 0, 0, 1]])  # A-ECD / EACC-
    assert AlignedPairs().value(reference, other) == pytest.approx(1 / 3)
    swapped = [
        Ragged.pack([[0, 0, 1, 0, 0, 0, 2]]),
        Ragged.pack([[0, 0, 0, 1, 0, 0, 2]]),
    ]
    assert AlignedPairs(4).value(*swapped) == pytest.approx(0)


BAD = [
    (("", "AC"), None, "pair 0, first sequence: the sequence is empty"),
    (("AC", "A"), (("AC", "A-C")), "rows of the alignment have 2 and 3 columns"),
    (
        ("AC", "AC"),
        [[0, 0], [0, 1]],
        "pair 0, column 1: position 0 of the first sequence",
    ),
    (("ACD", "ACD"), [[0, 0], [2, 1], [-1, 2]], "skips positions"),
    (("AC", "AC"), [[0, 0]], "1 of the 2 positions of the first sequence"),
    (
        ("AC", "AC"),
        [[0, 0], [1, 1], [2, -1]],
        "position 2 is beyond the first sequence",
    ),
    (("AC", "AC"), [[0, -1], [1, -1], [-1, 0], [-1, 1]], "matches no positions"),
    (("AC", "AC"), [[0, 0], [-1, -1], [1, 1]], "column 1: a gap stands against a gap"),
    (("AC", "AC"), [[0.5, 1.0]], "an array \\(columns, 2\\) of positions"),
    (("AC",), None, "pair 0: two sequences are needed"),
]


@pytest.mark.parametrize(("pair", "written", "message"), BAD)
def test_bad_input_is_named(pair, written, message):
    with pytest.raises(ValueError, match=message):
        bound = Alignment().bind([pair], [written])
        bound.encode_labels(bound.encode([pair]), [written])


def test_bad_alignments_name_the_records():
    pair = {"name": "1abc", "residue": "ACD"}, {"name": "2xyz", "residue": "ACD"}
    bound = Alignment().bind([pair], [])
    x = bound.encode([("ACD", "ACD"), pair])
    with pytest.raises(ValueError, match=r"pair 1 \(1abc, 2xyz\), column 1: .* skips"):
        bound.encode_labels(x, [("ACD", "ACD"), [[0, 0], [2, 1], [-1, 2]]])


def test_bad_records_are_named():
    good = {"name": "1abc", "residue": "ACD", "ss": "HHE"}
    bound = Alignment().bind([(good, good)], [])
    for track, value, message in (
        (
            "residue",
            "AXD",
            r"second sequence \(2xyz\), position 1: 'X' is not a letter",
        ),
        ("ss", "HH", r"\(2xyz\): track 'ss' has 2 positions, 'residue' has 3"),
    ):
        with pytest.raises(ValueError, match=message):
            bound.encode([(good, {**good, "name": "2xyz", track: value})])
    with pytest.raises(ValueError, match="track 'ss' is missing"):
        bound.encode([(good, {"residue": "ACD"})])
    with pytest.raises(ValueError, match="possible symbols: use bins"):
        Alignment(model=window({"residue": 40})).bind([(good, good)], [])
    with pytest.raises(ValueError, match="mode='lokal' is not one of"):
        Alignment(mode="lokal").bind([(good, good)], [])
    narrow = Alignment(band=0).bind([("AAAA", "AAAA")], [])
    with pytest.raises(ValueError, match="leaves the band of width 0"):
        narrow.encode_labels(narrow.encode([("AAAA", "AAAA")]), [("AAAA--", "--AAAA")])


def test_ends_of_local_and_semiglobal_alignments():
    pair = [("AACD", "CDEE")]
    written = [("AACD--", "--CDEE")]
    for mode, row, columns in (
        ("global", [0, 0, 1, 1, 0, 0, 2, 2], 6),
        ("semiglobal", [2, 0, 0, 0], 6),
        ("local", [2, 0, 0, 0], 2),
    ):
        bound = Alignment(mode=mode).bind(pair, written)
        x = bound.encode(pair)
        labels = bound.encode_labels(x, written)
        assert labels.row(0).tolist() == row
        assert len(bound.decode_labels(x, labels)[0]) == columns


def test_sequences_are_stored_once():
    X = [("ACCA", "CA"), ("ACCA", "AC"), ("AAA", "CA")]
    x = Alignment().bind(X, []).encode(X)
    assert len(x.s.ptr) - 1 == len(x.t.ptr) - 1 == 2
    assert x.left.tolist() == [0, 0, 1]


def test_bad_searches_are_named():
    bound = Homology().bind([("AC", ["A", "C"])], [])
    with pytest.raises(ValueError, match="example 0: there are no candidates"):
        bound.encode([("AC", [])])
    with pytest.raises(ValueError, match="example 0: alignment of candidate 2"):
        bound.encode([("AC", ["A"], {2: [[0, 0]]})])
    x = bound.encode([("AC", ["A", "C"], {0: [[0, 0]]})])
    with pytest.raises(ValueError, match="candidate 5 is not one of 2"):
        bound.encode_labels(x, [5])
    with pytest.raises(ValueError, match="alignment of candidate 1 must be part"):
        bound.encode_labels(x, [1])
    with pytest.raises(ValueError, match="differs from the one in the input"):
        bound.encode_labels(x, [(0, [[1, 0]])])


def test_views_without_tracks_are_one_symbol():
    assert View().name == "any"
    bound = Alignment().bind([("AC", "CA")], [])
    assert bound.symbols.size(View()) == 1


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_columns_of_every_path(mode):
    """Decoded in one loop, against a walk along each path."""
    sizes = [(1, 1), (2, 3), (3, 2)]
    every = [(m, n, path) for m, n in sizes for path in paths(m, n, mode)]
    rows, cols = (np.array(k) for k in list(zip(*every, strict=True))[:2])
    found = decode_paths(Ragged.pack([p for *_, p in every]), rows, cols, MODES[mode])
    for (m, n, path), columns in zip(every, found, strict=True):
        i, j = path[:2]
        steps = [(i, j)]
        for move in path[2:]:
            steps.append((i + (move != INSERT), j + (move != DELETE)))
            if move == MATCH:
                steps[-1] = (i, j, "match")
            i, j = i + (move != INSERT), j + (move != DELETE)
        matched = [step[:2] for step in steps if len(step) == 3]
        assert columns[(columns >= 0).all(axis=1)].tolist() == list(map(list, matched))
        for side, size in ((0, m), (1, n)):
            own = columns[columns[:, side] >= 0, side].tolist()
            whole = list(range(size))
            if mode == "local":
                whole = whole[own[0] : own[-1] + 1] if matched else []
            assert own == whole
        gaps = (columns[:, 0] < 0).astype(int) - (columns[:, 1] < 0)
        assert not ((gaps[:-1] == 1) & (gaps[1:] == -1)).any()  # deletes come first
