"""Dependency trees from phrase-structure trees, by head rules.

Every phrase has a head child; the head word of a phrase is that of its head child, and
the head words of its other children depend on it. `HEAD_RULES` are those of Collins for
the Penn Treebank, as changed by Yamada and Matsumoto [1, 2]: for each phrase, the
labels to look for, one after the other, and from which side.

The relation of a word is named after the largest phrase that it heads: its function tag
if it has one ("SBJ"), else its label ("NP"); for a word alone, its tag ("DT").

[1] Collins 1999, Head-driven statistical models for natural language parsing, appendix A.
[2] Yamada and Matsumoto 2003, Statistical dependency analysis with support vector machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from maxmargin.core.data.foreign.nltk_trees import from_nltk

Tree = Any  # a leaf `str`, or a node `(label, child, ...)`

EMPTY = "-NONE-"


class HeadRule(NamedTuple):
    """One step of the search for the head of a phrase.

    The head is the first child with one of these labels, from the left or the right.
    """

    from_left: bool
    labels: frozenset[str]


Rules = Mapping[str, tuple[HeadRule, ...]]


def _rules(text: str) -> dict[str, tuple[HeadRule, ...]]:
    """A line per phrase: label, side, steps; "<" turns to the left for one step."""
    out = {}
    for line in text.strip().splitlines():
        label, side, *steps = line.split()
        out[label] = tuple(
            HeadRule(
                side == "left" or step.startswith("<"),
                frozenset(step.lstrip("<").split("/")),
            )
            for step in (steps or ["?"])  # no child has this label
        )
    return out


HEAD_RULES = _rules("""
ADJP right NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP left RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP left CC RB IN
FRAG left
INTJ right
LST left LS :
NAC right NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
NP right NN/NNP/NNPS/NNS/NX/POS/JJR <NP $/ADJP/PRN CD JJ/JJS/RB/QP
NX right NN/NNP/NNPS/NNS/NX/POS/JJR <NP
PP left IN TO VBG VBN RP FW
PRN right
PRT left RP
QP right $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
RRC left VP NP ADVP ADJP PP
S right TO IN VP S SBAR ADJP UCP NP
SBAR right WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ right SQ S SINV SBARQ FRAG
SINV right VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ right VBZ VBD VBP VB MD VP SQ
UCP left
VP left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
WHADJP right CC WRB JJ ADJP
WHADVP left CC WRB
WHNP right WDT WP WP$ WHADJP WHPP WHNP
WHPP left IN TO FW
""")
PUNCTUATION = frozenset((",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"))


class ConvertedTree(NamedTuple):
    """A sentence and its tree, as `DependencySVM` takes them."""

    tokens: list[tuple[str, str]]  # (word, tag)
    arcs: list[tuple[int, str]]  # (head, relation); head 0 is the root


def dependencies_of_tree(tree: Tree, rules: Rules = HEAD_RULES) -> ConvertedTree:
    """Heads and relations of the words of a phrase-structure tree.

    Parameters
    ----------
    tree : nested tuples, or a tree of NLTK
        As `parse_trees` reads it; empty elements (-NONE-) are left out. Read treebanks with
        ``read_treebank(path, strip=False)`` to keep the function tags.
    rules : mapping from label to the steps of the search
        Phrases that it lacks have their rightmost child as head.

    Examples
    --------
    >>> tree = ("S", ("NP-SBJ", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    >>> dependencies_of_tree(tree).arcs
    [(2, 'DT'), (3, 'SBJ'), (0, 'root')]
    """
    tokens: list[tuple[str, str]] = []
    arcs: list[tuple[int, str]] = []
    root = _attach(from_nltk(tree), rules, tokens, arcs)
    if root is not None:
        arcs[root] = (0, "root")
    return ConvertedTree(tokens, arcs)


def _attach(
    tree: Tree,
    rules: Rules,
    tokens: list[tuple[str, str]],
    arcs: list[tuple[int, str]],
) -> int | None:
    """Read a phrase; number of its head word, None if it has no words."""
    if isinstance(tree, str):
        raise ValueError(f"the word {tree!r} has no tag above it")
    if len(tree) == 2 and isinstance(tree[1], str):
        if tree[0] == EMPTY:
            return None
        tokens.append((tree[1], tree[0]))
        arcs.append((0, ""))
        return len(tokens) - 1
    heads = [(child[0], _attach(child, rules, tokens, arcs)) for child in tree[1:]]
    found = [(label, word) for label, word in heads if word is not None]
    if not found:
        return None
    labels = [_base(label) for label, _ in found]
    top = found[_head_child(_base(tree[0]), labels, rules)][1]
    assert top is not None
    for label, word in found:
        if word is not None and word != top:
            arcs[word] = (top + 1, _relation(label))
    return top


def _head_child(label: str, children: list[str], rules: Rules) -> int:
    """Place of the head among the children."""
    steps = rules.get(label, ())
    forward = list(range(len(children)))
    if label in ("NP", "NX") and children[-1] == "POS":
        return forward[-1]
    for step in steps:
        for k in forward if step.from_left else forward[::-1]:
            if children[k] in step.labels:
                return k
    order = forward if steps and steps[0].from_left else forward[::-1]
    words = [k for k in order if children[k] not in PUNCTUATION]
    return words[0] if words else order[0]


def _base(label: str) -> str:
    """NP-SBJ-1, NP=2 -> NP; -LRB- stays."""
    if label.startswith("-"):
        return label
    return label.split("|")[0].split("-")[0].split("=")[0]


def _relation(label: str) -> str:
    """NP-SBJ-1 -> SBJ, NP -> NP; -LRB- stays."""
    if label.startswith("-"):
        return label
    parts = label.split("=")[0].split("-")
    functions = [part for part in parts[1:] if part and not part.isdigit()]
    return functions[0] if functions else parts[0].split("|")[0]
