"""The conda recipe of a release: `meta.yaml` with the version and checksum of an sdist.

python packaging/conda/recipe.py dist/maxmargin-0.2.0.tar.gz > meta.yaml
"""

import hashlib
import re
import sys
from pathlib import Path

RECIPE = Path(__file__).with_name("meta.yaml")


def recipe(sdist: Path) -> str:
    """The recipe for this archive."""
    named = re.fullmatch(r"maxmargin-([0-9][0-9a-z.]*)\.tar\.gz", sdist.name)
    if named is None:
        raise ValueError(f"{sdist.name} is not the name of an sdist of maxmargin")
    text = RECIPE.read_text(encoding="utf-8")
    checksum = hashlib.sha256(sdist.read_bytes()).hexdigest()
    for old, new in (
        ('version = "0.0.0"', f'version = "{named[1]}"'),
        (f"sha256: {'0' * 64}", f"sha256: {checksum}"),
    ):
        if text.count(old) != 1:
            raise ValueError(f"{RECIPE.name} must have one line with {old!r}")
        text = text.replace(old, new)
    return text


if __name__ == "__main__":
    sys.stdout.write(recipe(Path(sys.argv[1])))
