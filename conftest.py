"""Which folders can be collected here: those of PyTorch and JAX need them."""

from importlib.util import find_spec
from pathlib import Path

ROOMS = Path(__file__).parent / "src" / "maxmargin"


def pytest_ignore_collect(collection_path):
    """Leave out doctests whose modules cannot be imported."""
    for package in ("torch", "jax"):
        if ROOMS / package in (collection_path, *collection_path.parents):
            return find_spec(package) is None or None
    return None
