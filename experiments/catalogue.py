"""What can be run: every module `experiments/<paper>/<table>.py` with TITLE and run().

An experiment is a module with

    TITLE       what it shows
    PUBLISHED   the paper's figures
    run(data, quick=False, seed=0) -> {"rows": [...], "notes": [...], ...}
    claims(result) -> {sentence: bool}         optional: what a run should show

What the papers say of their tables is in `experiments/<paper>/statements.py`.

Modules are found by reading their source, so that `list` imports nothing.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType

HOME = Path(__file__).parent
PAPERS = {
    "tsochantaridis2005": "Tsochantaridis, Joachims, Hofmann, Altun 2005 (and 2004)",
    "taskar2003": "Taskar, Guestrin, Koller 2003",
    "yu2011": "Yu 2011",
    "balamurugan2012": "Balamurugan, Shevade, Babu 2012",
    "beyond": "Beyond the papers",
}


def names() -> list[str]:
    """All experiments, `paper.table`, in the order of the papers."""
    return [
        f"{paper}.{path.stem}"
        for paper in PAPERS
        for path in sorted((HOME / paper).glob("*.py"))
        if {"TITLE", "run"} <= _defined(path)
    ]


def title(name: str) -> str:
    """The TITLE of an experiment, from its source."""
    for node in ast.parse(_path(name).read_text()).body:
        if isinstance(node, ast.Assign) and "TITLE" in _targets(node):
            return str(ast.literal_eval(node.value))
    raise ValueError(f"experiment {name!r} has no TITLE")


def module(name: str) -> ModuleType:
    """Import an experiment."""
    if name not in names():
        raise ValueError(f"no experiment {name!r}; `python -m experiments list`")
    return importlib.import_module(f"experiments.{name}")


def _path(name: str) -> Path:
    paper, table = name.split(".")
    return HOME / paper / f"{table}.py"


def _defined(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= _targets(node)
    return found


def _targets(node: ast.Assign) -> set[str]:
    return {t.id for t in node.targets if isinstance(t, ast.Name)}
