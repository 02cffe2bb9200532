"""Parts of a long run, kept as they are done: a run that was stopped goes on from there.

`results/parts/<name>.json` holds the parts and a hash of the code that made them. Parts
of other code are made anew, so that a record is of one version. Quick runs and those
within `anew` neither read nor write parts: all they say is made on the spot.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from experiments import runner
from experiments.catalogue import HOME

FOLDER = HOME / "results" / "parts"
CODE = "code"  # key of the hash in the file
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
        self.code = runner.code(name.split(".")[0]) if self.path else ""
        known: dict[str, Any] = {}
        if self.path is not None and self.path.exists():
            known = json.loads(self.path.read_text())
        super().__init__(known if known.pop(CODE, None) == self.code else {})

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
            draft.write_text(json.dumps({CODE: self.code, **self}, indent=1) + "\n")
            draft.replace(self.path)
