"""What is made from the sources for a release: the conda recipe."""

import hashlib
import importlib.util
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
