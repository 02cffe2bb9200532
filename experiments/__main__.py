"""`python -m experiments list | data | run NAME ... | night | again NAME ... | report`."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from experiments import (
    catalogue,
    data,
    newcomer,
    night,
    parts,
    results_page,
    runner,
)


def main() -> int:
    """Do what the command says."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names, titles, and whether they have been run")
    files = commands.add_parser(
        "data", help="data sets: at hand? unchanged? from where?"
    )
    files.add_argument("--data", type=Path, default=runner.data_folder())
    run = commands.add_parser("run", help="run experiments and store their records")
    run.add_argument("names", nargs="+", metavar="NAME", help="paper.table, or `all`")
    run.add_argument("--quick", action="store_true", help="a part of the data")
    run.add_argument(
        "--anew", action="store_true", help="also what earlier runs kept of it"
    )
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--data", type=Path, default=runner.data_folder())
    every = commands.add_parser("night", help="all of them on this commit, unattended")
    every.add_argument("--jobs", type=int, default=2, help="processes at a time")
    every.add_argument("--data", type=Path, default=runner.data_folder())
    again = commands.add_parser(
        "again", help="run anew and compare with the stored record, times apart"
    )
    again.add_argument("names", nargs="+", metavar="NAME")
    again.add_argument("--quick", action="store_true")
    again.add_argument("--data", type=Path, default=runner.data_folder())
    report = commands.add_parser(
        "report", help="write RESULTS.md, the pages of docs and READMEs"
    )
    report.add_argument("--quick", action="store_true", help="print the quick records")
    args = parser.parse_args()
    todo = {
        "list": show, "data": look, "run": execute, "night": sleep, "again": repeat,
        "report": write,
    }  # fmt: skip
    return todo[args.command](args)


def show(args: argparse.Namespace) -> int:
    """List."""
    done = runner.stored()
    for name in catalogue.names():
        mark = "run" if name in done else "   "
        print(f"{mark}  {name:36} {catalogue.title(name)}")
    return 0


def look(args: argparse.Namespace) -> int:
    """State of the data sets."""
    found = list(data.check(args.data))
    for name, state, origin in found:
        print(f"{name:20} {state:12} {origin}")
    return 0 if all(item.state == "as listed" for item in found) else 1


def execute(args: argparse.Namespace) -> int:
    """Run; one that fails does not stop the others."""
    names = catalogue.names() if args.names == ["all"] else args.names
    failed = []
    for name in names:
        try:
            with parts.anew() if args.anew else nullcontext():
                record = runner.run(name, args.data, args.quick, args.seed)
        except (OSError, ValueError, RuntimeError) as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            failed.append(name)
            continue
        path = runner.store(record)
        print(*results_page.section(record), sep="\n")
        print(f"\nstored in {path.relative_to(catalogue.HOME.parent)}", flush=True)
    return 1 if failed else 0


def sleep(args: argparse.Namespace) -> int:
    """Run everything, then write the pages."""
    failed = night.run(args.data, args.jobs)
    return write(argparse.Namespace(quick=False)) or failed


def repeat(args: argparse.Namespace) -> int:
    """Run with the seed of the stored record; say which cells differ."""
    known, different = runner.stored(args.quick), 0
    for name in args.names:
        if name not in known:
            print(f"{name}: no record to compare with", file=sys.stderr)
            different += 1
            continue
        with parts.anew():
            record = runner.run(name, args.data, args.quick, known[name]["seed"])
        cells = list(runner.differences(known[name], record))
        print(f"{name}: {len(cells)} cells differ", *cells, sep="\n  ", flush=True)
        different += bool(cells)
    return 1 if different else 0


def write(args: argparse.Namespace) -> int:
    """Render the page."""
    page = results_page.render(runner.stored(args.quick))
    if args.quick:
        print(page)
    else:
        (catalogue.HOME / "RESULTS.md").write_text(page)
        newcomer.write(runner.stored())
        for paper in catalogue.PAPERS:
            text = results_page.readme(paper, runner.stored())
            (catalogue.HOME / paper / "README.md").write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
