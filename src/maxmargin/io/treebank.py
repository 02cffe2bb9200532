"""Read and write trees in the brackets of the Penn Treebank.

A tree is a nested tuple: a leaf is a string, a node is `(label, child, ..., child)`.
A part-of-speech tag over its word is a node with one leaf: `("NN", "board")`.

    ( (S (NP-SBJ (DT The) (NN board)) (VP (VBD met))) )

Reading drops the outermost bracket that has no label, empty elements (`-NONE-`) with
whatever they leave without words, and function tags (`NP-SBJ-1 -> NP`), as is usual.
A line may begin with fields in front of its tree, divided by tabs or blanks, such as the
name of the document; the first of them is kept as its name.

[1] Marcus, Santorini, Marcinkiewicz 1993, Building a large annotated corpus of English.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from maxmargin.core.data.foreign.nltk_trees import from_nltk, is_nltk
from maxmargin.core.data.warned import warn
from maxmargin.io.text import read_lines
from maxmargin.io.trees.nltk_trees import to_nltk

Tree = Any  # a leaf `str`, or a node `(label, child, ...)`
Token = str | tuple[str, str]  # a tag or a word, or (word, tag)

EMPTY = "-NONE-"
TOPS = ("", "TOP", "ROOT")


class Treebank(NamedTuple):
    """Trees and the names of the documents they come from ("" where not given)."""

    trees: list[Tree]
    names: list[str]


class TreebankError(ValueError):
    """Malformed bracketing: the message names file, line and column."""


def parse_trees(text: str, source: str = "<text>") -> Treebank:
    r"""Trees of a text exactly as they are bracketed; see `strip_tree`.

    Examples
    --------
    >>> parse_trees("(S (NP (DT the) (NN cat))\n  (VP (VBD sat)))").trees
    [('S', ('NP', ('DT', 'the'), ('NN', 'cat')), ('VP', ('VBD', 'sat')))]
    >>> parse_trees("(S (NP (DT the)))\n(S (NP", "a.mrg")
    Traceback (most recent call last):
        ...
    maxmargin.io.treebank.TreebankError: a.mrg, line 2, column 4: this bracket is never closed
    """
    trees: list[Tree] = []
    names: list[str] = []
    name = ""
    stack: list[tuple[list[Any], int, int]] = []  # open node, line, column
    for kind, word, line, column in _tokens(text):
        at = f"{source}, line {line}, column {column}"
        if kind == "(":
            stack.append(([], line, column))
        elif kind == ")":
            if not stack:
                raise TreebankError(f"{at}: a closing bracket without an opening one")
            node = _closed(stack.pop()[0], at)
            if stack:
                stack[-1][0].append(node)
            else:
                trees.append(node)
                names.append(name)
        elif kind == "name":
            name = word
        elif not stack:
            raise TreebankError(f"{at}: {word!r} stands outside all brackets")
        else:
            stack[-1][0].append(word)
    if stack:
        _, line, column = stack[-1]
        raise TreebankError(
            f"{source}, line {line}, column {column}: this bracket is never closed"
        )
    return Treebank(trees, names)


def read_treebank(path: str | Path, *, strip: bool = True) -> Treebank:
    """Trees of a file of bracketed text (`.gz` is unpacked).

    Parameters
    ----------
    path : path
    strip : bool, default=True
        Clean each tree with `strip_tree`; trees without any word are left out.
    """
    path = Path(path)
    text = "\n".join(read_lines(path))
    found = parse_trees(text, path.name)
    if not strip:
        return found
    kept = [
        (clean, name)
        for tree, name in zip(*found, strict=True)
        if (clean := strip_tree(tree)) is not None
    ]
    return Treebank([t for t, _ in kept], [n for _, n in kept])


def parse_sentences(text: str) -> list[list[Token]]:
    r"""Sentences without trees, one per line, as `GrammarSVM.predict` takes them.

    Tokens stand between blanks: `word/TAG`, or a tag (or word) alone. A slash of the
    word itself is written `\/`, as in the Penn Treebank.

    Examples
    --------
    >>> parse_sentences("a/DT cat/NN\n1\\/2/CD NNS\n")
    [[('a', 'DT'), ('cat', 'NN')], [('1\\/2', 'CD'), 'NNS']]
    """
    return [
        list(map(_token, line.split())) for line in text.split("\n") if line.strip()
    ]


def write_treebank(path: str | Path, trees: Iterable[Tree]) -> None:
    """Write one tree per line, inside the customary outer bracket."""
    lines = [f"( {format_tree(tree)})\n" for tree in trees]
    Path(path).write_text("".join(lines), encoding="utf-8")


def format_tree(tree: Tree) -> str:
    """One line of brackets, from nested tuples or a tree of NLTK.

    Examples
    --------
    >>> format_tree(("NP", ("DT", "the"), ("NN", "cat")))
    '(NP (DT the) (NN cat))'
    """
    tree = from_nltk(tree)
    if isinstance(tree, str):
        return tree.replace("(", "-LRB-").replace(")", "-RRB-")
    return "(" + " ".join([tree[0], *map(format_tree, tree[1:])]) + ")"


def strip_tree(tree: Tree) -> Tree | None:
    """Tree without empty elements, function tags and unlabelled or ROOT top bracket.

    A tree of NLTK gives a tree of NLTK.

    Examples
    --------
    >>> text = "( (S (NP-SBJ-1 (-NONE- *)) (VP (VB go) (ADVP-DIR (RB home)))))"
    >>> strip_tree(parse_trees(text).trees[0])
    ('S', ('VP', ('VB', 'go'), ('ADVP', ('RB', 'home'))))
    """
    given, tree = is_nltk(tree), from_nltk(tree)
    while not isinstance(tree, str) and tree[0] in TOPS and len(tree) == 2:
        tree = tree[1]
    return to_nltk(_stripped(tree)) if given else _stripped(tree)


def warn_of_empty_elements(trees: Iterable[Tree]) -> None:
    """Say so where trees have traces, which sentences outside of a treebank do not have."""
    found = sum(map(_has_empty, trees))
    if found:
        warn(
            f"{found} trees have empty elements ({EMPTY}), which count as words: "
            "strip_tree of maxmargin.io leaves them out, and function tags, too",
            UserWarning,
        )


def _has_empty(tree: Tree) -> bool:
    if not isinstance(tree, tuple | list) or len(tree) == 0:
        return False
    return bool(tree[0] == EMPTY) or any(map(_has_empty, tree[1:]))


def tagged_words(tree: Tree) -> list[tuple[str, str]]:
    """(word, tag) pairs of the leaves, left to right.

    Examples
    --------
    >>> tagged_words(("NP", ("DT", "the"), ("NN", "cat")))
    [('the', 'DT'), ('cat', 'NN')]
    """
    return [(node[1], node[0]) for node in _preterminals(from_nltk(tree))]


def _token(text: str) -> Token:
    word, slash, tag = text.rpartition("/")
    return (word, tag) if slash and word and tag and word[-1] != "\\" else text


def _preterminals(tree: Tree) -> Iterator[Tree]:
    if len(tree) == 2 and isinstance(tree[1], str):
        yield tree
        return
    for child in tree[1:]:
        yield from _preterminals(child)


def _stripped(tree: Tree) -> Tree | None:
    if isinstance(tree, str):
        return tree
    if len(tree) == 2 and isinstance(tree[1], str):
        return None if tree[0] == EMPTY else tree
    children = [c for c in map(_stripped, tree[1:]) if c is not None]
    return (_category(tree[0]), *children) if children else None


def _category(label: str) -> str:
    """NP-SBJ-1, NP=2, PRT|ADVP -> NP, NP, PRT; -LRB- stays."""
    for i, letter in enumerate(label):
        if letter in "-=|" and i > 0 and not label.startswith("-"):
            return label[:i]
    return label


def _closed(parts: list[Any], at: str) -> Tree:
    """Node of what stood inside a bracket: its label first, if it has one."""
    if not parts:
        raise TreebankError(f"{at}: an empty bracket closes here")
    if not isinstance(parts[0], str):
        return ("", *parts)
    if len(parts) == 1:
        raise TreebankError(f"{at}: the node {parts[0]!r} has no children")
    return tuple(parts)


def _tokens(text: str) -> Iterator[tuple[str, str, int, int]]:
    """(kind, word, line, column), counted from 1; kind: bracket, "word" or "name"."""
    depth = 0
    for number, line in enumerate(text.split("\n"), start=1):
        i = 0
        if depth == 0 and "(" in line and not line[0].isspace():
            head = line[: line.index("(")]
            if head.strip() and ")" not in head:
                yield "name", head.split("\t")[0].split()[0], number, 1
                i = len(head)
        while i < len(line):
            letter = line[i]
            if letter in "()":
                depth += 1 if letter == "(" else -1
                yield letter, letter, number, i + 1
                i += 1
            elif letter.isspace():
                i += 1
            else:
                start = i
                while i < len(line) and line[i] not in "()" and not line[i].isspace():
                    i += 1
                yield "word", line[start:i], number, start + 1
