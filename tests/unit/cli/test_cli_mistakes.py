"""The command line: exit codes, and messages that name what is wrong."""

import json
from pathlib import Path

import pytest
from small.data import CONLL, svmlight

import maxmargin
from maxmargin.cli.main import main


def test_exit_codes(tmp_path, capsys):
    data, model = str(tmp_path / "d"), str(tmp_path / "m.mm")
    Path(data).write_text(svmlight())
    assert main([]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["train"])
    assert main(["train", data]) == 2
    assert main(["train", str(tmp_path / "absent"), model]) == 1
    capsys.readouterr()
    assert (
        main(["train", data, model, "--tol", "1e-12", "--max-iter", "1", "--json"]) == 4
    )
    assert json.loads(capsys.readouterr().out)["status"] == "max_iter"
    assert maxmargin.load(model).n_features_in_ == 3  # it is written nevertheless
    assert main(["train", data, str(tmp_path / "no" / "m.mm"), "--quiet"]) == 1
    Path(data).write_text("1 1:2\n1 1:x\n")
    assert main(["train", data, model]) == 3
    assert "line 2: '1:x' is not FEATURE:VALUE" in capsys.readouterr().err
    Path(data).write_text("1 1:2\n1 1:3\n")
    assert main(["train", data, model]) == 3
    assert "one class only" in capsys.readouterr().err
    Path(model).write_text("no model")
    assert main(["evaluate", model, data]) == 3
    Path(model).unlink()  # train does not overwrite what is no model
    Path(data).write_text("\n")
    assert main(["train", data, model]) == 3


def said_by(capsys, *words):
    """Exit code and what a command says on standard error."""
    code = main([str(word) for word in words])
    return code, capsys.readouterr().err


def test_what_is_misspelt_is_named(tmp_path, capsys):
    data, model = tmp_path / "d", tmp_path / "m.mm"
    data.write_text(svmlight())
    code, said = said_by(capsys, "train", data, model, "--set", "losss=x")
    assert code == 2 and "no parameter 'losss' (did you mean 'loss'?)" in said
    code, said = said_by(capsys, "train", data, model, "--set", "loss")
    assert code == 2 and "NAME=VALUE" in said
    code, said = said_by(capsys, "train", "multiclas", data, model)
    assert code == 2 and "'multiclas' is neither a task nor a file" in said
    assert "'multiclass'" in said
    with pytest.raises(SystemExit, match="2"):
        main(["train", str(data), str(model), "--C", "many"])
    said = capsys.readouterr().err
    assert "many is not a number greater than zero" in said
    assert said.count("\n") <= 3  # usage is short


def test_a_model_that_cannot_be_written_is_not_trained(tmp_path, capsys):
    data = tmp_path / "d"
    data.write_text("1 1:2\n1 1:x\n")  # reading would end with 3
    code, said = said_by(capsys, "train", data, tmp_path / "no" / "m.mm")
    assert (
        code == 1
        and said == f"maxmargin: {tmp_path / 'no'}: No such file or directory\n"
    )
    code, said = said_by(capsys, "train", data, tmp_path)
    assert code == 1 and "Is a directory" in said


def test_files_that_are_something_else_are_named(tmp_path, capsys):
    data, model, other = tmp_path / "d", tmp_path / "m.mm", tmp_path / "o.mm"
    data.write_text(svmlight())
    assert main(["train", str(data), str(model), "--quiet"]) == 0
    code, said = said_by(capsys, "predict", data, model)
    assert code == 3 and f"{data} cannot be read as a model" in said
    code, said = said_by(capsys, "predict", model, model)
    assert code == 3 and f"{model} is a zip file, perhaps a model" in said
    code, said = said_by(capsys, "predict", other, data)
    assert code == 1 and said == f"maxmargin: {other}: No such file or directory\n"


def test_a_label_column_that_is_not_there(tmp_path, capsys):
    data, model = tmp_path / "d.conll", tmp_path / "m.mm"
    data.write_text(CONLL)
    code, said = said_by(capsys, "train", data, model, "--label-column", "3")
    assert code == 3 and "has 3 columns: there is no column 3" in said
    assert main(["train", str(data), str(model)]) == 0
    assert "3 labels: B-LOC, B-PER, O\n" in capsys.readouterr().out


def test_cells_with_blanks_between_tabs(tmp_path, capsys):
    data, model = tmp_path / "d.conll", tmp_path / "m.mm"
    data.write_text(CONLL.replace(" ", "\t").replace("Lima", "La Paz"))
    assert main(["train", "sequences", str(data), str(model), "--quiet"]) == 0
    assert main(["predict", str(model), str(data)]) == 0
    assert "La Paz\tNP\tB-LOC\tB-LOC\n" in capsys.readouterr().out
    data.write_text("Ana NP O\nvive O\n")
    code, said = said_by(capsys, "train", data, model)
    assert code == 3 and "line 2: 2 columns where 3 were before" in said


