"""What a data file holds, and what reading it depends on."""

from __future__ import annotations

from typing import Any, NamedTuple

from maxmargin.io.coreference import CoreferenceDocument


class Data(NamedTuple):
    """What a file holds."""

    X: Any
    y: Any  # outputs; None where some are missing
    records: Any = None  # what predictions are written beside
    form: str = ""  # name of the format
    said: str = ""  # what reading has changed, for people
    written: tuple[str, str] | None = None  # schemes (of the model, of the output)
    missing: str = ""  # the first example without an output, where y is None

    def names(self) -> list[str]:
        """Names of the examples, where the file has any."""
        if not isinstance(self.records, list):
            return []
        found = [_name(record) for record in self.records]
        return found if any(found) else []


Options = dict[str, Any]  # what reading depends on; kept in the model file


def _name(record: Any) -> str:
    """A name, two names of a pair, or the name of a document; else nothing."""
    if isinstance(record, str):
        return record
    if isinstance(record, tuple) and record and all(isinstance(v, str) for v in record):
        return " and ".join(record)
    if isinstance(record, CoreferenceDocument):
        return record.name
    return ""
