"""Write below each Python block of a page what it prints.

    python docs/extensions/page_outputs.py docs/tasks/ranking.md ..

The blocks of a page run from top to bottom in one namespace. A ```text block that
follows a Python block is replaced by the new output.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import textwrap
import types
import warnings
from pathlib import Path

BLOCK = re.compile(r"```python\n(.*?)```\n(\n```text\n.*?```\n)?", re.DOTALL)
MOST_LINES, WIDEST = 24, 92


def rewritten(page):
    """The text of a page with fresh outputs."""
    module = types.ModuleType("page")
    sys.modules[module.__name__] = module

    def with_output(found):
        code = found.group(1)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(code, str(page), "exec"), module.__dict__)
        lines = []
        for row in printed.getvalue().rstrip().splitlines():
            lines += textwrap.wrap(
                row.rstrip(), WIDEST, subsequent_indent="    ", drop_whitespace=False
            ) or [""]
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], "..."]
        out = f"```python\n{code}```\n"
        return out + ("\n```text\n" + "\n".join(lines) + "\n```\n" if lines else "")

    text = page.read_text(encoding="utf8")
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return BLOCK.sub(with_output, text)
        finally:
            os.chdir(home)


def main():
    import matplotlib

    matplotlib.use("Agg")
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        text = rewritten(page)
        page.write_text(text, encoding="utf8")
        print(name, flush=True)


if __name__ == "__main__":
    main()
