"""Objects to model files and back, for the classes that the caller knows.

`maxmargin.save` and `maxmargin.load` hold the table of classes; see
`maxmargin.estimators.saving.model_files`.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import IO, Any

import numpy as np

from maxmargin.io.model_file.archive import (
    MOST_BYTES,
    Archive,
    ModelFileError,
    write_archive,
)
from maxmargin.io.model_file.codec import Decoder, Encoder

Place = str | os.PathLike[str] | IO[bytes]
PACKAGES = ("maxmargin", "numpy", "scipy", "numba", "scikit-learn")


def write_model(
    value: Any,
    place: Place,
    tag: Callable[[type], str | None],
    notes: Mapping[str, Any],
    level: int = 6,
    check: Callable[[Any], None] = lambda value: None,
) -> None:
    """Write one object with all it holds; `notes` are JSON that travels along.

    `check` may refuse the object after it was encoded, before anything is written.
    """
    encoder = Encoder(tag)
    root = encoder.node(value)
    check(value)
    head = {"kind": type(value).__name__, "notes": dict(notes), "root": root}
    write_archive(place, head, encoder.arrays, level)


def read_model(
    place: Place,
    classes: Callable[[str], type],
    own: Mapping[str, Any],
    most: int = MOST_BYTES,
    check: Callable[[Any], None] = lambda value: None,
    later: Callable[[Any], bool] = lambda value: False,
) -> tuple[Any, dict[str, Any]]:
    """The object in a file, and its notes. Whatever is wrong is a ModelFileError.

    `check` is called with the object and raises whatever it likes; it validates the
    objects for which `later` is true, which depend on others in the file.
    """
    with _named(place):
        archive = Archive(place, most)
        decoder = Decoder(classes, archive.array, own, later)
        try:
            value = decoder.value(archive.manifest["root"])
            check(value)
            notes = archive.manifest["notes"]
            if not isinstance(notes, dict):
                raise ModelFileError("the notes are not a mapping")
            return value, notes
        except ModelFileError:
            raise
        except Exception as error:  # whatever wrong fields may lead to
            raise ModelFileError(
                f"it does not hold a whole model ({type(error).__name__}: {error})"
            ) from error
        finally:
            archive.close()


@contextmanager
def _named(place: Place) -> Iterator[None]:
    """Say which file it is that cannot be read."""
    try:
        yield
    except ModelFileError as error:
        name = place if isinstance(place, str | os.PathLike) else "the model file"
        raise ModelFileError(f"{name} cannot be read as a model: {error}") from error


def describe(place: Place, most: int = MOST_BYTES) -> dict[str, Any]:
    """What a file says about itself: kind, version, notes, arrays. Makes no object."""
    with _named(place):
        archive = Archive(place, most)
        archive.close()
        manifest = archive.manifest
    return {
        "kind": manifest.get("kind"),
        "version": manifest["version"],
        "notes": manifest.get("notes"),
        "arrays": len(manifest["arrays"]),
        "bytes": sum(int(entry["size"]) for entry in manifest["arrays"]),
    }


def versions() -> dict[str, str]:
    """Of Python and of the packages that take part in training."""
    out = {"python": platform.python_version(), "numpy": np.__version__}
    for name in PACKAGES:
        try:
            out[name] = version(name)
        except PackageNotFoundError:  # run from a checkout
            continue
    return out
