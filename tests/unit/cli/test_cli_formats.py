"""The command line: formats told apart and converted, names, completion, help."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from small.data import CONLL, CRF, HMM

from maxmargin.cli.errors import InputError
from maxmargin.cli.main import main
from maxmargin.cli.tasks.detect import detect
from maxmargin.cli.tasks.names import FORMAT_NAMES, TASK_NAMES
from maxmargin.cli.tasks.table import TASKS
from maxmargin.io.sequences import read_crfsuite, read_svm_hmm


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
        ("a\tN\tB\nb\tV\tO\nc\tO\n", ("sequences", "conll")),  # a cell is missing
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


def test_unknown_letters_of_proteins_are_counted(tmp_path, capsys):
    protein = "ACDEFGHIKLMNPQRSTVWY"
    rows = [f">a\n{protein}X\n>b\n{protein[:9]}..{protein[11:]}x\n"] * 2
    data, model = tmp_path / "train.fasta", str(tmp_path / "m.mm")
    data.write_text("".join(rows))
    train = ["train", "alignments", str(data), model, "--C", "10", "--format", "pairs"]
    assert main(train) == 0
    assert "2 unknown letters (X 1, x 1)" in capsys.readouterr().err
    test = tmp_path / "test.fasta"
    test.write_text(">c\nACDXE\n>d\nACDE\n")
    assert main(["predict", model, str(test)]) == 0
    said = capsys.readouterr()
    assert "X 1" in said.err and ">c\nACDXE\n>d\nACD-E" in said.out
    assert main([*train, "--set", "unknown=error", "--quiet"]) == 0
    assert main(["predict", model, str(test)]) == 0  # X is a letter of this model
    test.write_text(">c\nACDBE\n>d\nACDE\n")
    assert main(["predict", model, str(test)]) != 0
    assert "position 3: 'B' is not a letter" in capsys.readouterr().err
