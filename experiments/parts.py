"""Parts of long runs, kept as they are done: a run that was stopped goes on from them.

Quick runs keep and read nothing: they show what the code does today.
"""

from __future__ import annotations

import json

from experiments import runner


def read(name: str, quick: bool) -> dict:
    """What is done of `name`."""
    path = runner.RESULTS / "parts" / f"{name}.json"
    return {} if quick or not path.exists() else json.loads(path.read_text())


def keep(name: str, done: dict, quick: bool) -> None:
    """Keep what is done of `name`."""
    if quick:
        return
    path = runner.RESULTS / "parts" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(done, indent=1) + "\n")
    draft.replace(path)
