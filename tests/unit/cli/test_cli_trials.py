"""What trials by new users found at the command line."""

import gzip
import json

import pytest

from maxmargin.cli.main import main
from maxmargin.cli.tasks.detect import detect
from maxmargin.io.sequences.conll import load_conll
from maxmargin.io.text import FormatError
from maxmargin.reports.progress import Progress, primal_of

FOUR = ">a\nAC-D\n>b\nACGD\n>c\nA-GD\n>d\nACG-\n"


def said_by(capsys, *words):
    code = main([str(word) for word in words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_the_format_that_is_asked_for_is_used(tmp_path, capsys):
    data, model = tmp_path / "four.fasta", tmp_path / "m.mm"
    data.write_text(FOUR)
    train = ("train", "alignments", data, model, "--format", "alignment", "--quiet")
    assert said_by(capsys, *train)[0] in (0, 5)
    pairs = []
    for asked in ((), ("--format", "pairs")):
        code, out, _ = said_by(capsys, "evaluate", model, data, "--json", *asked)
        assert code == 0
        pairs.append(json.loads(out)["pairs"])
    assert pairs == [6, 2]
    code, _, err = said_by(capsys, "evaluate", model, data, "--format", "conll")
    assert code == 2 and "is not a format of the task 'alignments'" in err


def test_rows_of_one_length_may_be_pairs_or_one_alignment(tmp_path):
    data = tmp_path / "four.fasta"
    data.write_text(FOUR)
    with pytest.raises(
        ValueError, match=r"use --format pairs .* or --format alignment"
    ):
        detect(str(data), "four.fasta")
    data.write_text(">a\nAC-D\n>b\nACGD\n>c\nA-G\n>d\nACG\n")
    assert detect(str(data), "two.fasta") == ("alignments", "pairs")


def test_messages_name_the_file_inside_gzip(tmp_path, capsys):
    data = tmp_path / "words.conll.gz"
    with gzip.open(data, "wt") as file:
        file.write("a A\nb\n")
    code, _, err = said_by(capsys, "train", "sequences", data, tmp_path / "m.mm")
    assert code != 0 and "words.conll" in err and "0.txt" not in err


def test_a_word_that_is_no_task(tmp_path, capsys):
    data = tmp_path / "d.txt"
    data.write_text("a A\n")
    code, _, err = said_by(capsys, "train", "parsing", data, tmp_path / "m.mm")
    assert code == 2 and "'parsing' is neither a task nor a file; tasks are" in err
    code, _, err = said_by(capsys, "train", "coreference", data, tmp_path / "m.mm")
    assert code == 2 and "looks like sequences (conll), not like coreference" in err


def test_an_empty_file_has_nothing_to_evaluate(tmp_path, capsys):
    data, model = tmp_path / "d.txt", tmp_path / "m.mm"
    data.write_text("a A\nb I-PER\nb B-PER\n")
    code, out, _ = said_by(capsys, "train", "sequences", data, model)
    assert code == 0 and "3 labels: A, B-PER, I-PER\n" in out  # all of them
    data.write_text("\n")
    code, _, err = said_by(capsys, "evaluate", model, data)
    assert code == 3 and "d.txt has no sentences" in err and "learn" not in err


def test_evaluate_names_its_measure_of_brackets(tmp_path, capsys):
    data, model = tmp_path / "t.mrg", tmp_path / "m.mm"
    tree = "(S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))\n"
    data.write_text(tree * 3)
    assert said_by(capsys, "train", "trees", data, model, "--quiet")[0] == 0
    told = json.loads(said_by(capsys, "evaluate", model, data, "--json")[1])
    assert {"collins_f1", "all_brackets_f1"} <= set(told) and "f1" not in told


def row(step, seconds, primal=float("inf")):
    return {"iteration": step, "seconds": seconds, "primal": primal, "dual": 3.0,
            "gap": 0.25, "planes": 1}  # fmt: skip


def test_few_lines_where_there_is_no_terminal(capsys):
    progress = Progress(1e-3)
    for step in range(1, 101):
        progress(row(step, 0.01 * step))
    progress.close()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) <= 10 and lines[-1].startswith("  100")


def test_an_unknown_primal_is_shown_as_an_estimate():
    assert primal_of(row(1, 0.0)) == "~4" and primal_of(row(1, 0.0, 5.0)) == "5"


def test_an_export_with_a_header_and_missing_labels(tmp_path, capsys):
    """Neither the names of columns nor an empty cell are labels."""
    rows = ["word\tpos\tlabel", "Ana\tNNP\tB-PER", "in\tIN\t", "Lima\tNNP\tB-LOC"]
    data, model = tmp_path / "export.tsv", tmp_path / "m.mm"
    data.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(rows).encode())
    assert main(["train", str(data), str(model)]) == 3
    said = capsys.readouterr().err
    assert "line 1: 'word pos label' looks like the names of the columns" in said
    data.write_text("\n".join(rows[1:]), encoding="utf8")
    assert main(["train", str(data), str(model)]) == 3
    assert "line 2: there is no label" in capsys.readouterr().err
    with pytest.raises(FormatError, match="line 2: there is no label"):
        load_conll(data, separator="\t")


def test_csv_is_no_svmlight(tmp_path, capsys):
    data = tmp_path / "t.csv"
    data.write_text("id,size,label\n1,2.5,a\n2,3.5,b\n", encoding="utf8")
    assert main(["train", "multiclass", str(data), str(tmp_path / "m.mm")]) == 3
    assert "line 1: this is a line of CSV" in capsys.readouterr().err
