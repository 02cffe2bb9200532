"""Trees of NLTK as nested tuples `(label, child, ...)`, without importing it."""

from __future__ import annotations

import sys
from typing import Any

Tree = Any  # a leaf `str`, or a node `(label, child, ...)`


def is_nltk(tree: Any) -> bool:
    """Whether it is a tree of NLTK; does not import it."""
    module = sys.modules.get("nltk.tree")
    return module is not None and isinstance(tree, module.Tree)


def from_nltk(tree: Any) -> Tree:
    """A tree of NLTK as nested tuples; anything else stays as it is.

    Examples
    --------
    ``from_nltk(nltk.Tree.fromstring("(NP (DT the) (NN cat))"))`` is the tuple below.

    >>> from_nltk(("NP", ("DT", "the"), ("NN", "cat")))
    ('NP', ('DT', 'the'), ('NN', 'cat'))
    """
    if not is_nltk(tree):
        return tree
    return (str(tree.label()), *[from_nltk(child) for child in tree])
