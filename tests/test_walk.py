"""The walks of `tests/walk.py`: short, and from room to room in one direction."""

import warnings

import pytest
from walk import Function, Walk, walk, walks


@pytest.fixture(scope="module")
def chain() -> dict[str, Walk]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(walks("ChainSVM"))


@pytest.mark.parametrize(("call", "most"), [("fit", 25), ("predict", 12)])
def test_a_call_crosses_few_files(chain, call, most):
    files = chain[f"ChainSVM.{call}"].files
    assert len(files) <= most, list(files)


@pytest.mark.parametrize("call", ["fit", "predict"])
def test_rooms_do_not_call_each_other_both_ways(chain, call):
    assert chain[f"ChainSVM.{call}"].both_ways() == []


def test_what_is_called_is_seen_in_order():
    from maxmargin.io.sequences import ner

    found = walk(lambda: ner([("Ann", "NP"), ("ran", "V")]))
    assert list(found.files) == ["io/sequences/templates.py"]
    assert next(iter(found.functions)).name == "ner"
    assert {f.room for f in found.functions} == {"io"} and not found.both_ways()


def test_both_ways_are_seen():
    a, b = Function("solvers/a.py", "f", 1), Function("kernels/b.py", "g", 1)
    found = Walk({a: 0, b: 1})
    found.calls[a, b] += 1
    assert found.both_ways() == found.both_ways("file") == []
    found.calls[b, a] += 1
    assert found.both_ways() == [("kernels", "solvers")]
    assert found.both_ways("file") == [("kernels/b.py", "solvers/a.py")]


def test_modules_of_core_are_rooms():
    assert Function("core/engine.py", "f", 1).room == "core.engine"
    assert Function("plots.py", "f", 1).room == "plots"
