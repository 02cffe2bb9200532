"""Trees of NLTK, from and to nested tuples `(label, child, ...)`.

NLTK is imported only where it is handed over or asked for.
"""

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


def to_nltk(tree: Tree | None) -> Any:
    """Nested tuples as a tree of NLTK; None and words stay as they are.

    Examples
    --------
    ``to_nltk(("NP", ("DT", "the"), ("NN", "cat"))).leaves()`` is ["the", "cat"].

    >>> to_nltk(None) is None
    True
    """
    if tree is None or isinstance(tree, str):
        return tree
    try:
        from nltk.tree import Tree as NltkTree
    except ImportError as error:
        raise ImportError(
            "the model was trained on trees of NLTK: pip install nltk"
        ) from error
    return NltkTree(tree[0], [to_nltk(child) for child in tree[1:]])
