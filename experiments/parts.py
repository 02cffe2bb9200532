"""Parts of a long run, kept as they are done: a run that was stopped goes on from there.

`results/parts/<name>.json` is committed with the records that are made of it. Quick runs
and those within `anew` neither read nor write parts: all they say is made on the spot.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from experiments.catalogue import HOME

FOLDER = HOME / "results" / "parts"
_kept = ContextVar("kept", default=True)


@contextmanager
def anew() -> Iterator[None]:
    """Leave the parts of earlier runs alone."""
    token = _kept.set(False)
    try:
        yield
    finally:
        _kept.reset(token)


class Parts(dict[str, Any]):
    """What is done of a run, by key; `keep` is False for quick runs."""

    def __init__(self, name: str, keep: bool = True) -> None:
        self.path = FOLDER / f"{name}.json" if keep and _kept.get() else None
        known = self.path is not None and self.path.exists()
        super().__init__(json.loads(self.path.read_text()) if known else {})

    def of(self, key: str, make: Callable[[], Any]) -> Any:
        """The part of that key; made and stored if it is not there yet."""
        if key not in self:
            self[key] = make()
            self.store()
        return self[key]

    def store(self) -> None:
        """Write all parts."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            draft = self.path.with_suffix(".part")
            draft.write_text(json.dumps(self, indent=1) + "\n")
            draft.replace(self.path)
