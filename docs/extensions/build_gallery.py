"""Run the examples of the gallery and write their pages, pictures and notebooks.

    python docs/extensions/build_gallery.py [NAME..]

An example is `docs/gallery/NAME.py`: a docstring whose first line is the title, and
cells that begin with `# %%`, with text in the comment lines below. Whatever a cell
prints stands below it on the page, and so do pictures that it writes into the current
folder.
"""

import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import textwrap
import types
import warnings
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1]
SCRIPTS, PICTURES = DOCS / "gallery", DOCS / "pictures" / "gallery"


class Cell(NamedTuple):
    text: str
    code: str
    line: int


def sections():
    """(heading, [(example, picture of its card or None)]) in the order of the gallery."""
    found = []
    for line in (SCRIPTS / "order.txt").read_text(encoding="utf8").splitlines():
        if line.startswith("#"):
            found.append((line.lstrip("# "), []))
        elif line:
            name, _, picture = line.partition(" ")
            found[-1][1].append((name, picture or None))
    return found


def names():
    """Examples in the order of the gallery."""
    return [name for _, entries in sections() for name, _ in entries]


def parse(path):
    """(title, introduction, cells) of a script."""
    source = path.read_text(encoding="utf8")
    title, _, intro = ast.get_docstring(ast.parse(source)).partition("\n")
    cells, line = [], 1
    for k, chunk in enumerate(re.split(r"^# %%.*\n", source, flags=re.MULTILINE)):
        if k:
            rows = chunk.splitlines()
            n = next((i for i, row in enumerate(rows) if not row.startswith("#")), 0)
            text = "\n".join(row.lstrip("#").strip() for row in rows[:n])
            code = "\n".join(rows[n:]).strip("\n")
            code = code.replace(
                "  # fmt: skip", ""
            )  # for the formatter, not for readers
            cells.append(Cell(text, code, line + n))
        line += chunk.count("\n") + 1
    return title, intro.strip(), cells


def run(path, cells):
    """What each cell prints, and the pictures it makes as (name, bytes)."""
    import matplotlib

    matplotlib.use("Agg")
    module = types.ModuleType("example")
    sys.modules[module.__name__] = module
    out, before = [], set()
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for cell in cells:
                printed = io.StringIO()
                code = compile("\n" * cell.line + cell.code, str(path), "exec")
                with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                    warnings.simplefilter("error")
                    warnings.filterwarnings("ignore", module="matplotlib")
                    exec(code, module.__dict__)
                found = {
                    p for p in Path(folder).iterdir() if p.suffix in (".png", ".svg")
                }
                new = sorted(found - before)
                before |= found
                out.append(
                    (printed.getvalue(), [(p.name, p.read_bytes()) for p in new])
                )
        finally:
            os.chdir(home)
    return out


def wrapped(printed):
    """Long lines are broken, so that the page need not be scrolled sideways."""
    rows = []
    for row in printed.splitlines():
        rows += (
            textwrap.wrap(row, 92, subsequent_indent="    ") if len(row) > 92 else [row]
        )
    return "\n".join(rows)


def page(name, title, intro, cells, results):
    """The page of an example as Markdown."""
    parts = [f"# {title}\n\n{intro}\n"]
    for cell, (printed, pictures) in zip(cells, results, strict=True):
        if cell.text:
            parts.append(f"{cell.text}\n")
        parts.append(f"```python\n{cell.code}\n```\n")
        if printed.strip():
            parts.append(f"```text\n{wrapped(printed.rstrip())}\n```\n")
        for picture, _ in pictures:
            alt = f"{title}: {Path(picture).stem.replace('_', ' ')}"
            parts.append(f"![{alt}](../pictures/gallery/{name}-{picture})\n")
    parts.append(
        f"[Script]({name}.py){{ download }} · [notebook]({name}.ipynb){{ download }} · "
        "[all examples](index.md)\n"
    )
    return "\n".join(parts)


def notebook(title, intro, cells):
    """The example as a Jupyter notebook, not run."""
    made = [_note(f"# {title}\n\n{intro}", 0)]
    for k, cell in enumerate(cells):
        if cell.text:
            made.append(_note(cell.text, 2 * k + 1))
        made.append(
            {
                "cell_type": "code", "id": f"cell-{2 * k + 2}", "metadata": {},
                "execution_count": None, "outputs": [],
                "source": cell.code.splitlines(keepends=True),
            }
        )  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {
        "cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _note(text, k):
    lines = text.splitlines(keepends=True)
    return {"cell_type": "markdown", "id": f"cell-{k}", "metadata": {}, "source": lines}


def index(entries):
    """The page of all examples, as cards under headings."""
    parts = []
    for heading, cards in entries:
        drawn = "\n".join(
            f"[![](../pictures/{picture}){{ loading=lazy }} **{title}**]({name}.md)"
            "{ .card }"
            for name, title, picture in cards
        )
        parts.append(f'## {heading}\n\n<div class="cards" markdown>\n{drawn}\n</div>\n')
    return (
        "---\nhide: [toc]\n---\n# Examples\n\nEach example is a script that runs in "
        "seconds, without a download. The pages show what it prints and draws; every page "
        "has the script and a notebook to download.\n\n" + "\n".join(parts)
    )


def build(name):
    """Run one example and write its files."""
    path = SCRIPTS / f"{name}.py"
    title, intro, cells = parse(path)
    results = run(path, cells)
    for _, pictures in results:
        for picture, data in pictures:
            (PICTURES / f"{name}-{picture}").write_bytes(data)
    text = page(name, title, intro, cells, results)
    (SCRIPTS / f"{name}.md").write_text(text, encoding="utf8")
    (SCRIPTS / f"{name}.ipynb").write_text(
        notebook(title, intro, cells), encoding="utf8"
    )


def write_index():
    """Write the page of all examples."""
    entries = []
    for heading, examples in sections():
        cards = []
        for name, picture in examples:
            first = sorted(p.name for p in PICTURES.glob(f"{name}-*"))[0]
            title = parse(SCRIPTS / f"{name}.py")[0]
            cards.append((name, title, picture or f"gallery/{first}"))
        entries.append((heading, cards))
    (SCRIPTS / "index.md").write_text(index(entries), encoding="utf8")


def main():
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or names():
        print(name, flush=True)
        build(name)
    write_index()


if __name__ == "__main__":
    main()
