"""Cases of `benchmarks/holes.py`: what was unsafe in 0.1.0 and is right here."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks.holes.__main__ import outcome  # noqa: E402
from benchmarks.holes.cases import CASES  # noqa: E402


@pytest.mark.parametrize(
    "name",
    [
        "an encoding that is killed",
        "two runs on one checkpoint",
        "edges of a network at 10**9",
        "rules for 10**9 labels",
    ],
)
def test_what_was_wrong_in_0_1_is_right(name):
    """Those whose tests elsewhere look at another side of them."""
    assert outcome(ROOT, name).startswith("right: ")


def test_a_crash_and_an_error_are_not_right():
    assert outcome(ROOT, "nothing of the kind").startswith("failed: ")


@pytest.mark.parametrize("name", CASES)
def test_each_hole_names_tests_that_are_there(name):
    file, _, test = CASES[name][1].partition("::")
    assert f"\ndef {test}(" in (ROOT / file).read_text()
