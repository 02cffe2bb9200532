"""Synthetic homologs among decoys, as described in Tsochantaridis et al. 2005, 5.3.

Letters 1 .. 20, letter c with probability c / 210; sequences of length 50; 10 decoys per
native. The homolog: a string of 30 operations (match 0.2, substitute 0.4, insert 0.2,
delete 0.2; a substitution is always c -> c mod 20 + 1) applied to a random piece of the
native, padded with random letters on both sides to length 50.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LETTERS = "abcdefghijklmnopqrst"
MATCH, SUBSTITUTE, INSERT, DELETE = range(4)


def make_homologs(
    n: int, seed: int = 0, *, length: int = 50, decoys: int = 10, operations: int = 30
) -> tuple[list[tuple[str, list[str]]], list[tuple[int, NDArray[np.int32]]]]:
    """N natives with candidates, and for each (place of the homolog, columns).

    Examples
    --------
    >>> X, y = make_homologs(2)
    >>> len(X[0][1]), len(X[0][0]), len(X[0][1][y[0][0]])
    (11, 50, 50)
    """
    rng = np.random.default_rng(seed)
    X: list[Any] = []
    y: list[Any] = []
    for _ in range(n):
        native = _random(rng, length)
        homolog, columns = _homolog(rng, native, operations)
        others = [_text(_random(rng, length)) for _ in range(decoys)]
        place = int(rng.integers(decoys + 1))
        others.insert(place, _text(homolog))
        X.append((_text(native), others))
        y.append((place, columns))
    return X, y


def _random(rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    return rng.choice(20, size, p=np.arange(1, 21) / 210.0)


def _text(codes: NDArray[np.int64]) -> str:
    return "".join(LETTERS[c] for c in codes)


def _homolog(
    rng: np.random.Generator, native: NDArray[np.int64], operations: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    length = len(native)
    while True:
        steps = rng.choice(4, operations, p=[0.2, 0.4, 0.2, 0.2])
        used = int((steps != INSERT).sum())
        made = int((steps != DELETE).sum())
        matched = int((steps <= SUBSTITUTE).sum())
        if used <= length and made <= length and matched > 0:
            break
    i = int(rng.integers(length - used + 1))
    j = int(rng.integers(length - made + 1))
    out = _random(rng, length)
    columns = []
    for step in steps:
        if step <= SUBSTITUTE:
            out[j] = native[i] if step == MATCH else (native[i] + 1) % 20
        if step == INSERT:
            columns.append((-1, j))
        else:
            columns.append((i, -1 if step == DELETE else j))
        i += step != INSERT
        j += step != DELETE
    return out, np.array(columns, np.int32)
