"""Records, alignments and aligners of Biopython."""

import io

import numpy as np
import pytest

from maxmargin import AlignmentSVM, MotifSVM
from maxmargin.io.biology import (
    Scoring,
    from_biopython,
    pairs_from_biopython,
    rows_of_columns,
    start_weights,
    to_biopython,
)

Bio = pytest.importorskip("Bio")
from Bio.Align import Alignment, MultipleSeqAlignment, PairwiseAligner  # noqa: E402
from Bio.Seq import Seq  # noqa: E402
from Bio.SeqRecord import SeqRecord  # noqa: E402

LETTERS = "ACDEF"


def pairs(n=12, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        first = rng.choice(list(LETTERS), 12)
        second = np.where(rng.random(12) < 0.2, rng.choice(list(LETTERS), 12), first)
        a, b = list(first), list(second)
        a[3:5], b[8:9] = "--", "-"
        X.append(("".join(a).replace("-", ""), "".join(b).replace("-", "")))
        y.append(("".join(a), "".join(b)))
    return X, y


def records(X):
    return [
        tuple(SeqRecord(Seq(s), id=f"s{k}") for s in pair) for k, pair in enumerate(X)
    ]


def test_records_train_and_predict_as_strings_do():
    X, y = pairs()
    plain, made = AlignmentSVM().fit(X, y), AlignmentSVM().fit(records(X), y)
    np.testing.assert_array_equal(plain.coef_, made.coef_)
    for a, b in zip(plain.predict(X), made.predict(records(X)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert plain.score(X, y) == made.score(records(X), y)
    seqs = [tuple(map(Seq, pair)) for pair in X]
    np.testing.assert_array_equal(
        plain.alignment_scores(X), made.alignment_scores(seqs)
    )


def test_letter_annotations_are_tracks():
    record = SeqRecord(Seq("ACD"), id="r")
    record.letter_annotations["ss"] = "HHE"
    record.letter_annotations["area"] = [0.1, 0.2, 0.3]
    assert from_biopython(record) == {
        "name": "r", "residue": "ACD", "ss": "HHE", "area": [0.1, 0.2, 0.3],
    }  # fmt: skip


def test_alignments_come_in_and_go_out():
    X, _ = pairs(4)
    aligner = PairwiseAligner(mode="global", open_gap_score=-2, extend_gap_score=-1)
    for first, second in X:
        found = aligner.align(first, second)[0]
        made = pairs_from_biopython([found])
        assert [(first, second)] == made.X
        rows = rows_of_columns(made.y[0], first, second)
        assert rows == (str(found[0]), str(found[1]))
        again = to_biopython((first, second), made.y[0])
        np.testing.assert_array_equal(again.coordinates, found.coordinates)
    model = AlignmentSVM().fit(*pairs_from_biopython(
        [aligner.align(*pair)[0] for pair in X])[:2])  # fmt: skip
    shown = to_biopython(X[0], model.predict(X[:1])[0])
    assert isinstance(shown, Alignment) and str(shown.sequences[0]) == X[0][0]


def test_a_local_alignment_keeps_its_positions():
    columns = np.array([[2, 1], [3, -1], [4, 2]], np.int32)
    made = to_biopython(("ACDEFA", "CDFF"), columns)
    np.testing.assert_array_equal(pairs_from_biopython([made]).y[0], columns)


def test_rows_of_an_alignment_of_many_make_all_pairs():
    rows = [SeqRecord(Seq(s), id=s) for s in ("AC-D", "A-CD", "ACCD")]
    made = pairs_from_biopython([MultipleSeqAlignment(rows)])
    assert made.X == [("ACD", "ACD"), ("ACD", "ACCD"), ("ACD", "ACCD")]
    assert made.names[0] == ("AC-D", "A-CD")
    assert made.y[0].tolist() == [[0, 0], [1, -1], [-1, 1], [2, 2]]


def test_what_is_wrong_with_an_alignment():
    with pytest.raises(ValueError, match="alignment 0 has 1 rows"):
        pairs_from_biopython([MultipleSeqAlignment([SeqRecord(Seq("AC"))])])
    reverse = Alignment(["AC", "GT"], np.array([[0, 2], [2, 0]]))
    with pytest.raises(ValueError, match="reverse strand"):
        pairs_from_biopython([reverse])


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_exported_scoring_agrees_with_biopython(mode, symmetric):
    X, y = pairs()
    model = AlignmentSVM(C=100.0, mode=mode, symmetric=symmetric).fit(X, y)
    for k, name in enumerate(model.structure_.feature_names()):
        if (
            "any=*" in name
        ):  # gaps must cost something: Biopython takes that for granted
            model.coef_[k] = -0.1 - abs(model.coef_[k])
    aligner = model.scoring().aligner()
    total = np.array([len(a) + len(b) for a, b in X])
    ours = model.alignment_scores(X) * total
    theirs = [aligner.score(*pair) for pair in X]
    np.testing.assert_allclose(theirs, ours, atol=1e-9)


def test_whole_numbers():
    scoring = Scoring(("A", "C"), np.array([[1.0, -0.5], [-0.5, 2.0]]), (-1.2, -0.2),
                      (-1.0, -0.1))  # fmt: skip
    whole = scoring.integers(10)
    assert whole.matrix.tolist() == [[5.0, -2.0], [-2.0, 10.0]]
    assert whole.deletion == (-6.0, -1.0) and whole.scale == 5.0


def test_a_model_that_is_no_matrix_says_so():
    X, y = pairs(4)
    with pytest.raises(ValueError, match="depend on letters"):
        AlignmentSVM(gaps="structural").fit(X, y).scoring()
    tracks = [tuple({"residue": s, "ss": s} for s in pair) for pair in X]
    with pytest.raises(ValueError, match="one track"):
        AlignmentSVM().fit(tracks, y).scoring()


def test_alignments_train_without_y():
    rows = [SeqRecord(Seq(s), id=s) for s in ("ACCD", "A-CD", "ACED")]
    many = MultipleSeqAlignment(rows)
    X, y, _ = pairs_from_biopython(many)
    plain = AlignmentSVM().fit(X, y)
    for given in ([many], many):
        np.testing.assert_array_equal(AlignmentSVM().fit(given).coef_, plain.coef_)
    with pytest.raises(ValueError, match="y is missing"):
        AlignmentSVM().fit(X)
    with pytest.raises(ValueError, match="alignment 0 is a str"):
        pairs_from_biopython(["AC"])


def test_alignments_as_outputs_keep_their_positions():
    first, second = "KKHEAG", "HEAGKK"
    local = Alignment([first, second], np.array([[2, 6], [0, 4]]))
    columns = [[2, 0], [3, 1], [4, 2], [5, 3]]
    made = [
        AlignmentSVM(mode="local").fit([(first, second)], [y]).coef_
        for y in (local, columns)
    ]
    np.testing.assert_array_equal(*made)
    rows = MultipleSeqAlignment([SeqRecord(Seq(s)) for s in ("HEAG", "H-AG")])
    pair = [("HEAG", "HAG")]
    np.testing.assert_array_equal(
        AlignmentSVM().fit(pair, [rows]).coef_,
        AlignmentSVM().fit(pair, [("HEAG", "H-AG")]).coef_,
    )
    with pytest.raises(ValueError, match=r"pair 0: the second row .* position 1"):
        AlignmentSVM().fit([("HEAG", "HCG")], [rows])
    three = MultipleSeqAlignment([SeqRecord(Seq(s)) for s in ("AC", "AC", "AC")])
    with pytest.raises(ValueError, match="pair 0: the alignment has 3 rows"):
        AlignmentSVM().fit([("AC", "AC")], [three])


def test_motifs_of_records():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    y = [1, 1, 1, 0, 0, 0]
    model = MotifSVM(length=4, order=0, C=1.0)
    plain = model.fit(X, y).coef_.copy()
    for wrap in (Seq, lambda s: SeqRecord(Seq(s), id="s")):
        made = [wrap(x) for x in X]
        np.testing.assert_array_equal(model.fit(made, y).coef_, plain)
        assert model.locate(made)["start"].tolist()[:3] == [2, 1, 3]
        assert len(model.sites(made[:1], p_value=0.01)) == 1
        assert len(model.fit_several(made, y, n=2)) == 2
        assert model.predict(made).tolist() == y


def test_a_motif_of_biopython_to_start_from():
    from Bio import motifs

    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    known = motifs.create([Seq("TATA"), Seq("TATA"), Seq("TATT")])
    init = start_weights(known, order=0)
    model = MotifSVM(length=4, order=0, C=1.0, init=init).fit(X, [1, 1, 1, 0, 0, 0])
    again = motifs.parse(io.StringIO(model.to_meme()), "minimal")[0]
    assert str(again.consensus) == model.consensus() == "TATA"


def test_sequences_of_bytes_are_letters():
    from maxmargin import AlignmentSVM, MotifSVM

    X, y = [("HEAGAW", "EAAW")], [("HEAGAW", "-EA-AW")]
    model = AlignmentSVM(C=10.0).fit(X, y)
    raw = [tuple(s.encode() for s in X[0])]
    assert model.predict(raw)[0].tolist() == model.predict(X)[0].tolist()
    dna = ["ccTATAgc", "gTATAccg", "gcgcgccg", "ccggcgcc"]
    motif = MotifSVM(length=4, order=0, C=1.0).fit(dna, [1, 1, 0, 0])
    assert motif.locate([dna[0].encode()])[0] == motif.locate(dna[:1])[0]
