"""Sequences in which every likeness of the ARS consensus is spoilt."""

from __future__ import annotations

import numpy as np

CONSENSUS = ("AT", "T", "T", "T", "A", "CT", "AG", "T", "T", "T", "AT")  # WTTTAYRTTTW
NEAR = 2  # bases off up to which a window is spoilt


def decoys(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each sequence with no window, on either strand, that is NEAR the consensus."""
    return np.array([spoilt(text, rng) for text in X], object)


def spoilt(text: str, rng: np.random.Generator) -> str:
    """Bases of windows that are near the consensus changed until they are not."""
    out = list(text)
    near = True
    while near:  # a base changed for one window may complete another
        near = False
        for pattern in (CONSENSUS, reverse(CONSENSUS)):
            for a in range(len(out) - len(pattern) + 1):
                met = [j for j, ok in enumerate(pattern) if out[a + j] in ok]
                while len(met) >= len(pattern) - NEAR:
                    j = met.pop(int(rng.integers(len(met))))
                    bad = [c for c in "ACGT" if c not in pattern[j]]
                    out[a + j] = bad[int(rng.integers(len(bad)))]
                    near = True
    return "".join(out)


def reverse(pattern: tuple[str, ...]) -> tuple[str, ...]:
    """The pattern of the other strand."""
    return tuple(flipped(ok) for ok in reversed(pattern))


def flipped(word: str) -> str:
    """The word on the other strand."""
    return word.translate(str.maketrans("ACGT", "TGCA"))[::-1]
