"""Words on the command line: templates, schemes, CoNLL-U, encodings, measures of spans."""

import json

import numpy as np
import pytest

from maxmargin.cli.main import main

IOB1 = """\
-DOCSTART- -X- O

# text = Ana Ruiz vive
Ana NP I-PER
Ruiz NP I-PER
vive V O

Lima NP I-LOC
# SYM O
1 Z O

Eva NP I-PER
Juan NP B-PER
"""
CONLLU = """\
# sent_id = 1
1\tAna\tAna\tPROPN\t_\t_\t2\tnsubj\t_\t_
2-3\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
2\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
3\tnos\tnosotros\tPRON\t_\t_\t2\tobj\t_\t_

1\tEva\tEva\tPROPN\t_\t_\t2\tnsubj\t_\t_
2\tríe\treír\tVERB\t_\t_\t0\troot\t_\t_
"""


def trained(tmp_path, text, *flags, name="data.conll", encoding="utf-8"):
    data, model = tmp_path / name, tmp_path / "model.mm"
    data.write_text(text, encoding=encoding)
    assert main(["train", str(data), str(model), "--set", "C=5.0", *flags]) == 0
    return str(data), str(model)


def test_iob1_is_converted_and_written_as_it_came(tmp_path, capsys):
    data, model = trained(tmp_path, IOB1)
    told = capsys.readouterr()
    assert "the labels are IOB1" in told.err and "converted to BIO" in told.err
    assert "B-LOC, B-PER, I-PER, O" in told.out
    assert main(["predict", model, data]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["-DOCSTART- -X- O", "", "# text = Ana Ruiz vive",
                         "Ana NP I-PER I-PER"]  # fmt: skip
    assert lines[8:] == ["# SYM O O", "1 Z O O", "", "Eva NP I-PER I-PER",
                         "Juan NP B-PER B-PER"]  # fmt: skip
    assert main(["predict", model, data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[2]) == ["I-PER", "B-PER"]


def test_evaluate_tells_spans_by_type_and_shows_errors(tmp_path, capsys):
    data, model = trained(tmp_path, IOB1, "--quiet")
    other = tmp_path / "other.conll"
    other.write_text("Ana NP B-ORG\nRuiz NP I-ORG\nvive V O\n")
    capsys.readouterr()
    assert main(["evaluate", model, data, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["span_f1"] == 1.0 and told["spans"]["PER"]["support"] == 3
    assert main(["evaluate", model, str(other), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (
        told["confusion"]["ORG"]["PER"] == 1 and told["span_errors"]["wrong_type"] == 1
    )
    assert main(["evaluate", model, data, "--errors", "1"]) == 0
    out = capsys.readouterr().out
    assert "precision" in out and "example " in out
    assert ": right\n" in out and "truth scores" not in out  # no rounding error


def test_a_template_file_is_used_and_travels(tmp_path, capsys):
    template = tmp_path / "template"
    template.write_text("U0:%x[0,0]\nB1:%x[0,1]\n")
    data, model = trained(tmp_path, IOB1, "--template", str(template))
    template.unlink()
    assert main(["evaluate", model, data]) == 0
    capsys.readouterr()
    template.write_text("U0:%x[0,0]\nU1:%y[0,0]\n")
    assert main(["train", data, model, "--template", str(template)]) == 3
    assert "template, line 2" in capsys.readouterr().err
    assert main(["train", data, model, "--template", "nre"]) == 3
    assert "neither a built-in template" in capsys.readouterr().err
    template.write_text("U0:%x[0,5]\n")
    assert main(["train", data, model, "--template", str(template)]) == 3
    assert "reads column 5" in capsys.readouterr().err


def test_conllu_is_recognised_and_kept(tmp_path, capsys):
    data, model = tmp_path / "data.conllu", str(tmp_path / "model.mm")
    data.write_text(CONLLU, encoding="utf-8")
    assert main(["train", str(data), model]) == 3  # tags or trees?
    assert "say what to learn" in capsys.readouterr().err
    assert main(["train", "sequences", str(data), model, "--set", "C=5.0"]) == 0
    assert "(conllu)" in capsys.readouterr().out
    blank = CONLLU.replace("PROPN", "_").replace("VERB", "_").replace("PRON", "_")
    (tmp_path / "blank.conllu").write_text(blank, encoding="utf-8")
    assert main(["predict", model, str(tmp_path / "blank.conllu")]) == 0
    assert capsys.readouterr().out.strip() == CONLLU.strip()
    assert main(["evaluate", model, str(tmp_path / "blank.conllu")]) == 3
    assert "no outputs" in capsys.readouterr().err


def test_encodings(tmp_path, capsys):
    text = "Íñigo B-PER\nríe O\n\n"
    data, model = trained(tmp_path, text, "--encoding", "latin1", encoding="latin1")
    assert main(["predict", model, data]) == 0
    assert "Íñigo B-PER B-PER" in capsys.readouterr().out
    assert main(["predict", model, data, "--encoding", "utf-8"]) == 3
    told = capsys.readouterr().err
    assert "not utf-8 text" in told and "--encoding latin1" in told


def test_mixed_schemes_name_what_is_mixed(tmp_path, capsys):
    data = tmp_path / "mixed.conll"
    data.write_text("Ana B-PER\nva O\n\nEva I-PER\nva O\n")
    assert main(["train", str(data), str(tmp_path / "m.mm")]) == 3
    told = capsys.readouterr().err
    assert "mixed.conll, line 4" in told and "IOB1 and BIO are mixed" in told


def test_bilou_among_bioes_names_line_and_places(tmp_path, capsys):
    data = tmp_path / "mixed.conll"
    data.write_text("Ana B-PER\nRuiz E-PER\nva O\n\nEva O\n\nva O\nLi U-PER\n")
    assert main(["train", str(data), str(tmp_path / "m.mm")]) == 3
    told = capsys.readouterr().err
    assert "mixed.conll, line 8: labels of BIOES and BILOU are mixed" in told
    assert "'E-PER' and 'U-PER' (sequence 0, token 1 and sequence 2, token 1)" in told


def test_labels_that_are_read_as_features_are_noticed(tmp_path, capsys):
    _, model = trained(tmp_path, "Ana NP B-PER\nva V O\n\nEva NP B-PER\nva V O\n")
    without, tagged = tmp_path / "without.conll", tmp_path / "tagged.conll"
    without.write_text("Ana B-PER\nva O\n")  # no column of tags
    tagged.write_text("Ana NP\nva V\n")
    capsys.readouterr()
    assert main(["predict", model, str(tagged)]) == 0
    assert capsys.readouterr().err == ""
    assert main(["predict", model, str(without)]) == 0
    told = capsys.readouterr().err
    assert "without.conll has 2 columns, one less than the training file" in told
    assert "labels such as 'O'" in told


def test_bio_among_bioes_names_the_line(tmp_path, capsys):
    data = tmp_path / "mixed.conll"
    data.write_text("Ana B-PER\nRuiz E-PER\n\nEva B-PER\nLuna I-PER\nva O\n")
    assert main(["train", str(data), str(tmp_path / "m.mm")]) == 3
    told = capsys.readouterr().err
    assert "mixed.conll, line 5: labels of BIOES and another scheme are mixed" in told
    assert "'I-PER' stands where BIOES has 'E-PER'" in told


def test_a_few_stray_beginnings_are_forgiven(tmp_path, capsys):
    text = "Ana B-PER\nva O\n\n" * 99 + "Eva I-PER\nva O\n\n"
    trained(tmp_path, text)
    assert (
        "1 of 100 spans begins with I-, the first in line 298"
        in capsys.readouterr().err
    )


def test_C_is_chosen_on_held_out_sentences(tmp_path, capsys):
    data = tmp_path / "data.conll"
    data.write_text("Ana B-PER\nva O\n\nva O\nEva B-PER\nhoy O\n\n" * 8)
    model = str(tmp_path / "m.mm")
    assert main(["train", str(data), model, "--C", "auto"]) == 0
    told = capsys.readouterr().err
    assert "C=0.001: span F1" in told and "(3 folds)" in told and "is chosen" in told
    with pytest.raises(SystemExit):
        main(["train", str(data), model, "--C", "much"])


def test_training_says_that_scores_of_o_are_moved(tmp_path, capsys):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(200):
        for _ in range(30):
            name = rng.random() < 0.06
            label = "B-X" if name and rng.random() < 0.5 else "O"
            word = f"N{rng.integers(9)}" if name else f"w{rng.integers(30)}"
            lines.append(f"{word} {label}")
        lines.append("")
    trained(tmp_path, "\n".join(lines), "--set", "tol=0.1")
    assert "scores of O are moved by -" in capsys.readouterr().out
