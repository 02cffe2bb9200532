"""What our compiler leaves out: machine code of inner loops, counts of references."""

import sys

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from maxmargin.core import loop
from maxmargin.core.compiled.compiler import EntryLibrary, InnerLibrary
from maxmargin.core.compiled.machine_code import LoopCache
from maxmargin.core.jit import INNER_LOOPS, inner_loop


@loop
def _largest(a):
    top = a[0]
    for k in range(1, len(a)):
        top = max(top, a[k])
    return top


@inner_loop
def _scaled(a, by, out):
    if by < 0.0:
        raise ValueError("a negative scale")
    for k in range(len(a)):
        out[k] = by * a[k]


@loop
def _scaled_top(pair, by):
    a, out = pair
    _scaled(a[1:], by, out)
    return _largest(out[: len(a) - 1])


@loop
def _sum_at(a, places):
    total = 0.0
    for k in places:
        total += a[k]
    return total


@loop
def _tail(a):
    return a[1:]


@loop
def _tail_and_new(a):
    part = _tail(a)
    return part, np.zeros(len(part)), len(part)


@loop
def _sum_of_new(a):
    made = _tail_and_new(a)
    return made[0].sum() + made[1].sum()


@loop
def _chosen(a, places):
    return a[places].sum()


def counted(dispatcher):
    """Whether its code counts references."""
    (made,) = dispatcher.overloads.values()
    return made.target_context.enable_nrt


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    """Nothing comes from a cache."""
    monkeypatch.setattr(LoopCache, "load_overload", lambda *asked: None)


def test_a_loop_is_called_by_python_and_by_loops():
    a = np.array([9.0, 1.0, 3.0, 2.0])
    out = np.zeros(4)
    assert _scaled_top((a, out), 2.0) == 6.0
    assert out.tolist() == [2.0, 6.0, 4.0, 0.0]
    name = f"{__name__}._largest"
    (inner,) = INNER_LOOPS[name].overloads.values()
    assert isinstance(inner.library, InnerLibrary)
    assert not _largest.overloads  # it has no entry point before Python calls it
    assert _largest(a) == 9.0
    (entry,) = _largest.overloads.values()
    assert isinstance(entry.library, EntryLibrary)


def test_machine_code_of_inner_loops_has_no_functions():
    _scaled_top((np.arange(3.0), np.zeros(3)), 1.0)
    for name in ("_scaled", "_largest"):
        for made in INNER_LOOPS[f"{__name__}.{name}"].overloads.values():
            names = {f.name for f in made.library._final_module.functions}
            assert made.fndesc.mangled_name in names  # to be linked
            assert not list(made.library._variables.functions)


def test_an_error_in_an_inner_loop_arrives():
    with pytest.raises(ValueError, match="a negative scale"):
        _scaled_top((np.arange(3.0), np.zeros(3)), -1.0)


def test_counts_are_left_out_where_no_array_is_made():
    a = np.arange(4.0)
    _largest(a), _scaled_top((a, np.zeros(4)), 1.0)
    _sum_at(a, np.array([0, 2]))
    for makes_none in (_largest, _scaled_top, _sum_at):
        assert not counted(makes_none)
    _tail(a), _tail_and_new(a), _sum_of_new(a), _chosen(a, np.array([0, 2]))
    for makes in (_tail, _tail_and_new, _sum_of_new, _chosen):
        assert counted(makes)


def test_nothing_leaks_and_views_live_on():
    _nrt_python.memsys_enable_stats()
    a = np.arange(4.0)

    def run():
        _scaled_top((a, np.zeros(4)), 1.0)
        assert _chosen(a, np.array([0, 2])) == _sum_at(a, np.array([0, 2])) == 2.0
        assert _sum_of_new(a) == 6.0
        tail, made, size = _tail_and_new(a.copy())
        np.full(1000, np.nan)  # would take the place of a copy that was freed too early
        assert tail.tolist() == [1.0, 2.0, 3.0] and size == 3
        assert not made.any()

    run()
    before, held = rtsys.get_allocation_stats(), sys.getrefcount(a)
    for _ in range(20):
        run()
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free > 0
    assert sys.getrefcount(a) == held
