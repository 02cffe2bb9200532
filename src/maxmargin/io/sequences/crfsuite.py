r"""CRFsuite files: one token per line, label and attributes divided by tabs.

    LABEL<tab>ATTRIBUTE<tab>ATTRIBUTE:VALUE ..

An empty line ends a sequence; ':' and '\' in attribute names are written '\:', '\\'.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maxmargin.io.text import FormatError, numbered_lines, open_text

_COLON = re.compile(r"(?<!\\)((?:\\\\)*):")  # a colon that is not escaped


def read_crfsuite(
    path: str | Path, encoding: str = "utf-8"
) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    """X (a dict of attribute values per token) and y (labels) of all sequences."""
    X: list[list[dict[str, float]]] = []
    y: list[list[str]] = []
    tokens: list[dict[str, float]] = []
    labels: list[str] = []
    for number, line in numbered_lines(path, encoding):
        if not line.strip():
            if tokens:
                X.append(tokens)
                y.append(labels)
            tokens, labels = [], []
            continue
        label, *fields = line.split("\t")
        if label.startswith("@"):
            raise FormatError(path, number, f"declaration {label!r} is not supported")
        token: dict[str, float] = {}
        for field in filter(None, fields):
            name, value = _attribute(field, path, number)
            token[name] = token.get(name, 0.0) + value
        tokens.append(token)
        labels.append(_plain(label))
    if tokens:
        X.append(tokens)
        y.append(labels)
    return X, y


def write_crfsuite(path: str | Path, X: Any, y: Any) -> None:
    """Write sequences of attribute dicts, lists or strings with their labels."""
    with open_text(path, "wt") as file:
        for i, (tokens, labels) in enumerate(zip(X, y, strict=True)):
            if len(tokens) != len(labels):
                raise ValueError(
                    f"sequence {i} has {len(tokens)} tokens but {len(labels)} labels"
                )
            for token, label in zip(tokens, labels, strict=True):
                cells = [_escaped(str(label)), *_cells(token)]
                file.write("\t".join(cells) + "\n")
            file.write("\n")


def _attribute(field: str, path: str | Path, number: int) -> tuple[str, float]:
    found = list(_COLON.finditer(field))
    if not found:
        return _plain(field), 1.0
    at = found[-1].end() - 1
    try:
        return _plain(field[:at]), float(field[at + 1 :])
    except ValueError:
        raise FormatError(
            path, number, f"the value of attribute {field!r} is not a number"
        ) from None


def _cells(token: Any) -> list[str]:
    if isinstance(token, str):
        return [_escaped(token)]
    if isinstance(token, Mapping):
        cells = []
        for name, value in token.items():
            if isinstance(value, str):
                cells.append(_escaped(f"{name}:{value}"))
            elif float(value) == 1.0:
                cells.append(_escaped(name))
            else:
                cells.append(f"{_escaped(name)}:{float(value):.17g}")
        return cells
    return [_escaped(name) for name in token]


def _escaped(name: str) -> str:
    if "\t" in name or "\n" in name:
        raise ValueError(f"{name!r} holds a tab or line end and cannot be written")
    return name.replace("\\", "\\\\").replace(":", "\\:")


def _plain(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)
