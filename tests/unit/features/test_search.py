"""RegexSearch by regular expressions: what `re` finds, in a time that is bounded."""

import io
import pickle
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import ChainSVM, ModelFileError, load, save
from maxmargin.features import Column, Templates
from maxmargin.features.regex import translate
from maxmargin.features.search import RegexSearch, program_of
from maxmargin.features.steps import Find

EXPONENTIAL = ["(a+)+$", "(a|aa)+$", ".?" * 60 + "x", "(?:a*)*b", "(?:(?:a?){9}){9}c"]
LOOKING = [
    "(?=(?:.*a){10})b",
    "(?:(?=.*b)a)*c",
    "(?=(?=(?=.*b).*b).*b)c",
    "(?!(a+)+b)a*c",
]
ITEMS = ["a", "b", ".", "[ab]", "[^a]", r"\w", r"\d", r"\b", "^", "$", r"\B", "(?!b)"]
ITEMS += ["(?=.a)", "(?<=a)", "(?<!b)", "(?i:A)", r"\s", "-"]
ITEMS += ["(?=.*b)", "(?!.*a)", "(?=b|a-)", "(?<=ab)", "(?<!(?=.b)a)", r"(?=\w(?!a))"]


def spans(pattern, s):
    """Where `re` and the program find the first match."""
    expected = re.search(pattern, s)
    program = program_of(re._parser.parse(pattern))
    return expected and expected.span(), program.first(s)


def repeated(inner):
    loops = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?"])
    return st.builds("(?:{}){}".format, inner, loops)


def composed(inner):
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        several.map("".join),
        several.map("|".join).map("(?:{})".format),
        repeated(inner),
    )


patterns = st.recursive(st.sampled_from(ITEMS), composed, max_leaves=8)
strings = st.text("ab1- \nA", max_size=9)


@settings(max_examples=400, deadline=None)
@given(patterns, st.lists(strings, min_size=1, max_size=8))
def test_the_program_finds_what_re_finds(pattern, words):
    for word in words:
        expected, found = spans(pattern, word)
        if "(?:" in pattern and expected and found and expected != found:
            # `re` ends a loop where its body has matched nothing, which may leave it
            # with another end; where the match begins is the same.
            assert re.match(pattern, "") and expected[0] == found[0]
        else:
            assert found == expected


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", ".", r"\d", r"\a", r"\U", r"\p", r"\s"]),
             min_size=1, max_size=6),
    st.lists(st.sampled_from(["", "*", "?"]), min_size=6, max_size=6),
    st.sampled_from(["", "^"]), st.sampled_from(["", "$"]), strings,
)  # fmt: skip
def test_expressions_of_wapiti_as_re_finds_them(items, marks, begin, end, word):
    body = "".join(a + b for a, b in zip(items, marks, strict=False))
    expected, found = spans(translate(begin + body + end), word)
    assert found == expected


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_no_expression_takes_exponential_time(pattern):
    search, begin = RegexSearch(pattern), time.process_time()
    assert search("a" * 200) in (None, "a" * 200)
    assert search("a" * 200 + "!") is None
    assert time.process_time() - begin < 5.0


@pytest.mark.parametrize("pattern", [*EXPONENTIAL, *LOOKING])
def test_the_time_grows_with_the_length_of_the_string(pattern):
    search, begin = RegexSearch(pattern), time.process_time()
    assert search("a" * 1000 + "!") is None
    assert time.process_time() - begin < 5.0


def test_quick_expressions_are_left_to_re():
    search = RegexSearch("[0-9]+$")
    assert search("B-747") == "747"
    assert search._made is None  # no program was needed
    assert search.each(["a1", "b", "9" * 500]) == ["1", None, "9" * 500]


def test_a_search_can_be_pickled():
    assert pickle.loads(pickle.dumps(RegexSearch("(a+)+$")))("xaa") == "aa"


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "backreferences"),
        (r"(a)?(?(1)b|c)", "conditions on groups"),
        ("(" * 5000 + "a" + ")" * 5000, "too many parts within parts"),
        ("(?:(?:a{99}){99}){99}", "too large"),
        ("a" * 200_000, "too long"),
        ("(", "not a regular expression"),
    ],
)
def test_expressions_without_a_bound_are_refused(pattern, why):
    with pytest.raises(ValueError, match=why):
        Find(pattern)


@pytest.mark.parametrize("pattern", ["(?>a+)b", "a++b"])
def test_atomic_groups_are_refused(pattern):
    with pytest.raises(ValueError, match="atomic groups"):
        Find(pattern)


def model_file(pattern):
    """A model whose template has another expression than it was trained with."""
    model = ChainSVM(C=1.0, features=Templates([Column(), Column().find("Q")]))
    model.fit([["aa", "b"], ["b"]], [["x", "y"], ["y"]])
    for atom in _steps(model):
        object.__setattr__(atom, "pattern", pattern)
    out = io.BytesIO()
    save(model, out)
    return io.BytesIO(out.getvalue())


def _steps(node, seen=None):
    """All `Find` steps of a model."""
    seen = set() if seen is None else seen
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, Find):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from _steps(value, seen)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _steps(value, seen)
    elif hasattr(node, "__dict__"):
        yield from _steps(vars(node), seen)


def test_a_hostile_expression_in_a_model_file_does_not_hang_prediction():
    model, begin = load(model_file("(a+)+$")), time.process_time()
    assert len(model.predict([["a" * 60 + "!"]])[0]) == 1
    assert time.process_time() - begin < 5.0


def test_an_expression_without_a_bound_in_a_model_file_is_refused():
    with pytest.raises(ModelFileError, match="backreferences"):
        load(model_file(r"(.)\1"))
