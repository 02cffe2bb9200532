"""What is made from the sources for a release: the conda recipe."""

import hashlib
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def recipe():
    path = ROOT / "packaging" / "conda" / "recipe.py"
    if not path.exists():
        pytest.skip("the sdist has no packaging folder")
    spec = importlib.util.spec_from_file_location("recipe", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.recipe


def test_the_recipe_has_the_version_and_the_checksum(recipe, tmp_path):
    sdist = tmp_path / "maxmargin-0.9.1.tar.gz"
    sdist.write_bytes(b"contents")
    text = recipe(sdist)
    assert '{% set version = "0.9.1" %}' in text
    assert f"  sha256: {hashlib.sha256(b'contents').hexdigest()}\n" in text
    assert "0.0.0" not in text and "0" * 64 not in text


def test_other_files_are_refused(recipe, tmp_path):
    wheel = tmp_path / "maxmargin-0.9.1-py3-none-any.whl"
    wheel.write_bytes(b"")
    with pytest.raises(ValueError, match="not the name of an sdist"):
        recipe(wheel)


def test_the_recipe_needs_what_the_package_needs(recipe):
    """Numba aside, which is pinned to the version that compiled the machine code."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    needs = dict(
        re.fullmatch("([a-z-]+)(>=.*)", need).groups()
        for need in project["project"]["dependencies"]
    )
    assert needs.pop("numba")
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf8")
    for name, versions in needs.items():
        assert text.count(f"    - {name} {versions}\n") == 2, f"{name}: host and run"
    (hatchling,) = project["build-system"]["requires"]
    assert f"    - {hatchling.replace('>', ' >', 1)}\n" in text
    assert "    - numba\n" in text and 'pin_compatible("numba", min_pin="x.x.x"' in text
