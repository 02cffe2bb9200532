"""Trees drawn as text and as SVG.

A tree is a nested tuple `(label, child, ...)`, a leaf a string. Words stand in one row
at the bottom, each node above the middle of its children; brackets that another tree
does not have can be marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from maxmargin.core.data.foreign.nltk_trees import from_nltk

Tree = Any  # a leaf `str`, or a node `(label, child, ...)`
LETTER, ROW = 8.0, 44.0  # width of a letter and height of a row, in pixels


class Placed(NamedTuple):
    """A node with its place: x in letters, y in rows from the top."""

    label: str
    x: float
    y: int
    start: int
    end: int
    leaf: bool
    children: tuple[Placed, ...]


def indented(tree: Tree | None) -> str:
    """One node per line, words beside their tags.

    Examples
    --------
    >>> print(indented(("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VBD", "sat"))))
    S
    ├── NP
    │   ├── DT the
    │   └── NN cat
    └── VBD sat
    """
    return (
        "\n".join(_lines(from_nltk(tree), "", "")) if tree is not None else "(no parse)"
    )


def text_tree(tree: Tree | None) -> str:
    """Drawn from the root down, words in the last row.

    Examples
    --------
    >>> print(text_tree(("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VBD", "sat"))))
            S
        ┌───┴────┐
        NP       │
     ┌──┴──┐     │
    DT    NN    VBD
     │     │     │
    the   cat   sat
    """
    if tree is None:
        return "(no parse)"
    root = place(tree)
    nodes = list(_walk(root))
    width = int(max(node.x + len(node.label) for node in nodes)) + 2
    rows = [[" "] * width for _ in range(2 * max(node.y for node in nodes) + 1)]
    for node in nodes:
        _write(rows[2 * node.y], node.label, node.x)
        if node.children:
            _branch(rows, node)
    return "\n".join("".join(row).rstrip() for row in rows)


def svg_tree(tree: Tree | None, other: Tree | None = None) -> str:
    """Draw as SVG; nodes whose bracket `other` does not have are marked.

    Examples
    --------
    >>> print(svg_tree(("NP", ("NN", "cats")))[:4])
    <svg
    """
    if tree is None:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"></svg>'
    root = place(tree)
    known = None
    if other is not None:
        known = {(n.label, n.start, n.end) for n in _walk(place(other)) if not n.leaf}
    nodes = list(_walk(root))
    width = LETTER * (max(node.x + len(node.label) for node in nodes) + 2)
    height = ROW * (max(node.y for node in nodes) + 1)
    lines, words = [], []
    for node in nodes:
        x, y = LETTER * (node.x + 1), ROW * (node.y + 0.5)
        for child in node.children:
            a, b = LETTER * (child.x + 1), ROW * (child.y + 0.5)
            lines.append(  # down, across, down: straight lines would cross
                f'<polyline points="{x:.1f},{y + 6:.1f} {x:.1f},{y + 14:.1f} '
                f'{a:.1f},{y + 14:.1f} {a:.1f},{b - 14:.1f}"/>'
            )
        wrong = known is not None and not node.leaf
        wrong = wrong and (node.label, node.start, node.end) not in (known or set())
        style = "word" if node.leaf else "wrong" if wrong else "label"
        words.append(
            f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(node.label)}</text>'
        )
    style = (  # names begin with .tree: the style of an inline SVG holds for the page
        ".tree text{font:14px sans-serif;text-anchor:middle;fill:currentColor}"
        ".tree .word{font-style:italic}.tree polyline{stroke:#8a94a0;fill:none}"
        ".tree .wrong{fill:#d1495b;font-weight:bold}"
    )
    return "\n".join(
        [
            f'<svg class="tree" xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
            f'height="{height:.0f}" role="img" aria-label="parse tree">',
            f"<style>{style}</style>",
            *lines,
            *words,
            "</svg>",
        ]
    )


def place(tree: Tree) -> Placed:
    """Places of all nodes: leaves side by side, nodes above their children's middle."""
    tree = from_nltk(tree)
    return _placed(tree, 0, _depth(tree), [0.0, 0])


def _placed(tree: Tree, y: int, depth: int, pen: list[Any]) -> Placed:
    """`pen` holds the next free column and the next word."""
    if isinstance(tree, str):
        x = pen[0] + (len(tree) - 1) / 2
        pen[0] += len(tree) + 3
        pen[1] += 1
        return Placed(tree, x, depth, pen[1] - 1, pen[1], True, ())
    first = pen[1]
    tag = len(tree) == 2 and isinstance(tree[1], str)
    row = depth - 1 if tag else y
    left = pen[0]
    children = tuple(_placed(child, row + 1, depth, pen) for child in tree[1:])
    x = (children[0].x + children[-1].x) / 2
    pen[0] = max(pen[0], left + len(tree[0]) + 2)
    return Placed(tree[0], x, row, first, pen[1], False, children)


def _walk(node: Placed) -> Iterator[Placed]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _depth(tree: Tree) -> int:
    return 0 if isinstance(tree, str) else 1 + max(_depth(c) for c in tree[1:])


def _write(row: list[str], text: str, x: float) -> None:
    start = max(round(x - (len(text) - 1) / 2), 0)
    for i, letter in enumerate(text):
        row[start + i] = letter


def _branch(rows: list[list[str]], node: Placed) -> None:
    """Lines from a node to its children, down to the row each stands in."""
    line, at = rows[2 * node.y + 1], round(node.x)
    ends = [round(child.x) for child in node.children]
    for i in range(ends[0], ends[-1] + 1):
        line[i] = "─"
    for i in ends:
        line[i] = "┌" if i == ends[0] else "┐" if i == ends[-1] else "┬"
    if len(ends) == 1:
        line[ends[0]] = "│"
    elif at in ends:
        line[at] = "┼"
    else:
        line[at] = "┴"
    for child, i in zip(node.children, ends, strict=True):
        for y in range(2 * node.y + 2, 2 * child.y):
            rows[y][i] = "│"


def _lines(tree: Tree, first: str, rest: str) -> Iterator[str]:
    if isinstance(tree, str):
        yield first + tree
        return
    if len(tree) == 2 and isinstance(tree[1], str):
        yield f"{first}{tree[0]} {tree[1]}"
        return
    yield first + tree[0]
    for child in tree[1:-1]:
        yield from _lines(child, rest + "├── ", rest + "│   ")
    yield from _lines(tree[-1], rest + "└── ", rest + "    ")
