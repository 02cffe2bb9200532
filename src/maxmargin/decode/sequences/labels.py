"""Legal label sequences and sets of spans from scores of elsewhere, in one call.

The scores may come from any model, for instance the logits of a neural tagger: a
sequence of n tokens is an array (n, labels). Several sequences are a list of arrays.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Ints, check_ordered
from maxmargin.core.jit import loop
from maxmargin.decode.sequences.chain import Chain

Span = tuple[int, int, Hashable]
Names = Sequence[Hashable] | Mapping[int, Hashable]


def label_names(labels: Names) -> tuple[Any, ...]:
    """Names in the order of the columns, from a sequence or `config.id2label`.

    Examples
    --------
    >>> label_names({1: "B-X", 0: "O"})
    ('O', 'B-X')
    """
    if isinstance(labels, Mapping):
        keys = sorted(labels, key=int)
        if [int(k) for k in keys] != list(range(len(keys))):
            raise ValueError(
                f"labels has the numbers {keys}; one name is needed for each column, "
                f"0 .. {len(keys) - 1}"
            )
        return tuple(labels[k] for k in keys)
    check_ordered(labels, "labels")
    return tuple(labels)


def best_labels(
    scores: Any,
    labels: Names,
    scheme: str | None = None,
    allowed: Any = None,
    transitions: Any = None,
    n_jobs: int = 1,
) -> list[Any]:
    """The best legal label sequence.

    Parameters
    ----------
    scores : array (tokens, labels), or list of them
        Any scores, such as logits or log-probabilities; higher is better.
    labels : sequence, or mapping from numbers
        Names of the labels, in the order of the columns; or `config.id2label` of Hugging
        Face.
    scheme : {"bio", "iob1", "bioes", "bilou"}, optional
        How entities are written.
    allowed : set of pairs or array (labels, labels), optional
        Which label may follow which.
    transitions : array (labels, labels), optional
        Scores of label pairs.
    n_jobs : int, default=1
        Threads.

    Returns
    -------
    list of labels, or a list of such lists

    Examples
    --------
    >>> logits = [[0.1, 0.2, 2.0], [0.3, 0.1, 1.5], [3.0, 0.2, 0.1]]
    >>> best_labels(logits, ["O", "B-PER", "I-PER"], scheme="bio")
    ['B-PER', 'I-PER', 'O']
    """
    names = label_names(labels)
    chain = Chain(labels=names, scheme=scheme, allowed=allowed)
    single, tables, sizes = _read(scores, len(names), transitions)
    if len(sizes) == 0:
        return []
    found = chain.best(tables, sizes, n_jobs).outputs
    rows = [[names[k] for k in row[:n]] for row, n in zip(found, sizes, strict=True)]
    return rows[0] if single else rows


def nbest_labels(
    scores: Any,
    labels: Names,
    n: int,
    scheme: str | None = None,
    allowed: Any = None,
    transitions: Any = None,
    n_jobs: int = 1,
) -> list[Any]:
    """The n best legal label sequences, as pairs (labels, score); best first.

    Parameters are those of `best_labels`.

    Examples
    --------
    >>> nbest_labels([[1.0, 0.0], [0.0, 0.5]], ["N", "V"], 2)
    [(['N', 'V'], 1.5), (['N', 'N'], 1.0)]
    """
    names = label_names(labels)
    chain = Chain(labels=names, scheme=scheme, allowed=allowed)
    single, tables, sizes = _read(scores, len(names), transitions)
    if len(sizes) == 0:
        return []
    found = chain.nbest(tables, n, sizes, n_jobs)
    rows = [
        [([names[k] for k in y], float(s)) for y, s in zip(ys, score, strict=True)]
        for ys, score in zip(found.outputs, found.score, strict=True)
    ]
    return rows[0] if single else rows


def label_marginals(
    scores: Any,
    labels: Names,
    scheme: str | None = None,
    allowed: Any = None,
    transitions: Any = None,
    n_jobs: int = 1,
) -> Any:
    """Probability of each label of each token, over legal sequences only.

    The probability of a sequence is proportional to exp(score), so with log-softmax
    scores this is what the model believes, given that the labels are legal. Rows sum
    to one. Parameters are those of `best_labels`.

    Examples
    --------
    >>> p = label_marginals(np.zeros((2, 3)), ["O", "B-X", "I-X"], scheme="bio")
    >>> p.round(2).tolist()
    [[0.4, 0.6, 0.0], [0.4, 0.4, 0.2]]
    """
    names = label_names(labels)
    chain = Chain(labels=names, scheme=scheme, allowed=allowed)
    single, tables, sizes = _read(scores, len(names), transitions)
    if len(sizes) == 0:
        return []
    found = chain.marginals(tables, sizes, n_jobs).tables["emissions"]
    rows = [row[:n] for row, n in zip(found, sizes, strict=True)]
    return rows[0] if single else rows


def best_spans(
    spans: Iterable[tuple[int, int, Hashable, float]], threshold: float = 0.0
) -> list[Span]:
    """The set of spans that do not overlap with the highest total score.

    Parameters
    ----------
    spans : iterable of (start, end, label, score)
        Tokens start .. end - 1, as many candidates as there are, in any order.
    threshold : float, default=0.0
        What a span must score to be worth choosing: this is taken from every score.

    Returns
    -------
    list of (start, end, label), from left to right

    Examples
    --------
    >>> best_spans([(0, 2, "PER", 1.0), (1, 4, "ORG", 1.5), (2, 4, "LOC", 0.8)])
    [(0, 2, 'PER'), (2, 4, 'LOC')]
    """
    if not np.isfinite(threshold):
        raise ValueError(f"threshold={threshold!r} is not finite")
    rows = list(spans)
    for k, row in enumerate(rows):
        _check_span(k, row)
    if not rows:
        return []
    start, end, score = (np.array([r[k] for r in rows]) for k in (0, 1, 3))
    order = np.lexsort((start, end))
    first, last = start[order].astype(np.int64), end[order].astype(np.int64)
    before = np.searchsorted(last, first, "right")
    chosen = _schedule(before, score[order].astype(np.float64) - threshold)
    return [(int(r[0]), int(r[1]), r[2]) for r in (rows[order[k]] for k in chosen)]


def _check_span(k: int, row: Any) -> None:
    numbers: list[Any] = [row[j] for j in (0, 1, 3)] if len(row) == 4 else [None]
    if not all(isinstance(value, int | float | np.number) for value in numbers):
        raise ValueError(f"span {k}: {row!r} is not (start, end, label, score)")
    start, end, score = numbers
    if not (start == int(start) and 0 <= start < end == int(end)):
        raise ValueError(f"span {k}: tokens {start} .. {end} are not a span")
    if np.isnan(score) or score == np.inf:
        raise ValueError(f"span {k}: its score is {score}")


@loop
def _schedule(before, score):
    """Weighted interval scheduling; `before`: spans that end where each begins."""
    n = len(score)
    best = np.zeros(n + 1)
    for k in range(n):
        best[k + 1] = max(best[k], best[before[k]] + score[k])
    chosen, size, k = np.empty(n, np.int64), 0, n
    while k > 0:
        if best[k] == best[k - 1]:
            k -= 1
        else:
            chosen[size] = k - 1
            size += 1
            k = before[k - 1]
    return chosen[:size][::-1].copy()


def _read(
    scores: Any, labels: int, transitions: Any
) -> tuple[bool, dict[str, Any], Ints]:
    """Whether it is one sequence only; tables of a padded batch; lengths."""
    if not isinstance(scores, list | tuple):  # tables of pandas, polars, torch
        scores = np.asarray(scores)
        if scores.ndim == 0:
            raise ValueError(f"scores={scores}: a table (tokens, labels) is needed")
    single = isinstance(scores, np.ndarray) and scores.ndim == 2
    if not single and not isinstance(scores, np.ndarray):
        single = len(scores) > 0 and np.ndim(scores[0]) == 1
    rows = [np.asarray(r) for r in ([scores] if single else scores)]
    for b, row in enumerate(rows):
        if row.ndim != 2 or row.shape[1] != labels:
            raise ValueError(
                f"row {b}: scores of shape {row.shape}, not (tokens, {labels})"
            )
        if len(row) == 0:
            raise ValueError(f"row {b} is empty: it has no tokens")
        if row.dtype.kind not in "fiubO":
            raise ValueError(f"row {b} holds {row.dtype}: scores are real numbers")
    sizes = np.array([len(r) for r in rows], np.int64)
    half = all(r.dtype == np.float32 for r in rows)
    shape = (len(rows), int(sizes.max(initial=1)), labels)
    out = np.zeros(shape, np.float32 if half else np.float64)
    for b, row in enumerate(rows):
        out[b, : len(row)] = row
    tables = {"emissions": out, "transitions": transitions}
    given = {name: table for name, table in tables.items() if table is not None}
    return single, given, sizes
