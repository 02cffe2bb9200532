"""What the program evalb prints, computed the same way and under its names.

Punctuation (the words under dropped tags) is taken out, the top bracket does not count,
function tags are cut off labels (NP-SBJ -> NP). A sentence whose words differ from the
truth's is an error, one without a parse is skipped: both are counted, and left out of
everything else. So beside these figures say how many were skipped; `bracket_scores`
counts sentences without a parse as trees without brackets instead.

[1] Sekine and Collins, evalb; parameter file COLLINS.prm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from maxmargin.core.data.foreign.nltk_trees import from_nltk
from maxmargin.metrics.trees.brackets import COLLINS, BracketRules, brackets, crossings

Tree = Any  # a leaf `str`, or a node `(label, child, ...)`
EMPTY = "-NONE-"  # the only tag whose words do not count in the length of a sentence


class EvalbScores(NamedTuple):
    """The summary of evalb; shares are percentages."""

    number_of_sentence: int
    number_of_error_sentence: int  # words differ
    number_of_skip_sentence: int  # no parse
    number_of_valid_sentence: int
    bracketing_recall: float
    bracketing_precision: float
    bracketing_fmeasure: float
    complete_match: float
    average_crossing: float  # brackets, not a percentage
    no_crossing: float
    two_or_less_crossing: float
    tagging_accuracy: float

    def named(self) -> dict[str, float]:
        """The figures under the names that evalb prints."""
        names = [
            "Number of sentence", "Number of Error sentence", "Number of Skip sentence",
            "Number of Valid sentence", "Bracketing Recall", "Bracketing Precision",
            "Bracketing FMeasure", "Complete match", "Average crossing", "No crossing",
            "2 or less crossing", "Tagging accuracy",
        ]  # fmt: skip
        return dict(zip(names, self, strict=True))

    def __str__(self) -> str:
        rows = self.named().items()
        return "\n".join(
            f"{name:<26}= {value:6d}"
            if isinstance(value, int)
            else f"{name:<26}= {value:6.2f}"
            for name, value in rows
        )


def evalb(
    truth: Sequence[Tree],
    predicted: Sequence[Tree | None],
    rules: BracketRules = COLLINS,
    *,
    cutoff: int | None = None,
    same_words: Mapping[str, str] | None = None,
) -> EvalbScores:
    """Compare trees as evalb does.

    Parameters
    ----------
    truth, predicted : sequences of trees, None where there is no parse
        Nested tuples, or trees of NLTK.
    rules : BracketRules, default=COLLINS
        What counts, as in a parameter file of evalb.
    cutoff : int, optional
        Look at sentences of at most so many words, as evalb does for 40; words under
        -NONE- do not count, punctuation does.
    same_words : mapping, optional
        Words that count as others (EQ_WORD of evalb).

    Examples
    --------
    >>> truth = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    >>> guess = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VBD", "sat"))
    >>> scores = evalb([truth, truth], [guess, None])
    >>> round(scores.bracketing_recall, 2), scores.number_of_skip_sentence
    (66.67, 1)
    """
    if len(truth) != len(predicted):
        raise ValueError(f"{len(truth)} true trees, but {len(predicted)} predictions")
    known = same_words or {}
    total = errors = skipped = 0
    m = p = g = complete = right = words = 0
    crossing: list[int] = []
    for tree, guess in zip(
        map(from_nltk, truth), map(from_nltk, predicted), strict=True
    ):
        leaves = list(_leaves(tree))
        if cutoff is not None and sum(tag != EMPTY for tag, _ in leaves) > cutoff:
            continue
        total += 1
        if guess is None:
            skipped += 1
            continue
        own = [leaf for leaf in leaves if leaf[0] not in rules.dropped_tags]
        other = [x for x in _leaves(guess) if x[0] not in rules.dropped_tags]
        if [known.get(w, w) for _, w in own] != [known.get(w, w) for _, w in other]:
            errors += 1
            continue
        true, found = brackets(_plain(tree), rules), brackets(_plain(guess), rules)
        common = sum((true & found).values())
        m, p, g = m + common, p + sum(found.values()), g + sum(true.values())
        complete += true == found
        crossing.append(crossings(found, true))
        words += len(own)
        same = rules.same
        right += sum(
            same.get(a, a) == same.get(b, b)
            for (a, _), (b, _) in zip(own, other, strict=True)
        )
    valid = total - errors - skipped
    recall, precision = _share(m, g), _share(m, p)
    both = recall + precision
    return EvalbScores(
        total, errors, skipped, valid, recall, precision,
        2 * recall * precision / both if both else 0.0,
        _share(complete, valid),
        sum(crossing) / valid if valid else 0.0,
        _share(sum(k == 0 for k in crossing), valid),
        _share(sum(k <= 2 for k in crossing), valid),
        _share(right, words),
    )  # fmt: skip


def _share(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def _leaves(tree: Tree) -> list[tuple[str, str]]:
    """(tag, word) pairs."""
    if isinstance(tree, str):
        return [("", tree)]
    if len(tree) == 2 and isinstance(tree[1], str):
        return [(tree[0], tree[1])]
    return [leaf for child in tree[1:] for leaf in _leaves(child)]


def _plain(tree: Tree) -> Tree:
    """The tree without function tags: NP-SBJ, NP=2 -> NP; -LRB- stays."""
    if isinstance(tree, str) or (len(tree) == 2 and isinstance(tree[1], str)):
        return tree
    label = tree[0]
    if not label.startswith("-"):
        label = label.split("-")[0].split("=")[0]
    return (label, *map(_plain, tree[1:]))
