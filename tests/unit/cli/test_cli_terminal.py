"""What people see in a terminal: the overview, `describe`, `new`, completion, the bar."""

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from small.models import MODELS

from maxmargin.cli.main import main
from maxmargin.reports import progress as module


def test_alone_it_shows_what_can_be_done(capsys):
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert "maxmargin serve ner.mm" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_describe_is_for_people_and_json_for_programs(tmp_path, capsys):
    path = tmp_path / "chain.mm"
    model, _ = MODELS["chain"]()
    model.save(path, notes={"task": "sequences", "format": "conll", "examples": 3})
    assert main(["describe", str(path)]) == 0
    rows = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert rows["model"] == "ChainSVM" and rows["C"] == "1"
    assert rows["labels"] == "3: L, O, P"
    assert rows["training"].startswith("converged")
    assert main(["describe", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "ChainSVM"


@pytest.mark.parametrize("name", ["own", "path_cv", "kernel", "motif"])
def test_describe_of_other_models(name, tmp_path, capsys):
    path = tmp_path / "model.mm"
    MODELS[name]()[0].save(path)
    assert main(["describe", str(path)]) == 0
    assert capsys.readouterr().out.startswith("model ")


def test_a_new_structure_runs_as_it_is(tmp_path, capsys):
    path = tmp_path / "structure.py"
    assert main(["new", str(path)]) == 0
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "converged" in done.stdout and "of the new pairs are right" in done.stdout
    path.write_text("mine")
    assert main(["new", str(path)]) == 2
    assert "there already" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert main(["new", str(tmp_path / "structure")]) == 2


def test_values_of_flags_are_completed(capsys):
    assert main(["completion", "bash"]) == 0
    asked = capsys.readouterr().out + (
        "COMP_WORDS=(maxmargin train --penalty s); COMP_CWORD=3; _maxmargin; "
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    assert done.stdout.split() == ["squared", "summed"]
    assert main(["completion", "fish"]) == 0
    assert "-xa 'linear squared hard summed'" in capsys.readouterr().out


@pytest.mark.parametrize("rich", [True, False])
def test_the_bar_fits_60_columns(rich, monkeypatch):
    if rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    size = os.terminal_size((60, 24))
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: size)
    module.status("reading " + "a" * 100)
    shown = module.progress(1e-3)
    row = {"iteration": 123, "primal": 123.456, "dual": 100.0, "planes": 12345}
    shown(row | {"gap": 0.123, "seconds": 1.0})
    shown(row | {"gap": 0.0123, "seconds": 1000.0})
    shown.say(module.compiling_line())
    shown.close()
    text = screen.getvalue()
    assert "compiling" in text and (rich or "min to go" in text)
    lines = text.replace("\x1b[2K", "").replace("\n", "\r").split("\r")
    plain = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line) for line in lines]
    assert max(map(len, plain)) <= 60


def test_messages_do_not_stick_to_the_status_line(tmp_path, monkeypatch):
    """They also call a packed file by its name, not by that of its unpacked copy."""
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    path = tmp_path / "iob1.conll.gz"
    path.write_bytes(gzip.compress(b"Ana I-PER\nvive O\n\nEva I-PER\nLima B-PER\n\n"))
    assert main(["train", str(path), str(tmp_path / "model.mm"), "-c", "5"]) == 0
    assert main(["predict", str(tmp_path / "model.mm"), str(path)]) == 0
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())
    assert shown.count(f"maxmargin: {path}: ") == 2, shown
    before = [shown[: m.start()] for m in re.finditer("maxmargin: ", shown)]
    assert len(before) >= 3 and "reading" in shown
    for text in before:
        assert not text or text[-1] in "\r\n", text[-60:]
