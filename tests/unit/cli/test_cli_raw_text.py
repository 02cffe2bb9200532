"""Raw text on the command line: annotated in characters for training, plain to predict."""

import json

import pytest

from maxmargin import CoreferenceSVM
from maxmargin.cli.main import main
from maxmargin.datasets import load_litbank

TEXTS = [
    {"text": "Ana lives in Lima.", "entities": [[0, 3, "PER"], [13, 17, "LOC"]]},
    {"text": "In Quito, Eva sings.", "entities": [[3, 8, "LOC"], [10, 13, "PER"]]},
    {"text": "Nobody sings.", "entities": []},
]
CONLL = "Ana\tB-PER\nlives\tO\nin\tO\nLima\tB-LOC\n.\tO\n\nNobody\tO\nsings\tO\n.\tO\n"


@pytest.fixture
def files(tmp_path):
    lines = "".join(json.dumps(t) + "\n" for t in TEXTS)
    (tmp_path / "train.jsonl").write_text(lines)
    (tmp_path / "train.conll").write_text(CONLL)
    (tmp_path / "raw.txt").write_text("Ana lives in Lima.\n\nNobody sings.\n")
    return {path.stem + path.suffix: str(path) for path in tmp_path.iterdir()}


@pytest.mark.parametrize("task", [[], ["segments"]], ids=["sequences", "segments"])
def test_from_annotated_text_to_a_report(files, tmp_path, capsys, task):
    model, page = str(tmp_path / "ner.mm"), tmp_path / "ner.html"
    assert (
        main(["train", *task, files["train.jsonl"], model, "--C", "5", "--quiet"]) == 0
    )
    assert main(["evaluate", model, files["train.jsonl"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["span_f1"] == 1.0
    assert main(["predict", model, files["raw.txt"]]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found == [TEXTS[0], TEXTS[2]]
    assert main(["predict", model, files["train.jsonl"]]) == 0
    again = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert again == TEXTS
    assert main(["report", model, files["train.jsonl"], "--out", str(page)]) == 0
    assert "Spans by type" in page.read_text(encoding="utf-8")
    assert main(["evaluate", model, files["raw.txt"]]) == 3
    assert "plain text has no labels" in capsys.readouterr().err


def test_plain_text_for_a_model_of_columns(files, tmp_path, capsys):
    model = str(tmp_path / "ner.mm")
    assert main(["train", files["train.conll"], model, "--C", "5", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["predict", model, files["raw.txt"]]) == 3
    assert "plain text, one text per line, add --format text" in capsys.readouterr().err
    assert main(["predict", model, files["raw.txt"], "--format", "text"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found == [TEXTS[0], TEXTS[2]]


def test_plain_text_with_tags_of_words(files, tmp_path, capsys):
    tags = CONLL.replace("B-PER", "NOUN").replace("B-LOC", "NOUN").replace("\tO", "\tX")
    (tmp_path / "tags.conll").write_text(tags)
    model = str(tmp_path / "pos.mm")
    data = str(tmp_path / "tags.conll")
    assert main(["train", data, model, "--C", "5", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["predict", model, files["raw.txt"], "--format", "text"]) == 0
    assert capsys.readouterr().out.startswith("Ana\tNOUN\nlives\tX\n")


def test_plain_text_is_refused_where_more_columns_are_needed(files, tmp_path, capsys):
    (tmp_path / "three.conll").write_text(CONLL.replace("\t", "\tX\t"))
    model = str(tmp_path / "ner.mm")
    data = str(tmp_path / "three.conll")
    assert main(["train", data, model, "--quiet"]) == 0
    assert main(["predict", model, files["raw.txt"], "--format", "text"]) == 3
    assert "was trained on 3 columns" in capsys.readouterr().err
    assert main(["train", files["raw.txt"], model, "--format", "text"]) == 3
    assert "plain text has no labels" in capsys.readouterr().err


def test_coreference_in_plain_text(files, tmp_path, capsys):
    novels = [novel.document for novel in load_litbank()[:2]]
    clusters = CoreferenceSVM(tol=0.1).fit(novels, [d.clusters for d in novels])
    model, text = tmp_path / "coreference.mm", tmp_path / "story.txt"
    clusters.save(
        model, notes={"task": "coreference", "format": "conll2012", "options": {}}
    )
    text.write_text("Ann met Bob. She liked him.\n")
    assert main(["predict", str(model), str(text), "--format", "text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split("\t") for line in lines if line]
    assert [row[1:] for row in rows] == [
        ["0", "0", "0", "Ann"], ["0", "2", "2", "Bob"],
        ["1", "0", "0", "She"], ["1", "2", "2", "him"],
    ]  # fmt: skip
    assert all(row[0].isdigit() for row in rows)
    assert main(["evaluate", str(model), str(text), "--format", "text"]) == 3
    assert "plain text has no entities" in capsys.readouterr().err
