"""Tiny searches among candidates and all their outputs."""

import numpy as np

from cases.alignment import any_gaps, paths, sequence, written
from maxmargin.losses import ZeroOne
from maxmargin.structures.alignment import Alignment, Homology

LOSSES = [ZeroOne()]


def tiny(rng):
    """Four natives with one to three candidates; the homolog is aligned."""
    mode = str(rng.choice(["global", "semiglobal", "local"]))
    gaps = any_gaps(rng, mode)
    structure = Homology(
        Alignment(mode=mode, gaps=gaps, normalize=bool(rng.integers(2)))
    )
    X, Y = [], []
    for size in (3, 2, 1, 3):
        m = int(rng.integers(1, 4))
        lengths = rng.integers(1, 4, size=size)
        native = sequence(rng, m)
        candidates = [sequence(rng, int(n)) for n in lengths]
        c = int(rng.integers(size))
        columns = written(rng, m, int(lengths[c]), mode)
        X.append((native, candidates, {c: columns}))
        Y.append((c, columns))
    return structure, X, Y


def outputs(structure, x, i):
    """Each candidate with all its alignments, the homolog with its own."""
    rows, cols = x.pairs.sizes
    out = []
    for c, pair in enumerate(range(x.ptr[i], x.ptr[i + 1])):
        known = x.known.row(pair).tolist()
        if known:
            out.append([c, *known])
        else:
            free = paths(int(rows[pair]), int(cols[pair]), structure.alignment.mode)
            out += [[c, *path] for path in free]
    return out


def same(y, z):
    return y[0] == z[0] and np.array_equal(y[1], z[1])
