"""The command line: every task from file to predictions, pipes, flags."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small.data import (
    CONLL,
    CRF,
    FASTA,
    FILES,
    HMM,
    JSONL,
    PAIRS,
    PENN,
    predicted,
    svmlight,
    trained,
)

import maxmargin
from maxmargin.cli.main import main
from maxmargin.cli.tasks.detect import detect


@pytest.mark.parametrize("task", FILES)
def test_each_task_from_file_to_predictions(task, tmp_path, capsys):
    text, measure, flags = FILES[task]
    data, model, out = (str(tmp_path / name) for name in ("data.txt", "m.mm", "out"))
    Path(data).write_text(text)
    said = [task] if task == "dependencies" else []  # the file has tags, too
    if not said:
        assert detect(data, data)[0] == task
    code = main(["train", *said, data, model, "--C", "1", "--json", *flags])
    told = json.loads(capsys.readouterr().out)
    assert (code, told["task"], told["status"]) == (0, task, "converged")
    assert told["gap"] <= 1e-2
    assert main(["evaluate", model, data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[measure] > 0.6
    assert main(["predict", model, data, "--out", out]) == 0
    assert len(Path(out).read_text()) > 0
    assert main(["predict", model, data, "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == told["examples"]
    assert main(["describe", model, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"]["task"] == task
    assert maxmargin.load(model).C == 1.0


def test_what_predictions_look_like(tmp_path, capsys):
    data, model = trained(tmp_path, CONLL)
    out = predicted(model, data, capsys)
    assert out.splitlines()[0] == "Ana NP B-PER B-PER"
    bare = tmp_path / "bare"  # without the labels
    bare.write_text(
        "\n".join(" ".join(r.split()[:2]) for r in CONLL.splitlines()) + "\n"
    )
    assert predicted(model, str(bare), capsys).splitlines()[0] == "Ana NP B-PER"
    assert main(["evaluate", model, str(bare)]) == 3
    two = "\n".join(" ".join(r.split()[::2]) for r in CONLL.splitlines())
    data, model = trained(tmp_path, two + "\n")  # words and labels, nothing else
    assert predicted(model, data, capsys).splitlines()[0] == "Ana B-PER B-PER"
    data, model = trained(tmp_path, HMM, "sequences")
    assert predicted(model, data, capsys).split() == ["1", "2", "1", "2"]
    data, model = trained(tmp_path, CRF, "--format", "crfsuite")
    assert predicted(model, data, capsys).split("\n")[:3] == ["B", "O", ""]
    data, model = trained(tmp_path, PENN)
    assert predicted(model, data, capsys).startswith("( (S (NP (DT the) (NN cat))")
    bare.write_text("a/DT fox/NN sat/VBD\n\nPRP VBD\n?/XX\n")  # no trees, one per line
    out = predicted(model, str(bare), capsys).splitlines()
    assert out[0] == "( (S (NP (DT a) (NN fox)) (VP (VBD sat))))"
    assert out[2] == "( (NP (XX ?)))"  # an unknown tag stands for any tag
    assert main(["predict", model, str(bare)]) == 0
    assert capsys.readouterr().err.startswith("maxmargin: sentence 2, token 0: 'XX'")
    assert main(["evaluate", model, str(bare)]) == 3
    data, model = trained(tmp_path, PAIRS, "--C", "10")
    assert predicted(model, data, capsys).split()[4:] == [
        ">c",
        "HEAGAW",
        ">d",
        "-EA-AW",
    ]
    data, model = trained(tmp_path, JSONL, "--C", "10")
    lines = predicted(model, data, capsys).splitlines()
    assert json.loads(lines[1])["labels"] == ["cold", "cool"]
    assert json.loads(lines[1])["id"] == 1
    flags = ["--set", "length=4", "--set", "order=0", "--C", "1", "--seed", "0"]
    data, model = trained(tmp_path, FASTA, *flags)
    cells = predicted(model, data, capsys).splitlines()[1].split("\t")
    assert cells[:4] == ["s0", "+", "2", "+"] and float(cells[4]) > 0.0


def test_motifs_in_two_files(tmp_path, capsys):
    for name, part in (
        ("with", FASTA.split(">s3")[0]),
        ("out", ">s3" + FASTA.split(">s3")[1]),
    ):
        (tmp_path / name).write_text(part)
    model = str(tmp_path / "m.mm")
    flags = ["--set", "length=4", "--set", "order=0", "--C", "1", "--quiet"]
    files = [str(tmp_path / "with"), str(tmp_path / "out")]
    assert main(["train", "motifs", *files, model, *flags]) == 0
    assert main(["evaluate", model, *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0


class Standard(io.StringIO):
    """Standard input with bytes in it."""

    def __init__(self, data):
        super().__init__()
        self.buffer = io.BufferedReader(io.BytesIO(data))


def test_gzip_and_standard_input(tmp_path, capsys, monkeypatch):
    packed = tmp_path / "data.gz"
    packed.write_bytes(gzip.compress(CONLL.encode()))
    model = str(tmp_path / "m.mm")
    assert main(["train", str(packed), model, "--quiet"]) == 0
    first = predicted(model, str(packed), capsys)
    for content in (CONLL.encode(), gzip.compress(CONLL.encode())):
        monkeypatch.setattr(sys, "stdin", Standard(content))
        assert predicted(model, "-", capsys) == first
    packed.write_bytes(gzip.compress(CONLL.encode())[:-20])
    assert main(["train", str(packed), model, "--quiet"]) == 3
    assert "data.gz is damaged gzip" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", Standard(b"Ana NP B-PER\nEva\n"))
    assert main(["train", "-", model, "--quiet"]) == 3
    assert "standard input, line 2: 1 columns where 3" in capsys.readouterr().err


def test_a_model_may_go_through_pipes(tmp_path):
    data = tmp_path / "d"
    data.write_text(svmlight())
    command = f"{sys.executable} -m maxmargin"
    done = subprocess.run(
        f"{command} train {data} - --quiet | {command} evaluate - {data} --json",
        shell=True, capture_output=True, text=True, check=True, env=os.environ,
    )  # fmt: skip
    assert json.loads(done.stdout)["accuracy"] > 0.9


def test_flags_of_svm_struct(tmp_path, capsys):
    data, model = str(tmp_path / "d"), str(tmp_path / "m.mm")
    Path(data).write_text(svmlight())
    known = ["-c", "30", "-e", "0.001", "-o", "1", "-p", "2", "-w", "3"]
    assert main(["train", data, model, *known]) == 0
    said = capsys.readouterr().err
    assert "-c 30 divided by 30 examples: C=1" in said
    assert "-o 1: slack rescaling" in said
    fitted = maxmargin.load(model)
    assert (fitted.C, fitted.rescaling, fitted.penalty) == (1.0, "slack", "squared")
    assert fitted.solver == "one-slack"
    assert main(["train", data, model, "-c", "1", "--C", "1"]) == 2
    assert main(["train", data, model, "-g", "1"]) == 2
    assert main(["train", "multiclass", data, model, "--set", "what=1"]) == 2
    graph = str(tmp_path / "g")
    Path(graph).write_text(JSONL)
    kernel = ["-t", "1", "-d", "2", "-g", "0.5"]
    assert main(["train", graph, model, *kernel]) == 0
    assert "-t 1 -d 2 -g 0.5: Polynomial(degree=2" in capsys.readouterr().err
    assert maxmargin.load(model).kernel.degree == 2


def test_a_pipe_that_closes(tmp_path):
    run = "import sys; from maxmargin.cli.main import main; sys.exit(main())"
    ends, writes = os.pipe()
    os.close(ends)
    done = subprocess.run(
        [sys.executable, "-c", run, "completion", "bash"],
        stdout=writes, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writes)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_checkpoint_by_flag(tmp_path, capsys):
    data, model, kept = (str(tmp_path / k) for k in ("d", "m.mm", "run.ck"))
    Path(data).write_text(svmlight())
    first = ["train", data, model, "--tol", "1e-4", "--quiet", "--checkpoint", kept]
    assert main([*first, "--max-iter", "2"]) == 4
    assert Path(kept).exists()
    assert main(first) == 0
    assert not Path(kept).exists()
    assert maxmargin.load(model).result_.iterations > 2


def test_report_writes_a_page(tmp_path, capsys):
    data, model = trained(tmp_path, svmlight())
    page = tmp_path / "page.html"
    assert main(["report", model, data, "--out", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>") or "<html" in text[:200].lower()
    assert main(["report", model, "--out", "-"]) == 0
    assert "<html" in capsys.readouterr().out.lower()
