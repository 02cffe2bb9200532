"""The command line, each task from file to predictions; exit codes; completion."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import maxmargin
from maxmargin.cli.detect import detect
from maxmargin.cli.errors import InputError
from maxmargin.cli.main import main
from maxmargin.cli.names import FORMAT_NAMES, TASK_NAMES
from maxmargin.cli.tasks import TASKS
from maxmargin.io.crfsuite import read_crfsuite
from maxmargin.io.svm_hmm import read_svm_hmm

CONLL = """\
Ana NP B-PER
vive V O
en P O
Lima NP B-LOC

Eva NP B-PER
va V O
a P O
Puno NP B-LOC

Juan NP B-PER
vive V O
"""
HMM = "1 qid:1 1:1 3:1\n2 qid:1 2:1\n1 qid:2 1:1\n2 qid:2 2:1 3:0.5\n"
CRF = "B\tw=Ana\tcap\nO\tw=va\n\nB\tw=Eva\tcap\nO\tw=ve\n\n"
PENN = "( (S (NP (DT the) (NN cat)) (VP (VBD sat))))\n(S (NP (PRP I)) (VP (VBD saw)))\n"
PAIRS = ">a\nHEAGAWGHE-E\n>b\n--P-AW-HEAE\n>c\nHEAGAW\n>d\n-EA-AW\n"
JSONL = "\n".join(
    json.dumps({"nodes": [[v], [0.0]], "edges": [[0, 1]], "labels": labels, "id": k})
    for k, (v, labels) in enumerate([(1.0, ["hot", "warm"]), (-1.0, ["cold", "cool"])])
)
FASTA = "".join(
    f">s{k} {label}\n{letters}\n"
    for k, (label, letters) in enumerate(
        zip(
            "+++---",
            ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"],
        )
    )
)


def svmlight(seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(30):
        x = np.eye(3)[i % 3] + 0.2 * rng.normal(size=3)
        rows.append(
            f"{i % 3 + 1} " + " ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(x))
        )
    return "\n".join(rows) + "\n"


def letor():
    rng = np.random.default_rng(0)
    rows = []
    for q in range(6):
        for x in rng.normal(size=(8, 2)):
            rows.append(
                f"{int(x[0] > 0.3)} qid:{q} 1:{x[0]:.6g} 2:{x[1]:.6g} #docid = 1"
            )
    return "\n".join(rows) + "\n"


FILES = {
    "multiclass": (svmlight(), "accuracy", []),
    "sequences": (CONLL, "token_accuracy", []),
    "trees": (PENN, "f1", []),
    "alignments": (PAIRS, "q", []),
    "ranking": (letor(), "ndcg@5", ["--set", "k=3"]),
    "graphs": (JSONL, "node_accuracy", []),
    "motifs": (FASTA, "accuracy", ["--set", "length=4", "--set", "order=0"]),
}


@pytest.mark.parametrize("task", FILES)
def test_each_task_from_file_to_predictions(task, tmp_path, capsys):
    text, measure, flags = FILES[task]
    data, model, out = (str(tmp_path / name) for name in ("data.txt", "m.mm", "out"))
    Path(data).write_text(text)
    assert detect(data, data)[0] == task
    code = main(["train", data, model, "--C", "1", "--json", *flags])
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
    assert main(["describe", model]) == 0
    assert json.loads(capsys.readouterr().out)["notes"]["task"] == task
    assert maxmargin.load(model).C == 1.0


def trained(tmp_path, text, *flags):
    data, model = str(tmp_path / "data.txt"), str(tmp_path / "m.mm")
    Path(data).write_text(text)
    assert main(["train", *flags, data, model, "--quiet"]) in (0, 4)
    return data, model


def predicted(model, data, capsys):
    capsys.readouterr()
    assert main(["predict", model, data]) == 0
    return capsys.readouterr().out


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
    bare.write_text("a/DT fox/NN sat/VBD\n\nPRP VBD\nXX\n")  # no trees, one per line
    out = predicted(model, str(bare), capsys).splitlines()
    assert out[0] == "( (S (NP (DT a) (NN fox)) (VP (VBD sat))))"
    assert out[2] == "()"
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
    assert json.loads(capsys.readouterr().out) == {"examples": 2, "accuracy": 1.0}
    data.write_text("1 1:1\ny 1:2\n")
    assert main(["evaluate", str(model), str(data), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"examples": 2, "accuracy": 0.5, "unseen_labels": 1}
    code, said = said_by(capsys, "report", model, data, "--out", tmp_path / "r")
    assert code == 3 and "y[1] is 'y', which is not among the 2 classes" in said


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


@pytest.mark.parametrize(
    "source, text", [("conll", CONLL), ("crfsuite", CRF), ("svm_hmm", HMM)]
)
def test_convert_there_and_back(source, text, tmp_path):
    first, there, back = (str(tmp_path / k) for k in ("a", "b", "c"))
    Path(first).write_text(text)
    assert main(["convert", first, there, "--from", source, "--to", "crfsuite"]) == 0
    X, y = read_crfsuite(there)
    assert [len(row) for row in y] == ([2, 2] if source != "conll" else [4, 4, 2])
    assert main(["convert", there, back, "--to", "svm_hmm", "--from", "crfsuite"]) == 0
    names = json.loads(Path(f"{back}.names.json").read_text())
    rows, tags = read_svm_hmm(back)
    assert [[names["labels"][k - 1] for k in row] for row in tags] == y
    named = [names["features"][j] for j in rows[0][[0]].indices]
    assert sorted(named) == sorted(X[0][0])
    assert main(["convert", first, "-", "--from", source, "--to", "svm_hmm"]) == 2
    if source == "conll":
        assert main(["convert", first, there, "--to", "conll"]) == 0
        assert Path(there).read_text().split() == text.split()


def test_detection_says_when_it_cannot_tell(tmp_path):
    path = tmp_path / "x"
    for text, found in [
        (HMM, None),
        (CRF, ("sequences", "crfsuite")),
        ("B\tw=a\tc=1\nO\tw=b\tc=2\n", ("sequences", "crfsuite")),
        ("a\tN\tB\nb\tV\tO\n", ("sequences", "conll")),
        ("\ufeff1 1:2\n2 1:3\n", ("multiclass", "svmlight")),
        (">P1;a\nx\nAC*\n", ("alignments", "alignment")),
        ("", None),
    ]:
        path.write_text(text)
        if found is None:
            with pytest.raises(InputError):
                detect(str(path), "x")
        else:
            assert detect(str(path), "x") == found
    path.write_text(HMM)
    assert detect(str(path), "train.letor") == ("ranking", "letor")


def test_names_agree_with_tasks():
    assert tuple(TASKS) == TASK_NAMES
    assert {f for t in TASKS.values() for f in t.formats} == set(FORMAT_NAMES)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "train" in script
    assert "max-iter" in script
    if shell == "bash":
        asked = (
            script + "COMP_WORDS=(maxmargin tr); COMP_CWORD=1; _maxmargin; "
            'echo "${COMPREPLY[@]}"; COMP_WORDS=(maxmargin train --max-i); COMP_CWORD=2; '
            '_maxmargin; echo "${COMPREPLY[@]}"'
        )
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
        assert done.stdout.split() == ["train", "--max-iter"]


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom maxmargin.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numba', 'numpy', 'scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "exit codes" in done.stdout


def test_report_writes_a_page(tmp_path, capsys):
    data, model = trained(tmp_path, svmlight())
    page = tmp_path / "page.html"
    assert main(["report", model, data, "--out", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>") or "<html" in text[:200].lower()
    assert main(["report", model, "--out", "-"]) == 0
    assert "<html" in capsys.readouterr().out.lower()
