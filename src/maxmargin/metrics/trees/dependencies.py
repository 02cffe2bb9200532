"""How well dependency trees are predicted: attachment scores.

UAS = tokens with the right head / tokens
LAS = tokens with the right head and the right label / tokens
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

PENN_PUNCTUATION = frozenset(("``", "''", ":", ",", "."))  # not counted by custom
UD_PUNCTUATION = frozenset(("PUNCT",))


class AttachmentScores(NamedTuple):
    """Scores over all tokens of all sentences."""

    uas: float
    las: float
    exact: float  # share of sentences without any error, labels included
    roots: float  # share of sentences whose roots are right
    tokens: int  # that count


def attachment_scores(
    truth: Sequence[Sequence[Any]],
    predicted: Sequence[Sequence[Any]],
    sentences: Sequence[Sequence[Any]] | None = None,
    *,
    ignored_tags: Collection[str] = (),
) -> AttachmentScores:
    """UAS and LAS of trees, lists of heads or of (head, label) pairs.

    Parameters
    ----------
    truth, predicted : sequences of trees
        Without labels on either side, LAS is the same as UAS.
    sentences : sequence of sentences of (word, tag) pairs, optional
        Needed for `ignored_tags`.
    ignored_tags : collection of str
        Tokens with these tags do not count, say `PENN_PUNCTUATION`. The shared tasks on
        Universal Dependencies count all tokens.

    Examples
    --------
    >>> truth = [[(2, "nsubj"), (0, "root"), (2, "obj")]]
    >>> scores = attachment_scores(truth, [[(2, "obj"), (0, "root"), (1, "obj")]])
    >>> round(scores.uas, 3), round(scores.las, 3), scores.tokens
    (0.667, 0.333, 3)
    """
    if len(truth) != len(predicted):
        raise ValueError(f"{len(truth)} true trees, but {len(predicted)} predictions")
    if ignored_tags and sentences is None:
        raise ValueError("ignored_tags needs the sentences, with their tags")
    tokens = heads = both = exact = roots = 0
    for i, (tree, guess) in enumerate(zip(truth, predicted, strict=True)):
        if len(tree) != len(guess):
            raise ValueError(
                f"sentence {i}: the prediction has {len(guess)} tokens, "
                f"the truth {len(tree)}"
            )
        pairs = [(_arc(a), _arc(b)) for a, b in zip(tree, guess, strict=True)]
        roots += all((a[0] == 0) == (b[0] == 0) for a, b in pairs)
        if sentences is not None and ignored_tags:
            kept = [_tag(i, token) not in ignored_tags for token in sentences[i]]
            pairs = [pair for pair, keep in zip(pairs, kept, strict=True) if keep]
        same = [(a[0] == b[0], _same_label(a[1], b[1])) for a, b in pairs]
        tokens += len(same)
        heads += sum(head for head, _ in same)
        right = sum(head and label for head, label in same)
        both += right
        exact += right == len(same)
    n = max(len(truth), 1)
    return AttachmentScores(
        heads / tokens if tokens else 1.0,
        both / tokens if tokens else 1.0,
        exact / n,
        roots / n,
        tokens,
    )


def _arc(entry: Any) -> tuple[int, str | None]:
    pair = isinstance(entry, tuple | list) and len(entry) == 2
    try:
        return (int(entry[0]), str(entry[1])) if pair else (int(entry), None)
    except (TypeError, ValueError):
        raise ValueError(
            f"{entry!r} is neither a head (a whole number) nor a (head, label) pair"
        ) from None


def _same_label(a: str | None, b: str | None) -> bool:
    return a is None or b is None or a == b


def _tag(i: int, token: Any) -> str:
    if isinstance(token, str):
        raise ValueError(f"sentence {i} has no tags, which ignored_tags needs")
    return str(token[1])
