"""Record the public names of a released version, for the notes "New in ..." of the API.

    python docs/extensions/record_names.py 0.1.0 CHECKOUT/src

adds to `docs/extensions/names.json`, for each public class and function, its parameters
and members. Run it once for each release.
"""

import json
import sys
from pathlib import Path

import griffe

NAMES = Path(__file__).with_name("names.json")


def public(module):
    """(name, parameters and members) of what a package defines."""
    for thing in module.members.values():
        if thing.is_alias or thing.name.startswith("_"):
            continue
        if thing.is_module:
            yield from public(thing)
        elif thing.is_class:
            own = [p.name for p in thing.parameters]
            yield thing.name, sorted({*own, *thing.all_members})
        elif thing.is_function:
            yield thing.name, sorted(p.name for p in thing.parameters)


def main():
    version, source = sys.argv[1:]
    package = griffe.load("maxmargin", search_paths=[source])
    found = {}
    for name, parts in public(package):
        known = found.setdefault(name, set())
        known.update(p for p in parts if not p.startswith("_") and p != "self")
    record = json.loads(NAMES.read_text("utf8")) if NAMES.exists() else {}
    record[version] = {name: sorted(found[name]) for name in sorted(found)}
    lines = ",\n".join(
        f" {json.dumps(v)}: {{\n"
        + ",\n".join(f"  {json.dumps(n)}: {json.dumps(p)}" for n, p in names.items())
        + "\n }"
        for v, names in record.items()
    )
    NAMES.write_text("{\n" + lines + "\n}\n", encoding="utf8")


if __name__ == "__main__":
    main()
