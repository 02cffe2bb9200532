"""`maxmargin new`: a commented skeleton of a structure of one's own."""

from __future__ import annotations

from importlib.resources import files

from maxmargin.cli.errors import DONE, UsageError


def write_skeleton(path: str) -> int:
    """Write the skeleton; a file that is there is left alone."""
    if not path.endswith(".py"):
        raise UsageError(
            f"{path} is not a Python file: write maxmargin new structure.py"
        )
    text = (
        files("maxmargin.cli.commands").joinpath("skeleton.py.txt").read_text("utf-8")
    )
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} is there already: choose another name") from None
    print(f"{path} is written. Run it: python {path}")
    return DONE
