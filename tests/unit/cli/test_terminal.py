"""What the command line prints fits the window of a terminal."""

import io

import pytest

from maxmargin.cli.main import main
from maxmargin.cli.parser import OVERVIEW
from maxmargin.cli.terminal import folded, table_lines


class Window(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self):
        return True


def test_lines_are_folded_in_a_window_only(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = "training     converged after many iterations " * 4
    lines = folded(text, Window(), " " * 13).splitlines()
    assert len(lines) > 1 and max(map(len, lines)) <= 60
    assert all(line.startswith(" " * 13) for line in lines[1:])
    assert folded(text, io.StringIO()) == text


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize(
    "command",
    [[], ["train"], ["predict"], ["evaluate"], ["report"], ["convert"], ["export"],
     ["describe"], ["new"], ["serve"], ["demo"], ["warmup"], ["completion"]],
)  # fmt: skip
def test_help_fits(monkeypatch, capsys, columns, command):
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns


def test_the_overview_fits_in_60_columns():
    assert max(map(len, OVERVIEW.splitlines())) <= 60


def test_a_command_that_was_meant_is_suggested(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["trane", "x"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "there is no command 'trane'; did you mean 'train'?" in told
    assert "Traceback" not in told


def test_tables_are_as_wide_as_their_cells():
    rows = {
        "FOOD": {"f1": "1.0000", "support": "30"},
        "SHOP": {"f1": "0.5", "support": "2"},
    }
    assert table_lines("spans", rows) == [
        "spans             f1  support",
        "FOOD          1.0000       30",
        "SHOP             0.5        2",
    ]
    assert table_lines("errors", {"": {"missed": "3", "wrong_type": "10"}}) == [
        "errors",
        "  missed            3",
        "  wrong_type       10",
    ]
