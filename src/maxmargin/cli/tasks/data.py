"""What a data file holds, and what reading it depends on."""

from __future__ import annotations

from typing import Any, NamedTuple


class Data(NamedTuple):
    """What a file holds."""

    X: Any
    y: Any  # outputs; None where some are missing
    records: Any = None  # what predictions are written beside
    form: str = ""  # name of the format
    said: str = ""  # what reading has changed, for people
    written: tuple[str, str] | None = None  # schemes (of the model, of the output)
    missing: str = ""  # the first example without an output, where y is None


Options = dict[str, Any]  # what reading depends on; kept in the model file
