"""A tiny chain and all its outputs."""

from itertools import pairwise, product

import numpy as np

from maxmargin.losses import Hamming, ZeroOne
from maxmargin.structures.chain import Chain

LOSSES = [
    ZeroOne(),
    Hamming(),
    Hamming(normalize=True),
    Hamming(class_weight=[0.5, 1.0, 2.0]),
]


def tiny(rng):
    """Six sequences of 0 to 4 tokens, three labels; all options at random."""
    k = 3
    lengths = [3, 0, 1, 2, 4, 3]
    X = [rng.normal(size=(length, 2)) for length in lengths]
    Y = [rng.integers(k, size=length).tolist() for length in lengths]
    Y[0] = [2, 0, 1]  # every label occurs
    structure = Chain(
        eta=0.8,
        order=int(rng.integers(1, 4)),
        edge_features=bool(rng.integers(2)),
        window=int(rng.integers(2)),
        start_end=bool(rng.integers(2)),
        bias=bool(rng.integers(2)),
    )
    return structure, X, Y


def outputs(structure, x, i):
    """All label sequences that the mask and the forced labels leave."""
    k, begin, end = len(structure.labels), int(x.ptr[i]), int(x.ptr[i + 1])
    legal = np.isfinite(structure.legal) if len(structure.legal) else None
    rows = []
    for row in product(range(k), repeat=end - begin):
        if len(x.forced) and any(
            f >= 0 and f != y for f, y in zip(x.forced[begin:end], row, strict=True)
        ):
            continue
        if legal is not None and row:
            steps = [legal[a * k + b] for a, b in pairwise(row)]
            ends = [legal[k * k + row[0]], legal[k * k + k + row[-1]]]
            if not all(steps + ends):
                continue
        rows.append(list(row))
    return rows
