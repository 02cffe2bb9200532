"""A few tiny segmentations and all their outputs."""

import numpy as np

from maxmargin.features import Gazetteer
from maxmargin.losses import Hamming, SpanLoss, ZeroOne
from maxmargin.structures.segments import Segments
from maxmargin.structures.segments.vocabulary import FAMILIES

LOSSES = [
    ZeroOne(),
    Hamming(normalize=True),
    SpanLoss(normalize=True),
    Hamming(),
    SpanLoss(missed=1.5),
    SpanLoss(),
]
NAMES = Gazetteer.of(["Ana", "Ana ríe"], name="names")


def spans(rng, length, widest, labels):
    """Random spans of a sentence."""
    out, t = [], 0
    while t < length:
        end = min(t + int(rng.integers(1, widest + 1)), length)
        if rng.random() < 0.6:
            out.append((t, end, str(rng.choice(labels))))
            t = end
        else:
            t += 1
    return out


def tiny(rng):
    """Six sentences of 0 to 4 tokens, two labels; all options at random."""
    lengths = [3, 0, 1, 2, 4, 3]
    words = np.array(["Ana", "ríe", "en"])
    widest = int(rng.integers(1, 4))
    X = [rng.choice(words, size=length).tolist() for length in lengths]
    Y = [spans(rng, length, widest, ["LOC", "PER"]) for length in lengths]
    Y[2], Y[3] = [(0, 1, "PER")], [(0, 1, "LOC")]  # every label occurs
    families = tuple(f for f in FAMILIES if rng.random() < 0.5)
    structure = Segments(
        max_length=widest,
        roles=(None, "bio", "bioes")[rng.integers(3)],
        shared=bool(rng.integers(2)),
        segment_features=families,
        gazetteers=(NAMES,) * int(rng.integers(2)),
        window=int(rng.integers(2)),
        start_end=bool(rng.integers(2)),
        skip_pairs=bool(rng.integers(2)),
    )
    if rng.integers(2):  # arrays instead of words
        X = [np.eye(3)[rng.integers(3, size=n)] + rng.random((n, 3)) for n in lengths]
        structure = Segments(
            max_length=widest,
            roles=structure.roles,
            shared=structure.shared,
            skip_pairs=structure.skip_pairs,
        )
    return structure, X, Y


def outputs(structure, x, i):
    """All rows of codes that nothing forbids."""
    length, C = int(x.ptr[i + 1] - x.ptr[i]), len(structure.labels)
    legal = structure.legal.reshape(C, C) if len(structure.legal) else np.zeros((C, C))
    rows = [([], None)]
    done = []
    while rows:
        row, before = rows.pop()
        if len(row) == length:
            done.append(row)
            continue
        for k in range(C):
            if before is not None and legal[before, k] < 0:
                continue
            widest = min(structure.max_length, length - len(row)) if k else 1
            for w in range(widest):
                codes = [2 * k - 1] + [2 * k] * w if k else [0]
                rows.append((row + codes, k))
    return done


def same(y, z):
    """Spans compare as lists."""
    return y == z
