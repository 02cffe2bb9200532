"""Which folders can be collected here: that of PyTorch needs PyTorch."""

from importlib.util import find_spec
from pathlib import Path

NEEDS_TORCH = Path(__file__).parent / "src" / "maxmargin" / "torch"


def pytest_ignore_collect(collection_path):
    """Leave out doctests whose modules cannot be imported."""
    if NEEDS_TORCH in (collection_path, *collection_path.parents):
        return find_spec("torch") is None or None
    return None
