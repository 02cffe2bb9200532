"""A hook of mkdocs: a page for each public class, and tables that lead to them.

The pages of `docs/api/` name classes and modules as mkdocstrings does (`::: path`). Here
each class named, and each public class of a module named, gets a page of its own, such
as `api/estimators/ChainSVM.md`; in its place stands a row of a table. Functions stay on
the page of their module.
"""

import importlib
import json
import re
from pathlib import Path

import griffe
from mkdocs.structure.files import File

EXTENSIONS = Path(__file__).parent
ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
FIRST = json.loads((EXTENSIONS / "names.json").read_text("utf8"))["0.1.0"]
NEW = "New in version 0.2"
_package = {}
_sections = {}


def package():
    """The package as griffe reads it, without running it."""
    if not _package:
        source = str(EXTENSIONS.parents[1] / "src")
        _package["maxmargin"] = griffe.load("maxmargin", search_paths=[source])
    return _package["maxmargin"]


def found(path):
    """The class or module of a path."""
    return package()[path.partition(".")[2]]


def members(module):
    """Documented public classes and functions that a module defines."""
    own = [
        m
        for m in module.members.values()
        if not m.is_alias and not m.name.startswith("_") and m.has_docstring
    ]
    return [m for m in own if m.is_class], [m for m in own if not m.is_class]


def classes_of(thing):
    """The classes that an entry of a page asks for."""
    if thing.is_module:
        return members(thing)[0]
    return [thing] if thing.is_class else []


def first_line(thing):
    """The first line of a docstring, without its full stop."""
    text = thing.docstring.value.strip().split("\n\n")[0] if thing.docstring else ""
    return " ".join(text.split()).rstrip(".").replace("|", r"\|")


def imported_from(thing):
    """The shortest module that has a class under its own name."""
    parts = thing.module.path.split(".")
    for n in range(1, len(parts)):
        room = ".".join(parts[:n])
        try:
            made = getattr(importlib.import_module(room), thing.name, None)
        except ImportError:
            continue
        if getattr(made, "__module__", None) == thing.module.path:
            return room
    return thing.module.path


def new(name):
    """Whether a class or function was not in the first version."""
    return name not in FIRST


def on_files(files, config):
    """Add the page of each class."""
    _sections.clear()
    for file in list(files):
        if not file.src_uri.startswith("api/") or file.src_uri.count("/") != 1:
            continue
        section = Path(file.src_uri).stem
        title = file.content_string.partition("\n")[0].lstrip("# ")
        for path in ENTRY.findall(file.content_string):
            thing = found(path)
            for kind in classes_of(thing):
                uri = f"api/{section}/{kind.name}.md"
                if files.get_file_from_path(uri) is None:
                    text = class_page(kind, section, title)
                    files.append(File.generated(config, uri, content=text))
                    _sections[uri] = file.src_uri
    return files


def class_page(kind, section, title):
    """The page of a class: where it is imported from, and its docstring."""
    note = f' <span class="new">{NEW}</span>' if new(kind.name) else ""
    text = (
        f"---\ntitle: {kind.name}\n---\n"
        f"[{title}](../{section}.md){{ .up }} "
        f"`from {imported_from(kind)} import {kind.name}`{note}\n\n"
        f"::: {kind.path}\n    options:\n      heading_level: 1\n"
        "      show_source: true\n      separate_signature: true\n"
        "      show_bases: false\n\n"
    )
    if any(base.name == "StructuredEstimator" for base in kind.mro()):
        text += (
            "`fit`, `predict`, `explain`, `save`, `report` and more: see "
            "[what all of them have](../base/StructuredEstimator.md).\n"
        )
    return text


def table(kinds, section):
    """Rows that lead to the pages of classes."""
    note = f' <span class="new">{NEW}</span>'
    rows = [
        f"| [`{k.name}`]({section}/{k.name}.md) | {first_line(k)}"
        + (f"{note} |" if new(k.name) else " |")
        for k in kinds
    ]
    return (
        "| class | what it is |\n|---|---|\n" + "\n".join(rows) + "\n\n" if rows else ""
    )


def on_page_markdown(markdown, page, **_):
    """Put tables of classes, and the functions of modules, in place of the names."""
    uri = page.file.src_uri
    if not uri.startswith("api/") or uri in _sections:
        return markdown
    section = Path(uri).stem
    parts, waiting, at = [], [], 0
    for entry in ENTRY.finditer(markdown):
        between = markdown[at : entry.start()]
        at = entry.end()
        thing = found(entry.group(1))
        if between.strip() or not thing.is_class:
            parts.append(table(waiting, section))
            waiting = []
        parts.append(between)
        if thing.is_class:
            waiting.append(thing)
        if not thing.is_module:
            parts.append("" if thing.is_class else f"::: {thing.path}\n\n")
            continue
        classes, functions = members(thing)
        parts.append(
            f"## `{thing.path.removeprefix('maxmargin.')}`\n\n::: {thing.path}\n"
            "    options:\n      members: false\n      show_root_heading: false\n\n"
        )
        parts.append(table(classes, section))
        parts.extend(f"::: {f.path}\n\n" for f in functions)
    parts.append(table(waiting, section))
    return "".join([*parts, markdown[at:]])


def on_page_content(html, page, **_):
    """Keep the source of classes out of the search."""
    if page.file.src_uri in _sections:
        mark = '<details class="mkdocstrings-source"'
        return html.replace(mark, mark + " data-search-exclude")
    return html
