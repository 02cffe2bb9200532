"""The code of the README runs as it stands."""

import re
import sys
import types
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md"]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{k}")
    for page in PAGES
    for k, block in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf8"), re.S)
    )
]


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("readme_block")  # a real module: its classes pickle
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(block, "README.md", "exec"), module.__dict__)


def test_first_two_bash_blocks_are_the_job_and_the_tests():
    text = (ROOT / "README.md").read_text(encoding="utf8")
    first, second = re.findall(r"```bash\n(.*?)```", text, re.S)[:2]
    assert "maxmargin demo" in first
    assert "pytest" in second
