"""Flags of single fields: taxonomies, tracks, motifs, exports."""

import json

import numpy as np
import pytest

from maxmargin import AlignmentSVM, HomologySVM, load
from maxmargin.cli.main import main
from maxmargin.datasets import make_homologs
from maxmargin.io.biology import read_meme, read_pairs

AMINO = "ACDEFGHIKLMNPQRSTVWY"
ROWS = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("HEAGAW", "-EA-AW"), ("GHEEPA", "GHE-PA")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return main([str(word) for word in words])


def write_label_sets(path, n=60):
    rng = np.random.default_rng(0)
    lines = []
    for x in rng.normal(size=(n, 3)):
        labels = ",".join(c for c, v in zip(("cat", "dog", "fly"), x) if v > 0.2)
        lines.append(labels + "".join(f" {j + 1}:{v:.4f}" for j, v in enumerate(x)))
    path.write_text("\n".join(lines) + "\n")


def write_proteins(path):
    rng = np.random.default_rng(1)
    lines = []
    for i in range(30):
        x = "".join(rng.choice(list(AMINO), 30))
        x = x[:8] + "WCHGNP" + x[14:] if i < 15 else x
        lines += [f">s{i} {'+' if i < 15 else '-'}", x]
    path.write_text("\n".join(lines) + "\n")


def write_rows(path, letters=None):
    rng = np.random.default_rng(2)
    lines = []
    for k, pair in enumerate(ROWS):
        for name, row in zip("ab", pair, strict=True):
            if letters is not None:
                row = "".join(c if c == "-" else rng.choice(list(letters)) for c in row)
            lines += [f">{name}{k}", row]
    path.write_text("\n".join(lines) + "\n")


def test_multilabel_with_a_taxonomy(folder, capsys):
    write_label_sets(folder / "train.svm")
    (folder / "above.tsv").write_text("cat\tpet\ndog\tpet\nfly\n")
    done = run("train", "multilabel", "train.svm", "m.mm", "--taxonomy", "above.tsv",
               "--set", "thresholds=micro", "--quiet")  # fmt: skip
    assert done == 0 and set(load("m.mm").classes_) == {"pet", "cat", "dog", "fly"}
    assert run("evaluate", "m.mm", "train.svm") == 0
    told = capsys.readouterr().out
    assert float(told.split("micro_f1")[1].split()[0]) > 0.8
    assert run("predict", "m.mm", "train.svm", "--out", "found.txt") == 0
    found = (folder / "found.txt").read_text().splitlines()
    assert len(found) == 60
    assert all("pet" in f.split(",") for f in found if "cat" in f or "dog" in f)


def test_a_wrong_taxonomy_is_named_by_line(folder, capsys):
    write_label_sets(folder / "train.svm")
    (folder / "above.tsv").write_text("cat\tpet\ndog pet of mine\n")
    assert (
        run("train", "multilabel", "train.svm", "m.mm", "--taxonomy", "above.tsv") == 3
    )
    assert "above.tsv, line 2" in capsys.readouterr().err


def test_protein_motifs_to_meme_and_back(folder, capsys):
    write_proteins(folder / "p.fasta")
    asked = ["--set", "length=6", "--set", "order=0", "--set", "alphabet=protein"]
    done = run("train", "motifs", "p.fasta", "m.mm", "--C", "1", *asked, "--motifs", "2",
               "--quiet")  # fmt: skip
    assert done == 0 and (folder / "m-2.mm").exists()
    assert run("export", "m.mm", "--out", "m.meme") == 0
    motif = read_meme(folder / "m.meme")[0]
    assert motif.alphabet == AMINO and "CHGNP" in motif.name
    assert run("predict", "m.mm", "p.fasta", "--sites", "1e-4", "--out", "s.tsv") == 0
    rows = [r.split("\t") for r in (folder / "s.tsv").read_text().splitlines()[1:]]
    assert {f"s{i}" for i in range(15)} <= {
        row[0] for row in rows if row[1] in ("8", "9")
    }
    done = run("train", "motifs", "p.fasta", "again.mm", "--start", "m.meme", "--C", "1",
               "--set", "order=0", "--quiet")  # fmt: skip
    assert done == 0 and "CHGNP" in load("again.mm").consensus()


