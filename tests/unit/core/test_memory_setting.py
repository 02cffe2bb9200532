"""The one memory setting and the environment variable that changes it."""

import subprocess
import sys

import pytest

from maxmargin.core import memory_setting

SHOW = """
from maxmargin import KernelSVM
from maxmargin.solvers import OneSlack
from maxmargin.solvers.n_slack import BlockDual
print(KernelSVM().memory, OneSlack().memory, BlockDual().memory)
"""


@pytest.mark.parametrize("text", ["much", "0", "-4e9", "nan", "16 GB"])
def test_what_is_no_number_of_bytes_is_refused(text):
    with pytest.raises(ValueError, match=r"MAXMARGIN_MEMORY=.* write 16e9 for 16 GB"):
        memory_setting({"MAXMARGIN_MEMORY": text})


def test_an_empty_variable_is_none():
    assert memory_setting({"MAXMARGIN_MEMORY": ""}) == memory_setting({}) == 4e9


def test_all_rooms_follow_the_variable(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_MEMORY", "1.5e9")
    out = subprocess.run(
        [sys.executable, "-c", SHOW], capture_output=True, text=True, check=True
    )
    assert out.stdout.split() == ["1500000000.0"] * 3
