"""Before anything is compiled: a cache of its own for each state of the sources.

Numba's disk cache watches the calling file only, so a cache that outlives an edit can
be stale. A folder named by the hash of `src` cannot, and repeated runs are warm.
"""

import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _source_hash():
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


_base = os.environ.get("NUMBA_CACHE_DIR") or tempfile.gettempdir()
_cache = Path(_base) / f"maxmargin-tests-{_source_hash()}"
if "PYTEST_XDIST_WORKER" not in os.environ:  # workers inherit it
    os.environ["NUMBA_CACHE_DIR"] = str(_cache)
if "numba" in sys.modules:
    sys.modules["numba"].config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

settings.register_profile(
    "maxmargin",
    deadline=None,
    derandomize="MAXMARGIN_EXPLORE" not in os.environ,  # set it to try new instances
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("maxmargin")

if str(ROOT / "tests") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests"))


def pytest_sessionfinish():
    """Forget the caches of sources that have not been tested for a week."""
    for old in Path(_base).glob("maxmargin-tests-*"):
        if old != _cache and time.time() - old.stat().st_mtime > 7 * 86400:
            for file in old.rglob("*.nb[ic]"):
                file.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def data():
    """Folder with the data sets; tests that need it are skipped without it."""
    path = Path(os.environ.get("MAXMARGIN_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip("no data sets here: set MAXMARGIN_DATA to their folder")
    return path
