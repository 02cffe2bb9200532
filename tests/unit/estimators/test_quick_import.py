"""scikit-learn is imported without scipy.stats and pandas, and nobody notices."""

import json
import subprocess
import sys

import pytest

from maxmargin.estimators.quick_import import Deferred, deferred


def told(code):
    """What a script prints in a new process."""
    command = [sys.executable, "-W", "error", "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_importing_and_predicting_needs_neither_pandas_nor_scipy_stats():
    code = """
import json, sys
from maxmargin import ChainSVM, load
names = ("scipy.stats", "scipy.optimize", "pandas", "matplotlib", "distributed")
print(json.dumps([name for name in names if name in sys.modules]))
"""
    assert told(code) == []


def test_they_can_be_imported_and_used_afterwards():
    pytest.importorskip("pandas")
    code = """
import json
from maxmargin import MulticlassSVM
import sklearn.utils.fixes as fixes
own = str(fixes.pd.Series([1.0]).sum())  # as a function of scikit-learn would
import pandas as pd
import scipy.stats
from scipy.stats import norm
mode = fixes._mode([1, 2, 2]).mode
model = MulticlassSVM().fit(pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}), [0, 1])
print(json.dumps([own, type(pd).__name__, type(scipy.stats).__name__,
                  float(norm.cdf(0.0)), int(mode[0]), list(model.feature_names_in_)]))
"""
    assert told(code) == ["1.0", "module", "module", 0.5, 2, ["a", "b"]]


def test_what_has_been_imported_before_stays():
    pytest.importorskip("pandas")
    code = """
import json, sys
import pandas, scipy.stats
before = [id(sys.modules[name]) for name in ("pandas", "scipy.stats")]
from maxmargin import MulticlassSVM
import sklearn.utils.fixes as fixes
after = [id(sys.modules[name]) for name in ("pandas", "scipy.stats")]
print(json.dumps([before == after, fixes.pd is pandas]))
"""
    assert told(code) == [True, True]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `slow_one` that is not imported yet."""
    folder = tmp_path / "slow_one"
    folder.mkdir()
    (folder / "__init__.py").write_text("answer = 42\n")
    (folder / "part.py").write_text("answer = 43\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "slow_one"
    for name in ("slow_one", "slow_one.part"):
        sys.modules.pop(name, None)


def test_asked_for_an_attribute_it_is_imported(package):
    with deferred((package,)):
        import slow_one

        assert isinstance(slow_one, Deferred)
        assert slow_one.answer == 42
        assert not isinstance(sys.modules[package], Deferred)
    assert sys.modules[package].answer == 42


def test_parts_of_it_can_be_imported_in_the_block(package):
    with deferred((package,)):
        from slow_one.part import answer

        assert answer == 43
    assert not isinstance(sys.modules[package], Deferred)


def test_not_asked_it_is_as_if_nobody_had_imported_it(package):
    with deferred((package,)):
        import slow_one as early
    assert package not in sys.modules
    import slow_one

    assert not isinstance(slow_one, Deferred) and early.answer == slow_one.answer


def test_an_unknown_attribute_and_a_package_that_is_absent(package):
    with deferred((package, "no_such_package")):
        import slow_one

        with pytest.raises(ImportError):
            import no_such_package  # noqa: F401
        with pytest.raises(AttributeError, match="nothing"):
            _ = slow_one.nothing
