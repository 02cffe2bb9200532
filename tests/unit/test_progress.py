"""What a run shows while it goes on."""

import io
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import MulticlassSVM
from maxmargin.reports.progress import progress


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X @ rng.normal(size=(5, 3))).argmax(axis=1)


def test_verbose_writes_lines_on_standard_error(data, capsys):
    MulticlassSVM(verbose=1).fit(*data)
    said = capsys.readouterr()
    assert said.out == ""
    assert "primal" in said.err
    assert "gap" in said.err.splitlines()[-1]


def test_a_terminal_gets_one_line_that_is_rewritten(data, monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    model = MulticlassSVM(verbose=1).fit(*data)
    assert screen.getvalue().count("\n") == 1
    assert screen.getvalue().count("\r") == len(model.result_.history)


def test_the_bar_fills_with_the_gap_on_a_log_scale(monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    show = progress(1e-4)
    row = {"iteration": 1, "seconds": 0.1, "primal": 2.0, "dual": 1.98, "planes": 3}
    show(row | {"gap": 1e-2})
    assert "[############............]" in screen.getvalue()


def test_a_callback_sees_every_row_and_may_stop(data):
    rows = []

    def stop_at_second(row):
        rows.append(int(row["iteration"]))
        return row["iteration"] >= 2

    with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
        model = MulticlassSVM(tol=1e-12, callbacks=stop_at_second).fit(*data)
    assert rows == [1, 2]
    assert model.result_.status.name == "STOPPED"
    assert model.score(*data) > 0.5
