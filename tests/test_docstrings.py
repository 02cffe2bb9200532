"""What docstrings say about parameters is true, in `help` and on the API page."""

import inspect
import json
import pydoc
import re
from functools import cache
from pathlib import Path

import pytest

import maxmargin
from maxmargin.estimators import CorrelationSVM
from maxmargin.estimators.fitting.parameters import SHARED, describe_parameters, shown

ROOT = Path(__file__).parents[1]
ESTIMATORS = [
    getattr(maxmargin, n) for n in maxmargin.__all__ if n.endswith(("SVM", "CV"))
]
ESTIMATORS = list(dict.fromkeys([*ESTIMATORS, CorrelationSVM]))
NAMES = ROOT / "docs" / "extensions" / "names.json"
FIRST = json.loads(NAMES.read_text(encoding="utf8"))["0.1.0"]
each = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
SECTION = re.compile(r"Parameters\n-+\n(.*?)(?=\n\n?[A-Z][a-z]+\n-+\n|\Z)", re.S)
LEFT_OUT = re.compile(r"\bAs (in|for|there)\b")


def described(doc):
    """Kind and description by parameter, read without the code that wrote them."""
    out = {}
    for line in SECTION.search(doc).group(1).splitlines():
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            out[name] = kind, []
        else:
            out[name][1].append(line.strip())
    return {name: (kind, " ".join(text).strip()) for name, (kind, text) in out.items()}


@each
def test_help_describes_every_parameter_with_its_default(cls):
    entries = described(inspect.getdoc(cls))
    real = inspect.signature(cls).parameters
    assert list(entries) == list(real)
    for name, (kind, text) in entries.items():
        assert len(text) > 10 and not LEFT_OUT.search(text), name
        default = real[name].default
        if default is inspect.Parameter.empty:
            assert "default" not in kind and "optional" not in kind
        elif default is None:
            assert kind.endswith((", optional", ", default=None")), name
        else:
            written = re.search(r", default=(.*)$", kind).group(1)
            if "..." in written:
                assert (str(default[0]) in written) and (str(default[-1]) in written)
            else:
                assert eval(written, {"inf": float("inf")}) == default, name
    page = pydoc.plain(pydoc.render_doc(cls))
    assert all(f"{name} : {kind}" in page for name, (kind, _) in entries.items())


def noted(cls, name, entries):
    """The description, with the note that parameters get which 0.1.0 did not have."""
    known = FIRST.get(cls.__name__)
    new = known is not None and name not in known
    return entries[name][1] + (" *New in version 0.2.*" if new else "")


@cache
def api(package="maxmargin.estimators"):
    """The package as mkdocstrings reads it, with the options of mkdocs.yml."""
    griffe = pytest.importorskip("griffe")
    options = (ROOT / "mkdocs.yml").read_text(encoding="utf8")
    paths = re.search(r"extensions: \[(.*)\]", options).group(1).split(", ")
    extensions = griffe.load_extensions(*(ROOT / path for path in paths))
    loader = griffe.GriffeLoader(
        extensions=extensions, search_paths=[ROOT / "src"], docstring_parser="numpy"
    )
    return loader.load(package)


@each
def test_the_api_page_says_the_same(cls):
    read = api()[cls.__module__.removeprefix("maxmargin.estimators.")][cls.__name__]
    sections = read.docstring.parse("numpy", warnings=False)
    listed = next(s.value for s in sections if s.kind.value == "parameters")
    entries = described(inspect.getdoc(cls))
    assert [p.name for p in listed] == list(entries)
    real = inspect.signature(cls).parameters
    for p in listed:
        assert " ".join(p.description.split()) == noted(cls, p.name, entries)
        default = real[p.name].default
        written = None if default is inspect.Parameter.empty else shown(default)
        assert p.default == written, p.name


def functions(parent):
    """Functions and methods of a package as griffe read it."""
    for member in parent.members.values():
        if member.is_alias:
            continue
        if member.is_function:
            yield member
        elif member.is_module or member.is_class:
            yield from functions(member)


def test_the_api_page_shows_the_defaults_of_functions():
    """Also of parameters that share a description, as in "n_train, n_test : int"."""
    api()  # says why, if griffe is missing
    import griffe

    seen = 0
    for function in functions(api("maxmargin")):
        real = {p.name: p.default for p in function.parameters}
        sections = (
            function.docstring.parse("numpy", warnings=False)
            if function.docstring
            else []
        )
        for section in sections:
            if section.kind is griffe.DocstringSectionKind.parameters:
                for p in section.value:
                    default = real[p.name.lstrip("*")]
                    written = None if default is None else str(default)
                    assert p.default == written, f"{function.path}: {p.name}"
                    seen += written is not None
    assert seen > 100


def test_what_is_not_described_is_refused():
    class Small:
        """Small.

        Parameters
        ----------
        size : int
            How small.
        """

        def __init__(self, size=1, depth=2):
            pass

    with pytest.raises(
        TypeError, match="Small does not describe its parameter 'depth'"
    ):
        describe_parameters()(Small)
    Small.__doc__ = Small.__doc__.replace("size", "depth, width")
    with pytest.raises(TypeError, match="which it does not take"):
        describe_parameters()(Small)


def test_every_shared_description_is_used():
    taken = {name for cls in ESTIMATORS for name in inspect.signature(cls).parameters}
    assert set(SHARED) <= taken


@pytest.mark.parametrize(
    "name", [n for n in maxmargin.__all__ if not n.startswith("__")]
)
def test_every_public_name_has_a_docstring(name):
    doc = inspect.getdoc(getattr(maxmargin, name))
    assert doc
    assert "\\\n" not in doc
