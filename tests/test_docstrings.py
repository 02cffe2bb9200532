"""What docstrings say about parameters is true, and tools can read it."""

import inspect
import re

import pytest

import maxmargin

SECTION = re.compile(r"Parameters\n-+\n(.*?)(?=\n\n?[A-Z][a-z]+\n-+\n|\Z)", re.S)
ESTIMATORS = [name for name in maxmargin.__all__ if name.endswith(("SVM", "CV"))]


def parameters(cls):
    """Names in the section on parameters with what is said beside them."""
    out = {}
    for line in SECTION.search(inspect.getdoc(cls)).group(1).splitlines():
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            out |= dict.fromkeys(names.split(", "), kind)
    return out


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_those_of_the_signature(name):
    cls = getattr(maxmargin, name)
    told, real = parameters(cls), inspect.signature(cls).parameters
    assert set(told) == set(real)
    for key, kind in told.items():
        default = re.search(r"default=([^,]+)$", kind)
        if default is not None:
            value = eval(default.group(1), {"inf": float("inf")})
            assert value == real[key].default, key


@pytest.mark.parametrize("name", [n for n in maxmargin.__all__ if n != "__version__"])
def test_every_public_name_has_a_docstring(name):
    doc = inspect.getdoc(getattr(maxmargin, name))
    assert doc
    assert "\\\n" not in doc
