"""Trees in Chomsky normal form, and back.

A node with children X1 ... Xn, n > 2, becomes a chain of binary nodes; with branching
to the right

    A -> X1 A|<X2-X3>,   A|<X2-X3> -> X2 A|<X3-X4>,   ...,   A|<..> -> Xn-1 Xn

where the new symbols name the first `horizontal` children they cover (None: all of
them, so that exactly the n-ary rules of the treebank remain). Symbols of phrases name
`vertical - 1` labels above them: NP^S for vertical=2. Chains of unary nodes stay as
they are. The way back drops names, so it is the inverse for every choice.

[1] Klein and Manning 2003, Accurate unlexicalized parsing (markovisation).
[2] Johnson 1998, PCFG models of linguistic tree representations (parent annotation).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from maxmargin.core.data.validation import check_types, require

Tree = Any  # a leaf `str`, or a node `(label, child, ...)`


class Symbol(NamedTuple):
    """What stands on either side of a rule.

    Examples
    --------
    >>> str(Symbol("NP", ("S",), ("NN", "PP")))
    'NP^S|<NN-PP>'
    """

    label: str
    above: tuple[str, ...] = ()  # labels of the parent, its parent, ...
    covers: tuple[str, ...] | None = None  # children covered, for symbols made here
    tag: bool = False  # a part of speech

    def __str__(self) -> str:
        name = "^".join((self.label, *self.above))
        return name if self.covers is None else f"{name}|<{'-'.join(self.covers)}>"

    def validate(self) -> None:
        """Text."""
        check_types(self)

    @property
    def made(self) -> bool:
        """Made by binarisation: no node of the treebank, no bracket."""
        return self.covers is not None


class Node(NamedTuple):
    """Node of a binarised tree over the words `start` to `end`."""

    symbol: Symbol
    start: int
    end: int
    children: tuple[Node, ...]  # two; one if unary; none for a tag
    word: str = ""  # of a tag


class BinaryShape(NamedTuple):
    """How trees are binarised."""

    branching: str = "right"  # or "left"
    horizontal: int | None = None
    vertical: int = 1
    start: str = "TOP"

    def validate(self) -> None:
        """Sizes that are not negative."""
        check_types(self)
        require(self.branching in ("right", "left"), f"branching={self.branching!r}")
        require(self.horizontal is None or self.horizontal >= 0, "horizontal < 0")
        require(self.vertical >= 1, f"vertical={self.vertical} must be at least 1")


PLAIN = BinaryShape()


def binarise(tree: Tree, shape: BinaryShape = PLAIN) -> Node:
    """Binary tree with unary chains; ValueError where `tree` is not a tree.

    Examples
    --------
    >>> tree = ("NP", ("DT", "a"), ("JJ", "b"), ("JJ", "c"), ("NN", "d"))
    >>> node = binarise(tree, BinaryShape(horizontal=1))
    >>> print(node.symbol, "->", *(child.symbol for child in node.children))
    NP -> DT NP|<JJ>
    >>> restore(node) == tree
    True
    """
    above = (shape.start,) * (shape.vertical > 1)
    return _binary(tree, 0, above, shape)


def restore(node: Node) -> Tree:
    """The tree that `binarise` was given."""
    symbol = node.symbol
    if symbol.tag:
        return (symbol.label, node.word)
    return (symbol.label, *_restored_children(node))


def _binary(tree: Tree, start: int, above: tuple[str, ...], shape: BinaryShape) -> Node:
    label = _checked_label(tree, start)
    if len(tree) == 2 and isinstance(tree[1], str):
        return Node(Symbol(label, tag=True), start, start + 1, (), tree[1])
    symbol = Symbol(label, above)
    below = (label, *above)[: shape.vertical - 1]
    children = []
    end = start
    for child in tree[1:]:
        children.append(_binary(child, end, below, shape))
        end = children[-1].end
    return _joined(symbol, symbol, children, shape)


def _joined(
    symbol: Symbol, top: Symbol, children: list[Node], shape: BinaryShape
) -> Node:
    """Node `symbol` over `children`, split in two; `top` is the node of the treebank."""
    start, end = children[0].start, children[-1].end
    if len(children) <= 2:
        return Node(symbol, start, end, tuple(children))
    rest = children[1:] if shape.branching == "right" else children[:-1]
    names = [child.symbol.label for child in rest]
    if shape.branching == "left":
        names.reverse()
    made = Symbol(top.label, top.above, tuple(names[: shape.horizontal]))
    other = _joined(made, top, rest, shape)
    if shape.branching == "right":
        return Node(symbol, start, end, (children[0], other))
    return Node(symbol, start, end, (other, children[-1]))


def _restored_children(node: Node) -> list[Tree]:
    out = []
    for child in node.children:
        if child.symbol.made:
            out.extend(_restored_children(child))
        else:
            out.append(restore(child))
    return out


def _checked_label(tree: Tree, start: int) -> str:
    if isinstance(tree, str) and tree.lstrip().startswith("("):
        raise ValueError(
            f"word {start}: {tree!r:.40} is text; maxmargin.io.treebank.parse_trees "
            "makes trees of it"
        )
    if isinstance(tree, str):
        raise ValueError(
            f"word {start}: {tree!r} has no tag; write (tag, word) for each word"
        )
    if not isinstance(tree, tuple | list) or len(tree) < 2:
        raise ValueError(
            f"word {start}: {tree!r} is not a node: a node is (label, child, ...)"
        )
    if not isinstance(tree[0], str):
        raise ValueError(f"word {start}: the label {tree[0]!r} is not a string")
    return tree[0]
