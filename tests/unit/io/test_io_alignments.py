"""Sequences, alignments and matrices survive a trip to disk; mistakes are named."""

import numpy as np
import pytest

from maxmargin.datasets import (
    BLOSUM62,
    Family,
    family_pairs,
    make_homologs,
    read_homstrad,
)
from maxmargin.io.biology import (
    Aligned,
    Substitution,
    columns_of_pairs,
    parse_alignment,
    parse_fasta,
    parse_substitution,
    read_alignment,
    read_fasta,
    read_substitution,
    read_tracks,
    rows_of_columns,
    whole_numbers,
    write_alignment,
    write_fasta,
    write_substitution,
)

ROWS = {"1abc": "AC-DE" * 30, "2xyz": "A-CDF" * 30}
TRACKS = {"1abc": {"ss": "HH-EE" * 30}, "2xyz": {"ss": "H-HEE" * 30}}


def test_fasta_round_trip(tmp_path):
    records = {"a": "ACDE" * 40, "b": "C"}
    write_fasta(records, tmp_path / "x.fasta")
    assert read_fasta(tmp_path / "x.fasta") == records


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ACD", "line 1: letters before the first name"),
        (">a\nAC\n>a\nCA", "line 3: 'a' occurs twice"),
        (">\nAC", "line 1: a record has no name"),
        (">a\n>b\nAC", "record 'a' is empty"),
    ],
)
def test_fasta_mistakes_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse_fasta(text.splitlines())


def test_tracks_come_from_several_files(tmp_path):
    files = {"residue": {"a": "ACD", "b": "CC"}, "ss": {"a": "HHE", "b": "EE"}}
    paths = {track: tmp_path / track for track in files}
    for track, records in files.items():
        write_fasta(records, paths[track])
    assert read_tracks(paths)[0] == {"name": "a", "residue": "ACD", "ss": "HHE"}
    write_fasta({"a": "HH", "b": "EE"}, paths["ss"])
    with pytest.raises(
        ValueError, match="a: track 'ss' has 2 positions, 'residue' has 3"
    ):
        read_tracks(paths)
    write_fasta({"a": "HHH"}, paths["ss"])
    with pytest.raises(ValueError, match="record 'b' is missing"):
        read_tracks(paths)


@pytest.mark.parametrize("layout", ["fasta", "clustal", "stockholm", "pir"])
def test_alignments_round_trip(tmp_path, layout):
    path = tmp_path / layout
    write_alignment(Aligned(ROWS, TRACKS), path, layout)
    back = read_alignment(path)
    assert back.rows == ROWS
    assert back.tracks == (TRACKS if layout in ("stockholm", "pir") else {})
    (s, t), columns = back.pair("1abc", "2xyz")
    assert s["residue"] == ROWS["1abc"].replace("-", "")
    assert rows_of_columns(columns, s["residue"], t["residue"]) == tuple(ROWS.values())
    if layout == "pir":
        assert s["ss"] == TRACKS["1abc"]["ss"].replace("-", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "neither FASTA, Clustal, Stockholm nor PIR"),
        (">a\nAC-\n>b\nAC", "'b' has 2 columns, 'a' has 3"),
        (">a\n---", "'a' has no letters"),
        (">P1;a\nsequence\nAC-", "entry 'a' does not end with"),
        ("# STOCKHOLM 1.0\na AC D", "line 2: a name and a row expected"),
        ("# STOCKHOLM 1.0\na ACD\n#=GR a ss HH", "track 'ss' of 'a' has 2 columns"),
    ],
)
def test_alignment_mistakes_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse_alignment(text.splitlines())


def test_columns_from_matches():
    assert columns_of_pairs([], 1, 1).tolist() == [[0, -1], [-1, 0]]
    with pytest.raises(ValueError, match="out of order"):
        columns_of_pairs([[1, 1], [0, 2]], 3, 3)


def test_matrices_round_trip_and_are_read_by_others(tmp_path):
    table = parse_substitution(BLOSUM62.splitlines())
    assert table.scores[table.letters.index("W"), table.letters.index("W")] == 11
    assert (table.scores == table.scores.T).all()
    path = tmp_path / "matrix.txt"
    write_substitution(table, path, ["a comment"])
    back = read_substitution(path)
    assert back.letters == table.letters
    assert (back.scores == table.scores).all()
    some = table.restrict("WC")
    assert some.scores.tolist() == [[11, -2], [-2, 9]]
    with pytest.raises(ValueError, match="no letter 'j'"):
        table.restrict("j")
    real = Substitution(("A", "C"), np.array([[0.25, -1.5], [-1.5, 2.0]]))
    write_substitution(real, path)
    assert (read_substitution(path).scores == real.scores).all()
    assert whole_numbers(real.scores, 8).tolist() == [[1, -6], [-6, 8]]


def test_biopython_and_parasail_read_our_matrices(tmp_path):
    matrices = pytest.importorskip(
        "Bio.Align.substitution_matrices", reason="Biopython is not installed"
    )
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    table = parse_substitution(BLOSUM62.splitlines())
    write_substitution(table, tmp_path / "m.txt", ["learned"])
    assert matrices.read(str(tmp_path / "m.txt"))["W", "C"] == -2
    known = parasail.Matrix(str(tmp_path / "m.txt"))
    a, b = "HEAGAWGHEE", "PAWHEAE"
    assert (
        parasail.sw(a, b, 11, 1, known).score
        == parasail.sw(a, b, 11, 1, parasail.blosum62).score
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A C\nA 1 2\nC 1", "line 3: 1 scores for 2 letters"),
        ("A C\nC 1 2", "line 2: row 'C' is not expected"),
        ("A\nA x", "line 2: a score is not a number"),
        ("# nothing", "0 rows for 0 letters"),
    ],
)
def test_matrix_mistakes_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse_substitution(text.splitlines())


def test_homstrad_layout(tmp_path):
    path = tmp_path / "h.txt"
    path.write_text(
        "#family f\tall alpha\t2\t3\na\tseq\tAC-\na\tss\tHH-\nb\tseq\tACD\nb\tss\tHEE\n"
    )
    (family,) = read_homstrad(path)
    assert family == Family("f", "all alpha", {
        "a": {"seq": "AC-", "ss": "HH-"}, "b": {"seq": "ACD", "ss": "HEE"},
    })  # fmt: skip
    X, Y = family_pairs(family, ["seq", "ss"])
    assert X[0][1] == {"name": "b", "residue": "ACD", "ss": "HEE"}
    assert Y[0].tolist() == [[0, 0], [1, 1], [-1, 2]]
    path.write_text("#family f\tall alpha\t2\t3\na\tseq\tAC\n")
    with pytest.raises(ValueError, match="line 2: a has 2 columns, its family has 3"):
        read_homstrad(path)


def test_homologs_are_as_described():
    X, y = make_homologs(50, seed=3)
    kinds = np.zeros(4)
    for (native, candidates), (place, columns) in zip(X, y, strict=True):
        assert len(columns) == 30
        assert {len(c) for c in candidates} == {50}
        for i, j in columns:
            if i < 0:
                kinds[2] += 1
            elif j < 0:
                kinds[3] += 1
            else:
                step = (ord(candidates[place][j]) - ord(native[i])) % 20
                assert step in (0, 1)
                kinds[step] += 1
    assert np.abs(kinds / kinds.sum() - [0.2, 0.4, 0.2, 0.2]).max() < 0.05
