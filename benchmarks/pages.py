"""Do the commands of the task pages work on the data they name?

python -m benchmarks.pages [PAGE ..]

Runs the blocks of each page that need data, Python and shell, from top to bottom in an
empty folder, and says how each command ended and how long it took.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
PAGES = Path(__file__).parents[1] / "docs" / "tasks"
BLOCK = re.compile(r"```(python|bash)\n(.*?)```", re.S)


def main(argv: list[str] | None = None) -> int:
    """Run the pages named, or all; the exit code tells whether all went well."""
    names = [page.stem for page in sorted(PAGES.glob("*.md"))]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", choices=[*names, []], metavar="PAGE")
    failed = 0
    for name in parser.parse_args(argv).pages or names:
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            failed += run_page(PAGES / f"{name}.md", Path(folder))
    print(f"{failed} failed")
    return int(failed > 0)


def run_page(page: Path, folder: Path) -> int:
    """Number of blocks and commands that failed."""
    env = {**os.environ, "MAXMARGIN_DATA": str(DATA.resolve())}
    before, failed = "", 0
    for kind, text in BLOCK.findall(page.read_text(encoding="utf8")):
        if kind == "python":
            before += text
            if "MAXMARGIN_DATA" in before:
                failed += run([sys.executable, "-c", before], folder, env, "python ..")
            continue
        for line in text.splitlines():
            failed += run(["bash", "-c", line], folder, env, line)
    return failed


def run(command: list[str], folder: Path, env: dict[str, str], shown: str) -> bool:
    """Run one command, print its last line; whether it failed."""
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    said = (done.stderr + done.stdout).strip().splitlines()
    print(f"{time.perf_counter() - begin:6.1f} s  exit {done.returncode}  {shown}")
    for line in said[-8:] if done.returncode else said[-3:]:
        print(f"                  {line[:150]}", flush=True)
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
