"""The data sets: where each came from, and whether the files at hand are those files.

`data.json` lists, for each folder under MAXMARGIN_DATA, its public origin and the
SHA-256 of every file the experiments read, so that a table made elsewhere can be known
to rest on the same bytes. Nothing is downloaded: licences differ, and several sets were
cut or converted after download, as their READMEs say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CATALOGUE = Path(__file__).with_name("data.json")


class Found(NamedTuple):
    """What is at hand of one data set."""

    name: str
    state: str  # "as listed", "missing" or "differs: FILE, .."
    origin: str


def check(folder: Path) -> Iterator[Found]:
    """Compare every data set under `folder` with the list."""
    for name, entry in json.loads(CATALOGUE.read_text()).items():
        yield Found(name, _state(folder / name, entry["files"]), entry["origin"])


def _state(folder: Path, files: dict[str, str]) -> str:
    if not folder.is_dir():
        return "missing"
    other = [file for file, digest in files.items() if _digest(folder / file) != digest]
    return "differs: " + ", ".join(other) if other else "as listed"


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()
