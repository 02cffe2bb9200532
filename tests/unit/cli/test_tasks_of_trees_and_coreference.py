"""The tasks `dependencies` and `coreference`: what goes in and comes out."""

import json
from pathlib import Path

from small.data import COREFERENCE, UD, predicted, trained

from maxmargin.cli.main import main
from maxmargin.cli.tasks.detect import detect
from maxmargin.io.coreference import read_conll2012, write_corefud


def test_dependencies_come_out_as_conllu(tmp_path, capsys):
    data, model = str(tmp_path / "data.conllu"), str(tmp_path / "m.mm")
    Path(data).write_text(UD)
    settings = ["--set", "rare=0", "--C", "1", "--quiet"]
    assert main(["train", "dependencies", data, model, *settings]) == 0
    assert predicted(model, data, capsys) == UD
    bare = tmp_path / "bare.conllu"
    bare.write_text(UD.replace("\t2\tdet", "\t_\t_").replace("\t3\tnsubj", "\t_\t_")
                    .replace("\t0\troot", "\t_\t_"))  # fmt: skip
    assert detect(str(bare), "bare.conllu") == ("sequences", "conllu")  # no trees
    assert predicted(model, str(bare), capsys) == UD
    assert main(["evaluate", model, str(bare)]) != 0
    assert "no outputs to compare with" in capsys.readouterr().err
    assert main(["evaluate", model, data, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["uas"] == told["las_no_punctuation"] == 1.0 and told["words"] == 12


def test_entities_come_out_as_they_went_in(tmp_path, capsys):
    data, model = trained(tmp_path, COREFERENCE, "--C", "1")
    assert predicted(model, data, capsys) == COREFERENCE
    assert main(["evaluate", model, data, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["conll"] == told["muc_f1"] == 1.0
    assert (told["documents"], told["mentions"]) == (4, 12)


def test_mentions_are_found_by_rules_where_a_file_has_none(tmp_path, capsys):
    data, model = trained(tmp_path, COREFERENCE, "--C", "1")
    bare = tmp_path / "bare.conll"
    bare.write_text(COREFERENCE.replace("(0)", "-").replace("(1)", "-"))
    out = predicted(model, str(bare), capsys)
    first = out.split("#end document")[0]
    assert first == COREFERENCE.split("#end document")[0]
    assert main(["evaluate", model, str(bare)]) != 0
    assert Path(data).read_text() == COREFERENCE


def test_models_of_one_format_read_the_other(tmp_path, capsys):
    """CoNLL-2012 and CorefUD: the file says which it is, not the model."""
    data, model = trained(tmp_path, COREFERENCE, "--C", "1")
    other = tmp_path / "other.conllu"
    write_corefud(other, read_conll2012(data))
    assert main(["evaluate", model, str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["conll"] == 1.0
    assert predicted(model, str(other), capsys) == other.read_text()


def test_sentences_of_text_come_out_as_conllu_with_tags(tmp_path, capsys):
    data, text = tmp_path / "data.conllu", tmp_path / "raw.txt"
    model, plain = str(tmp_path / "m.mm"), str(tmp_path / "plain.mm")
    data.write_text(UD)
    settings = ["--set", "rare=0", "--C", "1", "--quiet"]
    assert main(["train", "dependencies", str(data), plain, *settings]) == 0
    settings += ["--set", "tagger=chain"]
    assert main(["train", "dependencies", str(data), model, *settings]) == 0
    words = [
        [line.split("\t")[1] for line in block.splitlines() if line[:1].isdigit()]
        for block in UD.strip().split("\n\n")
    ]
    text.write_text("\n".join(" ".join(sentence) for sentence in words) + "\n")
    found = predicted(model, str(text), capsys)
    columns = [line.split("\t") for line in UD.splitlines() if line[:1].isdigit()]
    made = [line.split("\t") for line in found.splitlines() if line]
    keep = (0, 1, 3, 6, 7)  # number, word, tag, head, relation
    assert [[r[k] for k in keep] for r in made] == [
        [r[k] for k in keep] for r in columns
    ]
    assert main(["predict", model, str(text), "--format", "text"]) == 0
    assert capsys.readouterr().out == found
    assert main(["predict", plain, str(text)]) != 0
    assert "tagger='chain'" in capsys.readouterr().err
    assert main(["evaluate", model, str(text), "--format", "text"]) != 0
    assert "plain text has no trees" in capsys.readouterr().err


def test_trees_read_plain_text(tmp_path, capsys):
    data, text = tmp_path / "data.mrg", tmp_path / "raw.txt"
    model = str(tmp_path / "m.mm")
    data.write_text("(S (NP (DT a) (NN cat)) (VP (VBD sat)))\n")
    text.write_text("a/DT dog/NN sat/VBD\n")
    assert main(["train", "trees", str(data), model, "--quiet"]) == 0
    for said in ([], ["--format", "text"]):
        assert main(["predict", model, str(text), *said]) == 0
        assert "(NN dog)" in capsys.readouterr().out
    assert main(["train", "trees", str(text), model, "--format", "text"]) != 0
    assert "plain text has no trees" in capsys.readouterr().err
