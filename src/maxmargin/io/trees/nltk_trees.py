"""Trees of NLTK, from and to nested tuples `(label, child, ...)`.

NLTK is imported only where it is handed over or asked for.
"""

from __future__ import annotations

from typing import Any

from maxmargin.core.data.foreign.nltk_trees import from_nltk as from_nltk
from maxmargin.core.data.foreign.nltk_trees import is_nltk as is_nltk

Tree = Any  # a leaf `str`, or a node `(label, child, ...)`


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