def test_tracks_are_needed_at_prediction_too(folder, capsys):
    write_rows(folder / "pairs.fasta")
    write_rows(folder / "ss.fasta", "HC")
    train = ["train", "alignments", "pairs.fasta", "m.mm", "--C", "100", "--quiet"]
    assert run(*train, "--track", "ss=ss.fasta") == 0
    assert run("predict", "m.mm", "pairs.fasta", "--track", "ss=ss.fasta", "--out",
               "found.fasta") == 0  # fmt: skip
    assert (folder / "found.fasta").read_text().count(">") == 6
    capsys.readouterr()
    assert run("predict", "m.mm", "pairs.fasta") == 3
    assert "the tracks ss" in capsys.readouterr().err
    short = (folder / "ss.fasta").read_text().splitlines()
    short[3] = short[3].rstrip("-")[:-1]
    short[1] = short[1].replace("-", "")
    (folder / "short.fasta").write_text("\n".join(short) + "\n")
    assert run(*train, "--track", "ss=short.fasta") == 3
    assert "pair 0, 'b0'" in capsys.readouterr().err


def test_tracks_of_numbers(folder, capsys):
    rng = np.random.default_rng(0)
    write_rows(folder / "pairs.fasta")
    pairs = read_pairs("pairs.fasta")
    rows = {
        name: rng.normal(size=(len(letters), 2))
        for names, both in zip(pairs.names, pairs.X, strict=True)
        for name, letters in zip(names, both, strict=True)
    }
    np.savez("emb.npz", **rows)
    train = ["train", "alignments", "pairs.fasta", "m.mm", "--C", "100", "--quiet"]
    assert run(*train, "--track", "emb=emb.npz") == 0
    X = [
        tuple({"residue": s, "emb": rows[n]} for n, s in zip(names, both, strict=True))
        for names, both in zip(pairs.names, pairs.X, strict=True)
    ]
    alone = AlignmentSVM(C=100.0).fit(X, pairs.y)
    np.testing.assert_allclose(load("m.mm").coef_, alone.coef_, rtol=1e-12)
    assert run("predict", "m.mm", "pairs.fasta", "--track", "emb=emb.npz",
               "--out", "found.fasta") == 0  # fmt: skip
    assert read_pairs("found.fasta").names == pairs.names
    first = next(iter(rows))
    np.savez("short.npz", **{**rows, first: rows[first][1:]})
    assert run(*train, "--track", "emb=short.npz") == 3
    assert f"pair 0, {first!r}" in capsys.readouterr().err
    np.savez("wide.npz", **{**rows, first: np.ones((9, 5))})
    assert run(*train, "--track", "emb=wide.npz") == 3
    assert "2 numbers per position, others have 5" in capsys.readouterr().err
    rows.pop(first)
    np.savez("fewer.npz", **rows)
    assert run(*train, "--track", "emb=fewer.npz") == 3
    assert f"has no array {first!r}" in capsys.readouterr().err
    (folder / "broken.npz").write_bytes(b"PK nothing")
    assert run(*train, "--track", "emb=broken.npz") == 3
    assert "is not a file of numpy.savez" in capsys.readouterr().err


def test_export_of_scores_and_what_is_refused(folder, capsys):
    write_rows(folder / "pairs.fasta")
    done = run("train", "alignments", "pairs.fasta", "m.mm", "--C", "100", "--quiet",
               "--set", "symmetric=True")  # fmt: skip
    assert done == 0 and run("export", "m.mm", "--out", "m.mat") == 0
    text = (folder / "m.mat").read_text()
    assert text.startswith("# scores are") and "# gaps: deletion" in text
    assert run("export", "m.mm", "--to", "meme") == 2
    assert "this AlignmentSVM cannot be exported to meme" in capsys.readouterr().err
    assert run("train", "alignments", "pairs.fasta", "x.mm", "--motifs", "2") == 2
    assert "--motifs is for motifs" in capsys.readouterr().err
    searches, found = make_homologs(4, seed=0)
    HomologySVM(C=0.1).fit(searches, found).save("search.mm")
    assert run("export", "search.mm", "--out", "search.mat") == 0
    assert (folder / "search.mat").read_text().startswith("# scores are")


