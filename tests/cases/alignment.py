"""Tiny pairs of annotated sequences and all their alignments."""

from dataclasses import replace

import numpy as np

from maxmargin.inference.alignment import DELETE, INSERT, MATCH
from maxmargin.losses import AlignedPairs, ZeroOne
from maxmargin.structures.alignment import (
    Alignment,
    Gaps,
    View,
    anova2,
    decode_path,
    profile,
    simple,
    structural_gaps,
    tensor,
    window,
)

LOSSES = [ZeroOne(), AlignedPairs(), AlignedPairs(1), AlignedPairs(4)]
TRACKS = ["residue", "shape"]
MODELS = [
    simple(["residue"]),
    simple(TRACKS) + anova2(TRACKS) + window({"shape": 1}, {"residue": ("AB", "C")}),
    tensor(TRACKS) + window({"residue": 1}, {"residue": ("AB", "C")}),
    simple(TRACKS) + profile("profile", TRACKS),
    None,
]
GAPS = [
    Gaps(),
    Gaps(affine=False),
    Gaps(tied=True),
    structural_gaps("residue", ["shape"]),
    Gaps(affine=False, opening=(View(("shape",)),), slot=(View(("residue",)),)),
]


def tiny(rng):
    """Five pairs; mode, model, gaps and the rest at random."""
    sizes = [(3, 3), (1, 2), (3, 1), (2, 3), (1, 1)]
    mode = str(rng.choice(["global", "semiglobal", "local"]))
    structure = Alignment(
        mode=mode,
        model=MODELS[rng.integers(len(MODELS))],
        gaps=any_gaps(rng, mode),
        symmetric=bool(rng.integers(2)),
        normalize=bool(rng.integers(2)),
        alphabets={"residue": "ABC", "shape": "HE"},
    )
    pool = [sequence(rng, k) for k in (1, 2, 3, 3)]
    X = [(pool[m - 1], sequence(rng, n)) for m, n in sizes]
    return structure, X, [written(rng, m, n, mode) for m, n in sizes]


def any_gaps(rng, mode):
    """Gaps at random; ends have costs of their own in global mode only."""
    gaps = GAPS[rng.integers(len(GAPS))]
    return replace(gaps, ends=mode == "global" and bool(rng.integers(2)))


def sequence(rng, size):
    return {
        "name": f"s{size}",
        "residue": "".join(rng.choice(list("ABC"), size)),
        "shape": "".join(rng.choice(list("HE"), size)),
        "profile": rng.normal(size=(size, 2)),
    }


def written(rng, m, n, mode):
    """Columns of a random alignment that matches something."""
    rows = [row for row in paths(m, n, mode) if MATCH in row[2:]]
    code = {"global": 0, "semiglobal": 1, "local": 2}[mode]
    row = np.array(rows[rng.integers(len(rows))], np.int32)
    return decode_path(row, m, n, code)


def outputs(structure, x, i):
    """All alignments of pair i."""
    rows, cols = x.sizes
    return paths(int(rows[i]), int(cols[i]), structure.mode)


def paths(m, n, mode):
    """Every path of `mode` through an m x n table, as start and moves."""
    out = [] if mode == "global" else [[0, 0]]

    def walk(i, j, path):
        if ends(i, j, path[2:]):
            out.append(path)
        for move in (MATCH, DELETE, INSERT):
            u, v = i + (move != INSERT), j + (move != DELETE)
            first = len(path) == 2
            if u > m or v > n or (first and not starts(i, j, move)):
                continue
            if not (path[-1] == INSERT and move == DELETE and not first):
                walk(u, v, [*path, move])

    def starts(i, j, move):
        if mode == "global":
            return True
        along = (move == DELETE and j == 0) or (move == INSERT and i == 0)
        return move == MATCH or (mode == "semiglobal" and not along)

    def ends(i, j, moves):
        if mode == "global":
            return (i, j) == (m, n)
        if not moves:
            return False
        along = (moves[-1] == DELETE and j == n) or (moves[-1] == INSERT and i == m)
        at_border = mode == "semiglobal" and (i == m or j == n) and not along
        return at_border or (mode == "local" and moves[-1] == MATCH)

    for i in range(m if mode != "global" else 1):
        for j in range(n if mode != "global" else 1):
            if mode != "semiglobal" or i == 0 or j == 0:
                walk(i, j, [i, j])
    return out
