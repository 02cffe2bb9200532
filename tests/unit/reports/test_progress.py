"""What a run shows while it goes on."""

import io
import sys

import numba
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from maxmargin import ChainSVM, KernelSVM, MulticlassSVM
from maxmargin.reports.progress import progress
from maxmargin.solvers import Status


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


def terminal(monkeypatch):
    """A terminal, without rich."""
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    return screen


def test_a_terminal_gets_one_line_that_is_rewritten(data, monkeypatch):
    screen = terminal(monkeypatch)
    model = MulticlassSVM(verbose=1).fit(*data)
    assert screen.getvalue().count("\n") == 1
    assert screen.getvalue().count("gap") == len(model.result_.history)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_line_ends_also_without_convergence(data, monkeypatch):
    screen = terminal(monkeypatch)
    MulticlassSVM(verbose=1, tol=1e-12, max_iter=2).fit(*data)
    assert screen.getvalue().endswith("\n")


def test_the_bar_fills_with_the_gap_on_a_log_scale(monkeypatch):
    screen = terminal(monkeypatch)
    show = progress(1e-4)
    row = {"iteration": 1, "seconds": 0.1, "primal": 2.0, "dual": 1.98, "planes": 3}
    show(row | {"gap": 1e-2})
    assert "[############............]" in screen.getvalue()
    show(row | {"gap": 1e-3, "seconds": 1.1})
    assert "1 s to go" in screen.getvalue()  # a quarter took a second


def test_a_terminal_is_told_that_loops_are_compiled(data, monkeypatch):
    screen = terminal(monkeypatch)

    def compiles(row):
        return numba.njit(lambda x: x < 0)(float(row["gap"]))

    MulticlassSVM(verbose=1, callbacks=compiles).fit(*data)
    assert "compiling loops, once for this machine: " in screen.getvalue()


def test_nothing_is_said_of_compiling_where_no_terminal_is(data, capsys):
    MulticlassSVM(
        verbose=1, callbacks=lambda row: numba.njit(lambda x: x < 0)(1.0)
    ).fit(*data)
    assert "compiling" not in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", ["exact", "sampled", "cpsp"])
def test_kernel_methods_are_watched_and_stopped(data, method):
    X, y = data[0], data[1] > 0
    rows = []

    def first(row):
        rows.append(float(row["gap"]))
        return True

    made = KernelSVM(kernel_method=method, n_basis=20, callbacks=first).fit(X, y)
    assert len(rows) == 1
    assert made.result_.status is Status.STOPPED
    assert made.score(X, y) > 0.5
    whole = KernelSVM(kernel_method=method, n_basis=20, callbacks=rows.append)
    assert whole.fit(X, y).result_.converged
    assert len(rows) > 2

    monitor = pytest.importorskip("sklearn.callback").ScoringMonitor
    accuracy = monitor(scoring="accuracy")
    KernelSVM(kernel_method=method, n_basis=20).set_callbacks(accuracy).fit(X, y)
    assert accuracy.get_logs().data[-1]["accuracy"] == whole.score(X, y)


def test_rich_draws_the_bar_where_it_is_installed(data, monkeypatch):
    pytest.importorskip("rich")
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    MulticlassSVM(verbose=1).fit(*data)
    assert "primal" in screen.getvalue()
    assert screen.getvalue().removesuffix("\x1b[?25h").endswith("\n")


def test_the_history_is_a_data_frame(data):
    pytest.importorskip("pandas")
    model = MulticlassSVM().fit(*data)
    frame = model.history_frame()
    assert list(frame.index) == list(range(1, model.result_.iterations + 1))
    assert (frame["dual"].diff().dropna() >= -1e-12).all()  # rounding apart
    assert frame["gap"].iloc[-1] == pytest.approx(model.result_.gap, rel=1e-6)


class Counting:
    """A callback of scikit-learn that stops at a step."""

    def __init__(self, last=None):
        self.last, self.seen, self.ended = last, [], []

    def setup(self, estimator, context):
        self.ended.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.ended.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "step":
            self.seen.append(fitted_estimator.result_.iterations)
            return fitted_estimator.result_.iterations == self.last
        self.ended.append("end fit")

    def teardown(self, estimator, context):
        self.ended.append("teardown")


def test_callbacks_of_scikit_learn(data):
    pytest.importorskip("sklearn.callback")
    watch = Counting()
    model = MulticlassSVM().set_callbacks(watch).fit(*data)
    assert watch.seen == list(range(1, model.result_.iterations + 1))
    assert [e for e in watch.ended if e != "begin step"] == [
        "setup", "begin fit", "end fit", "teardown"
    ]  # fmt: skip
    watch = Counting(last=2)
    with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
        MulticlassSVM(tol=1e-12).set_callbacks(watch).fit(*data)
    assert watch.seen == [1, 2]
    watch = Counting()
    with pytest.raises(ZeroDivisionError):
        MulticlassSVM(callbacks=lambda row: 1 / 0).set_callbacks(watch).fit(*data)
    assert watch.ended[-1] == "teardown"


def tokens_right(model, X, y):
    return {"right": model.score(X, y)}


def sentences():
    X = [[[w] for w in s.split()] for s in ("a b c", "b a", "c c b", "a c")]
    return X, [[w[0].upper() for w in x] for x in X]


def test_scores_are_monitored_step_by_step(data):
    monitor = pytest.importorskip("sklearn.callback").ScoringMonitor
    accuracy = monitor(scoring="accuracy")
    model = MulticlassSVM(tol=1e-6).set_callbacks(accuracy).fit(*data)
    rows = accuracy.get_logs().data
    assert [row["task_name"] for row in rows] == ["step"] * model.result_.iterations
    assert rows[-1]["accuracy"] == model.score(*data)
    assert len({row["accuracy"] for row in rows}) > 1

    kernel = KernelSVM(kernel_method="nystroem", n_basis=5).set_callbacks(accuracy)
    kernel.fit(*data)
    assert accuracy.get_logs().data[-1]["accuracy"] == kernel.score(*data)


def test_scores_of_hidden_labels_are_those_of_the_chain_they_complete():
    monitor = pytest.importorskip("sklearn.callback").ScoringMonitor
    X, y = sentences()
    right = monitor(scoring=tokens_right)
    ChainSVM().set_callbacks(right).fit(X, [[None, *y[0][1:]], *y[1:]])
    assert right.get_logs().data[-1]["right"] == 1.0  # the unknown one is not counted


def test_scores_are_monitored_within_a_search_over_a_pipeline():
    monitor = pytest.importorskip("sklearn.callback").ScoringMonitor
    X, y = sentences()
    right = monitor(scoring=tokens_right)
    chain = ChainSVM().set_callbacks(right)
    pipe = Pipeline([("same", FunctionTransformer()), ("chain", chain)])
    GridSearchCV(pipe, {"chain__C": [0.1, 1.0]}, cv=2).fit(X, y)
    rows = right.get_logs().data
    assert len({row["parent_task_id_path"] for row in rows}) == 5  # 2 x 2, and again
    assert all(0.0 <= row["right"] <= 1.0 for row in rows)


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