def test_labels_of_a_test_file_are_read_as_those_of_training(tmp_path, capsys):
    data, model = tmp_path / "d", tmp_path / "m.mm"
    data.write_text("1 1:1\nx 2:1\n1 1:2\nx 2:2\n")
    assert main(["train", str(data), str(model), "--quiet"]) == 0
    data.write_text("1 1:1\n1 1:2\n")  # whole numbers only
    assert main(["evaluate", str(model), str(data), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["examples"], said["accuracy"]) == (2, 1.0)
    assert list(said["classes"]) == ["1"]
    data.write_text("1 1:1\ny 1:2\n")
    assert main(["evaluate", str(model), str(data), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["accuracy"], said["unseen_labels"]) == (0.5, 1)
    code, _ = said_by(capsys, "report", model, data, "--out", tmp_path / "r")
    assert code == 0


@pytest.mark.parametrize("task", ["trees", "graphs", "motifs"])
def test_an_empty_file_has_no_examples(task, tmp_path, capsys):
    data = tmp_path / "empty.txt"
    data.write_text("")
    words = ("train", task, str(data), str(tmp_path / "m.mm"))
    code, said = said_by(capsys, *words)
    assert code == 3
    assert "no examples" in said


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        ("alignments", ">a\nAC-\n>b\nACD\n>c\nAC\n>d\nACD\n", "pair 1, 'c' and 'd'"),
        ("motifs", ">a +\nACGT\n>b\nACGT\n", "record 'b' has no label"),
        ("dependencies", "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n", "sentence 0 has no heads"),
        ("graphs", '{"nodes": [[1.0]], "edges": []}\n', "graph 0 has no labels"),
    ],
)
def test_the_example_without_an_output_is_named(tmp_path, capsys, task, text, message):
    data = tmp_path / "data"
    data.write_text(text)
    assert main(["train", task, str(data), str(tmp_path / "m.mm")]) == 3
    assert message in capsys.readouterr().err


def test_files_that_are_read_are_not_overwritten(tmp_path, capsys):
    data, model, notes = (str(tmp_path / name) for name in ("d", "m.mm", "notes.txt"))
    Path(data).write_text(svmlight())
    Path(notes).write_text("dear diary")
    for place, why in ((data, "is read by this command"), (notes, "is no model")):
        code, said = said_by(capsys, "train", data, place, "--quiet")
        assert code == 2 and why in said
    assert main(["train", data, model, "--quiet"]) == 0
    assert main(["train", data, model, "--quiet"]) == 0  # a model may be replaced
    capsys.readouterr()
    kept = Path(model).read_bytes()
    for command in ("predict", "report"):
        for place in (data, model):
            code, said = said_by(capsys, command, model, data, "--out", place)
            assert code == 2 and "is read by this command" in said
    other = tmp_path / "other.mm"
    other.write_bytes(kept)
    code, said = said_by(capsys, "predict", model, data, "--out", other)
    assert code == 2 and "is a model" in said
    assert Path(data).read_text() == svmlight() and Path(model).read_bytes() == kept
    assert Path(notes).read_text() == "dear diary" and other.read_bytes() == kept
    words = tmp_path / "words.conll"
    words.write_text(CONLL)
    assert main(["convert", str(words), str(words), "--to", "crfsuite"]) == 2
    assert words.read_text() == CONLL


def test_two_flags_for_one_setting(tmp_path, capsys):
    data = tmp_path / "d"
    data.write_text(svmlight())
    code, said = said_by(
        capsys, "train", data, tmp_path / "m", "--C", 2, "--set", "C=1"
    )
    assert code == 2 and "another flag gives C" in said
    code, _ = said_by(capsys, "train", data, tmp_path / "m", "--set", "n_jobs=1")
    assert code == 0


def test_files_of_another_kind(tmp_path, capsys):
    data, model = tmp_path / "d", tmp_path / "m.mm"
    data.write_text("0.5 1:1\n0.7 1:2\n1.9 1:3\n")
    code, said = said_by(capsys, "train", data, model)
    assert code == 3 and "numbers with fractions" in said
    for line in ("word,label", "word;label"):
        data.write_text(f"{line}\n{line}\n")
        code, said = said_by(capsys, "train", data, model)
        assert code == 3 and "looks like CSV" in said
    data.write_text("a\tX\nb\tY\n" * 300)
    code, said = said_by(capsys, "train", data, model)
    assert code == 0 and "one sentence of 600 words" in " ".join(said.split())


def test_training_warns_of_what_is_odd_in_the_data(tmp_path, capsys):
    data, model = tmp_path / "d.conll", tmp_path / "m.mm"
    row = "Ana B-PER\nRuiz I-PER\nsaw O\nBo {}\n\n"
    data.write_text(row.format("B-PER") * 12 + row.format("PER-B"))
    for C in ("0.1", "auto"):  # which fits several times
        code, said = said_by(
            capsys, "train", data, model, "--template", "ner", "--C", C
        )
        assert code == 0
        assert said.count("label 'PER-B' is neither 'O' nor like 'B-PER'") == 1
    data.write_text("a O\nb O\n\nc O\n\n")
    code, said = said_by(capsys, "train", data, model, "--quiet")
    assert code == 0 and "all labels are 'O'" in said
    code, said = said_by(capsys, "train", data, model, "--max-iter", "1")
    assert "all labels are 'O'" in said and "gap" in said
