"""What flags do to the model, and what commands make of models and data."""

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from small import models as small
from small.data import CONLL, letor, svmlight, trained

import maxmargin
from maxmargin.cli.main import main
from maxmargin.cli.parser import build
from maxmargin.kernels import Polynomial, Rbf
from maxmargin.metrics import average_precision, ndcg_at_k, precision_at_k


def commands():
    """Each command with its parser."""
    (listed,) = (
        action for action in build()._actions
        if isinstance(action, argparse._SubParsersAction)
    )  # fmt: skip
    return listed.choices


@pytest.mark.parametrize("command", sorted(commands()))
def test_every_flag_is_explained(command):
    for action in commands()[command]._actions:
        assert action.help, f"{command} {action.option_strings or action.dest}"
        if action.dest == "out" and action.option_strings:
            assert action.metavar in ("FILE", "FOLDER"), f"{command} --out"


@pytest.mark.parametrize(("flags", "jobs"), [(["--jobs", "1"], 1), ([], -1)])
def test_all_cores_unless_told_otherwise(flags, jobs, tmp_path):
    _, model = trained(tmp_path, CONLL, *flags)
    assert maxmargin.load(model).n_jobs == jobs


@pytest.mark.parametrize(("number", "kernel"), [
    ("0", None), ("1", Polynomial(degree=3, gamma=1.0)), ("2", Rbf(gamma=1.0)),
])  # fmt: skip
def test_kernels_by_number(number, kernel, tmp_path):
    _, model = trained(tmp_path, svmlight(), "-t", number)
    found = maxmargin.load(model).kernel
    assert found == kernel or repr(found) == repr(kernel)


@pytest.mark.parametrize(("number", "solver"), [
    ("0", "n-slack"), ("1", "n-slack-block"), ("2", "one-slack"), ("3", "one-slack"),
    ("4", "one-slack"),
])  # fmt: skip
def test_trainers_by_number(number, solver, tmp_path):
    _, model = trained(tmp_path, CONLL, "-w", number)
    assert maxmargin.load(model).solver == solver


@pytest.mark.parametrize("flag", ["--from", "--to"])
def test_unknown_formats_are_refused_with_the_known_ones(flag, tmp_path, capsys):
    other = [] if flag == "--to" else ["--to", "conll"]
    with pytest.raises(SystemExit) as ended:
        main(
            ["convert", str(tmp_path / "a"), str(tmp_path / "b"), flag, "conl", *other]
        )
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "'conl'" in said and "crfsuite" in said


MADE_IN_PYTHON = {
    "svmlight": lambda: maxmargin.MulticlassSVM().fit(*small.points()),
    "jsonl": lambda: small.network()[0],
    "penn": lambda: small.grammar()[0],
    "fasta": lambda: small.motif()[0],
    "pairs": lambda: small.alignment()[0],
    "searches": lambda: small.homology()[0],
}


@pytest.mark.parametrize("form", MADE_IN_PYTHON)
def test_models_made_in_python_have_the_task_of_their_class(form, tmp_path, capsys):
    """Their files do not say which task they are for."""
    path = str(tmp_path / "model.mm")
    MADE_IN_PYTHON[form]().save(path)
    data = tmp_path / "data.txt"
    data.write_text(DATA[form])
    assert main(["predict", path, str(data), "--format", form]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 1


DATA = {
    "svmlight": "1 1:0.5 2:0.1 3:2\n0 1:1\n",
    "jsonl": json.dumps({"nodes": [[1.0, -0.5]] * 3, "edges": [[0, 1]]}) + "\n",
    "penn": "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n",
    "fasta": ">a\nccTATAgcTATA\n",
    "pairs": ">a\nHEAGAW\n>b\nEAAW\n",
    "searches": json.dumps({"native": "ABBA", "candidates": ["ABA", "BB"]}) + "\n",
}


def test_measures_of_one_query_are_those_of_the_query(tmp_path, capsys):
    data, model = trained(tmp_path, letor(), "--set=k=5")
    one = tmp_path / "one.txt"
    lines = [v for v in Path(data).read_text().splitlines() if "qid:3 " in v]
    one.write_text("\n".join(lines) + "\n")
    capsys.readouterr()
    assert main(["evaluate", model, str(one), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    grades = np.array([int(line[0]) for line in lines])
    x = np.array([[float(v.split(":")[1]) for v in w.split()[2:4]] for w in lines])
    (scores,) = maxmargin.load(model).decision_function([x])
    assert 0 < grades.sum() < len(grades)
    assert told["map"] == pytest.approx(average_precision(grades, scores))
    for k in (1, 5):
        assert told[f"ndcg@{k}"] == pytest.approx(ndcg_at_k(grades, scores, k))
        assert told[f"precision@{k}"] == pytest.approx(
            precision_at_k(grades, scores, k)
        )


def test_sentences_without_a_parse_are_counted(tmp_path, capsys):
    known = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n"
    _, model = trained(tmp_path, known, "--set=horizontal=None", "--set=fallback=none")
    strange = "(S (VP (VBD sat)) (NP (NN cat) (DT the)))\n"
    data = tmp_path / "test.txt"
    data.write_text(known + strange + known)
    capsys.readouterr()
    assert main(["evaluate", model, str(data), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["trees"], told["unparsed"]) == (3, 1)


def test_flags_of_the_server_reach_it(tmp_path, monkeypatch):
    server = pytest.importorskip("maxmargin.serve.server")
    given = {}
    monkeypatch.setattr(server, "serve", lambda model, **flags: given.update(flags))
    path = str(tmp_path / "classes.mm")
    maxmargin.MulticlassSVM().fit(*small.points()).save(path)
    flags = ["--max-bytes", "11", "--max-inputs", "12", "--max-size", "13"]
    more = ["--timeout", "1.5", "--port", "0", "--host", "127.0.0.1"]
    assert main(["serve", path, *flags, *more]) == 0
    limits = given["limits"]
    found = limits.body, limits.inputs, limits.size, limits.seconds
    assert found == (11, 12, 13, 1.5)
    assert (given["port"], given["name"], given["browser"]) == (0, "classes.mm", False)
