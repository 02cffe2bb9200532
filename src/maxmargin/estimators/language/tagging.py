"""A tagger inside a parser: tags of sentences that come as words alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from maxmargin.estimators.sequences.chain import ChainSVM
from maxmargin.io.sequences.templates import pos

Token = tuple[str, str]  # word, tag


def trained_tagger(tagger: Any, sentences: Sequence[Sequence[Token]]) -> Any:
    """A tagger of words, trained on the words and tags of sentences.

    Examples
    --------
    >>> sentences = [[("the", "DT"), ("cat", "NN")], [("a", "DT"), ("dog", "NN")]] * 3
    >>> model = trained_tagger("chain", sentences)
    >>> tagged_sentences(model, [["the", "dog"], [("a", "X"), ("b", "Y")]])
    [[('the', 'DT'), ('dog', 'NN')], [('a', 'X'), ('b', 'Y')]]
    """
    if isinstance(tagger, str) and tagger != "chain":
        raise ValueError(f"tagger={tagger!r}: 'chain', an estimator, or None")
    made = clone(ChainSVM(C=0.1, tol=0.05) if tagger == "chain" else tagger)
    tags = [[tag for _, tag in sentence] for sentence in sentences]
    return made.fit([pos(sentence) for sentence in sentences], tags)


def is_bare(sentence: Any) -> bool:
    """Whether a sentence has words, and none of them a tag."""
    if isinstance(sentence, str) or not hasattr(sentence, "__len__"):
        return False
    return len(sentence) > 0 and all(isinstance(token, str) for token in sentence)


def tagged_sentences(tagger: Any, X: Sequence[Any]) -> list[Any]:
    """Sentences of words alone as (word, tag) pairs; others as they are."""
    out = list(X)
    bare = [i for i, x in enumerate(out) if is_bare(x)]
    if bare:
        rows = [pos([(word,) for word in out[i]]) for i in bare]
        for i, tags in zip(bare, tagger.predict(rows), strict=True):
            out[i] = [(w, str(t)) for w, t in zip(out[i], tags, strict=True)]
    return out