def test_rows_of_several_lengths_are_not_said_to_have_one(folder, capsys):
    (folder / "odd.fasta").write_text(">a\nMKVLAA\n>b\nMK-LAA\n>c\nMKV\n")
    assert run("train", "odd.fasta", "m.mm") == 3
    said = capsys.readouterr().err
    assert "of one length" not in said and "odd.fasta" in said
    (folder / "alike.fasta").write_text(">a\nMKVLAA\n>b\nMK-LAA\n>c\nMKVLA-\n")
    assert run("train", "alike.fasta", "m.mm") == 3
    assert "has 3 rows of one length" in capsys.readouterr().err


CLASSES = "".join(
    f"{label} 1:{x} 2:{y}\n"
    for k in range(8)
    for label, x, y in (("a", k / 8, 0), ("b", 1, k / 8), ("c", 1, 2 + k / 8))
)


def written(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def test_probabilities_of_classes_and_nodes_above_them(tmp_path, capsys):
    data, model = written(tmp_path, "d.svm", CLASSES), str(tmp_path / "m.mm")
    above = written(tmp_path, "above.tsv", "a\ttop\nbc\ttop\nb\tbc\nc\tbc\n")
    flags = ["--taxonomy", above, "--loss", "taxonomy", "--calibrate", "3", "--quiet"]
    assert main(["train", "multiclass", data, model, *flags]) == 0
    assert main(["predict", model, data, "--probabilities"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split("\t") == ["label", "a", "b", "c"] and len(rows) == 24
    shares = np.array([row.split("\t")[1:] for row in rows], float)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-2)
    assert main(["predict", model, data, "--cost", "0.001"]) == 0
    found = set(capsys.readouterr().out.split())
    assert found <= {"a", "b", "c", "bc", "top"} and found & {"bc", "top"}
    bare = str(tmp_path / "bare.mm")
    assert main(["train", "multiclass", data, bare, "--quiet"]) == 0
    for flag in (["--probabilities"], ["--cost", "0.5"]):
        assert main(["predict", bare, data, *flag]) == 2
        assert "--calibrate 3" in capsys.readouterr().err


def test_probabilities_of_labels_nodes_and_columns(tmp_path, capsys):
    sets = CLASSES.replace("b ", "b,bc ").replace("c ", "c,bc ", 1)
    graphs = "".join(
        f'{{"nodes": [[{a}], [{b}]], "edges": [[0, 1]], "labels": ["x", "y"]}}\n'
        for a, b in ((1.0, 0.1), (0.9, 0.0), (0.6, 0.4), (0.8, 0.5))
    )
    pairs = "".join(
        f">a\n{a}\n>b\n{b}\n"
        for a, b in (("ACDE-G", "ACDEFG"), ("ACDFFG", "AC-FFG"), ("CCDEF", "CC-EF"))
    )
    printed = {}
    for task, text in (("multilabel", sets), ("graphs", graphs), ("alignments", pairs)):
        data, model = written(tmp_path, task, text), str(tmp_path / f"{task}.mm")
        assert main(["train", task, data, model, "--calibrate", "2", "--quiet"]) == 0
        assert main(["predict", model, data, "--probabilities"]) == 0
        printed[task] = capsys.readouterr().out.splitlines()
    assert printed["multilabel"][0].startswith("label\ta\tb\tbc")
    first = json.loads(printed["graphs"][0])
    assert [set(p) for p in first["probabilities"]] == [{"x", "y"}] * 2
    assert printed["alignments"][0].split() == [
        "first",
        "second",
        "i",
        "j",
        "confidence",
    ]
    assert printed["alignments"][1].startswith("a\tb\t0\t0\t")
    ranked = written(
        tmp_path, "r", "1 qid:1 1:2\n0 qid:1 1:1\n1 qid:2 1:3\n0 qid:2 1:2\n"
    )
    settings = ["--set", "k=1", "--quiet"]
    assert main(["train", "ranking", ranked, str(tmp_path / "r.mm"), *settings]) == 0
    assert main(["predict", str(tmp_path / "r.mm"), ranked, "--probabilities"]) == 2
    assert "--probabilities is for multiclass" in capsys.readouterr().err
