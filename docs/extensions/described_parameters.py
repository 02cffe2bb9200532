"""The API page shows the docstrings of estimators as `help` shows them.

mkdocstrings reads the source without running it, but the descriptions of parameters
are put together by `describe_parameters` when a class is made. So the docstring of each
class that has this decorator is taken from the class itself.

Formulas of docstrings, written as Sphinx wants them, become formulas of the page, and
each public class of an estimator gets links to the examples that use it.

griffe takes the first of several values in braces for the default, so
``{"a", "b"}, default="b"`` becomes ``"a" | "b", default="b"`` on the page. For functions
the defaults of the signature are written into the docstring, and parameters that share a
description get one each: griffe would give all of them the default of the first.

Parameters and methods that the first version did not have get a note; `names.json` lists
the names of that version.
"""

import inspect
import json
import re
from importlib import import_module
from pathlib import Path

import griffe

CHOICES = re.compile(r"^(\w+) : \{(.*?)\}", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.*))?$")
SAID = re.compile(r",? ?(?:default=.*|optional)$")
MATH = re.compile(r"^( *)\.\. math:: (.*(?:\n\1 +\S.*)*)", re.MULTILINE)
GALLERY = Path(__file__).parents[1] / "gallery"
NAMES = Path(__file__).with_name("names.json")
FIRST = json.loads(NAMES.read_text(encoding="utf8"))["0.1.0"]
NOTE = "*New in version 0.2.*"
DECORATOR = "maxmargin.estimators.fitting.parameters.describe_parameters"


class DescribedParameters(griffe.Extension):
    """Replaces docstrings of the source by those that the decorator has completed."""

    def on_class(self, *, cls: griffe.Class, **_: object) -> None:
        """Take over the docstring of a decorated class."""
        if any(d.callable_path == DECORATOR for d in cls.decorators):
            made = getattr(import_module(cls.module.path), cls.name)
            assert cls.docstring is not None
            text = CHOICES.sub(_alternatives, inspect.getdoc(made))
            cls.docstring.value = MATH.sub(_formula, text) + _examples(cls.name)
        if cls.docstring is not None and cls.name in FIRST:
            cls.docstring.value = _noted(cls.docstring.value, FIRST[cls.name])

    def on_function(self, *, func: griffe.Function, **_: object) -> None:
        """Write the defaults of the signature into the docstring."""
        if func.docstring is not None:
            text = _with_defaults(func)
            owner = func.parent
            if owner is not None and owner.is_class:
                known = FIRST.get(owner.name)
                if known is not None and func.name not in known:
                    first, mark, rest = text.partition("\n\n")
                    text = f"{first} {NOTE}{mark}{rest}"
            elif func.name in FIRST:
                text = _noted(text, FIRST[func.name])
            func.docstring.value = text

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Turn formulas of any docstring into formulas of the page."""
        if obj.docstring is not None:
            obj.docstring.value = MATH.sub(_formula, obj.docstring.value)


def _with_defaults(func: griffe.Function) -> str:
    """The docstring with one entry per parameter, and its default from the signature."""
    assert func.docstring is not None
    head, mark, rest = func.docstring.value.partition("Parameters\n----------\n")
    if not mark:
        return head
    defaults = {p.name: p.default for p in func.parameters}
    out: list[str] = []
    waiting: list[tuple[str, str | None]] = []  # entries that share a description
    text: list[str] = []

    def write() -> None:
        for entry, kind in waiting:
            default = defaults.get(entry)
            if kind is None and default is None:
                out.append(entry)
            else:
                plain = SAID.sub("", kind or "")
                choice = re.fullmatch(r"\{(.*)\}(.*)", plain)
                if choice:
                    plain = choice.group(1).replace(", ", " | ") + choice.group(2)
                end = "" if default is None else f", default={default}"
                out.append(f"{entry} : {plain}{end}")
            out.extend(text)

    lines = rest.split("\n")
    for at, line in enumerate(lines):
        found = ENTRY.match(line)
        if found is None and line and not line.startswith(" "):
            write()
            return head + mark + "\n".join([*out, *lines[at:]])
        if found and lines[at + 1 : at + 2] and set(lines[at + 1]) == {"-"}:
            write()  # the next section
            return head + mark + "\n".join([*out, *lines[at:]])
        if found:
            write()
            waiting = [(name, found.group(2)) for name in found.group(1).split(", ")]
            text = []
        else:
            text.append(line)
    write()
    return head + mark + "\n".join(out)


def _noted(text: str, known: list[str]) -> str:
    """The docstring with a note at each parameter whose name is not known."""
    head, mark, rest = text.partition("Parameters\n----------\n")
    if not mark:
        return text
    lines = rest.split("\n")
    end = next(
        (k for k, line in enumerate(lines) if set(line) == {"-"}), len(lines) + 1
    )
    own = lines[: end - 1]  # up to the title of the next section
    at = [k for k, line in enumerate(own) if line and not line.startswith(" ")]
    for k, after in zip(reversed(at), [len(own), *reversed(at)], strict=False):
        entry = ENTRY.match(own[k])
        if entry and not set(entry.group(1).split(", ")) & set(known):
            last = max(j for j in range(k, after) if own[j].strip())
            if last > k:
                own[last] += f" {NOTE}"
            else:
                own.insert(k + 1, f"    {NOTE}")
    return head + mark + "\n".join([*own, *lines[end - 1 :]])


def _formula(found: re.Match[str]) -> str:
    return f"{found.group(1)}$${' '.join(found.group(2).split())}$$"


def _examples(name: str) -> str:
    """Links to the examples that use a class."""
    links = []
    for path in sorted(GALLERY.glob("*.py")):
        text = path.read_text(encoding="utf8")
        if re.search(rf"\b{name}\(", text):
            title = text.split("\n", 1)[0].strip('"')
            links.append(f"- [{title}](../../gallery/{path.stem}.md)")
    return "\n\n**Examples using this**\n\n" + "\n".join(links) + "\n" if links else ""


def _alternatives(found: re.Match[str]) -> str:
    name, values = found.groups()
    return f"{name} : {values.replace(', ', ' | ')}"
