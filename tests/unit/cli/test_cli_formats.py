"""The command line: formats told apart and converted, names, completion, help."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from small.data import CONLL, CRF, HMM

import maxmargin
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


SEARCHES = [
    {"native": "ABBA", "candidates": ["CCAC", "ABA"], "homolog": 1, "id": "one"},
    {"native": "BAB", "candidates": ["BA", "CAC"], "homolog": 0},
]


def written(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def test_homologs_from_a_file_to_a_page(tmp_path, capsys):
    data, model = written(tmp_path / "d.jsonl", SEARCHES), str(tmp_path / "m.mm")
    assert main(["train", data, model, "--quiet"]) == 0
    assert main(["evaluate", model, data, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"searches": 2, "first": 1.0, "mean_reciprocal_rank": 1.0}
    bare = [{k: v for k, v in record.items() if k != "homolog"} for record in SEARCHES]
    new = written(tmp_path / "new.jsonl", bare)
    assert main(["predict", model, new]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["homolog"] for record in found] == [1, 0]
    assert found[0]["id"] == "one"
    X = [(record["native"], record["candidates"]) for record in SEARCHES]
    scores = maxmargin.load(model).candidate_scores(X)
    assert [record["scores"] for record in found] == [row.tolist() for row in scores]
    assert main(["report", model, data, "--out", str(tmp_path / "page.html")]) == 0
    capsys.readouterr()
    assert main(["evaluate", model, new]) == 3
    assert "search 0 has no homolog" in capsys.readouterr().err


def test_the_place_of_the_homolog_counts(tmp_path, capsys):
    data, model = written(tmp_path / "d.jsonl", SEARCHES), str(tmp_path / "m.mm")
    assert main(["train", "homology", data, model, "--quiet"]) == 0
    wrong = [{**SEARCHES[0], "homolog": 0}, SEARCHES[1]]
    assert main(["evaluate", model, written(tmp_path / "w", wrong), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["first"] == 0.5 and told["mean_reciprocal_rank"] == 0.75


@pytest.mark.parametrize(
    "change, why",
    [
        ({"homolog": 2}, "one of the 2 candidates"),
        ({"homolog": True}, "one of the 2 candidates"),
        ({"homolog": "1"}, "one of the 2 candidates"),
        ({"candidates": []}, "not a list of one or more"),
        ({"candidates": "ABA"}, "not a list of one or more"),
        ({"candidates": ["ABA", ""]}, "'' is not a sequence of letters"),
        ({"native": None}, "None is not a sequence of letters"),
    ],
)
def test_searches_that_are_none(tmp_path, capsys, change, why):
    data = written(tmp_path / "d", [SEARCHES[1], {**SEARCHES[0], **change}])
    assert main(["train", "homology", data, str(tmp_path / "m")]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "line 2" in said and why in said
