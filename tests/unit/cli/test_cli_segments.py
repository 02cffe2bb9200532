"""The task `segments` of the command line."""

import json

import maxmargin
from maxmargin.cli.main import main
from maxmargin.estimators import SegmentSVM

IOB1 = """\
Ana NP I-PER
Ruiz NP I-PER
va VB O
a IN O
Lima NP I-LOC

Eva NP I-PER
Ruiz NP I-PER
ríe VB O

hoy RB O
ríe VB O
Lima NP I-LOC
"""


def test_from_file_to_predictions(tmp_path, capsys):
    data, model = tmp_path / "train.conll", str(tmp_path / "names.mm")
    data.write_text(IOB1, encoding="utf8")
    asked = ["--C", "1", "--set", "max_length=3", "--json"]
    assert main(["train", "segments", str(data), model, *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["task"], told["status"]) == ("segments", "converged")
    loaded = maxmargin.load(model)
    assert isinstance(loaded, SegmentSVM)
    assert (loaded.max_length, loaded.features) == (3, "ner")
    assert main(["evaluate", model, str(data), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["span_f1"] == told["span_PER_recall"] == told["span_LOC_precision"] == 1
    bare = tmp_path / "bare.conll"  # without labels
    rows = [row.rpartition(" ")[0] for row in IOB1.splitlines()]
    bare.write_text("\n".join(rows) + "\n", encoding="utf8")
    assert main(["predict", model, str(bare)]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == IOB1.splitlines()[:3]


def test_spans_that_are_too_long_are_named(tmp_path, capsys):
    data = tmp_path / "train.conll"
    data.write_text(IOB1, encoding="utf8")
    words = ["train", "segments", str(data), str(tmp_path / "m.mm")]
    assert main([*words, "--set", "max_length=1", "--quiet"]) != 0
    said = capsys.readouterr().err
    assert "sequence 0, token 0" in said and "max_length=1" in said
