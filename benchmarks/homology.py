"""HOMSTRAD: is the relative found among decoys, and how good are alignments?

    python -m benchmarks.homology search
    python -m benchmarks.homology align
    python -m benchmarks.homology long

`search`: relatives below 25 % identical letters among 20 decoys of similar length from
other families; share of the proteins whose relative comes first. `align`: mean Q, the
share of the reference pairs that are found, from residues alone. Families are halved; each
half is the test set of models trained on the other. Standard errors are those of the mean
over all test proteins, of differences to tuned BLOSUM62 in `align`. `long` is `align` on the
families that it leaves out because a protein has more than 200 residues, up to 400.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin import AlignmentSVM, HomologySVM
from maxmargin.baselines import KnownMatrix
from maxmargin.datasets import Family, family_pairs, read_homstrad
from maxmargin.losses import AlignedPairs
from maxmargin.structures.alignment import Prior, matrix, simple

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
IDENTITY, DECOYS, LONGEST = 0.25, 20, 250
PLAIN = {"alignments": "given", "start": None, "C": 0.2, "tol": 1e-3, "max_time": 120.0}
SEARCHES: dict[str, dict[str, Any]] = {
    "HomologySVM()": {},
    "HomologySVM(symmetric=True)": {"symmetric": True},
    "as in 0.1.0": PLAIN,
}
OPENINGS, EXTENSIONS = (
    (-18.0, -16.0, -14.0, -12.0, -10.0, -8.0),
    (-2.0, -1.5, -1.0, -0.5),
)


def main() -> None:
    """Print the figures."""
    warnings.simplefilter("ignore")
    path = (
        Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
        / "homstrad/homstrad.txt.gz"
    )
    families = read_homstrad(path)
    order = np.random.default_rng(0).permutation(len(families))
    halves = [[families[k] for k in part] for part in np.array_split(order, 2)]
    if sys.argv[1] == "long":
        align_long(families)
        return
    task = {"search": search, "align": align}[sys.argv[1]]
    task(halves)


def search(halves: list[list[Family]]) -> None:
    """Top-1 of trained models and of BLOSUM62 with local alignments."""
    data = [searches(half, seed) for seed, half in enumerate(halves)]
    for opening in (-11.0, -8.0):
        known = KnownMatrix(opening=opening, extension=-1.0, mode="local").bind()
        hits = np.concatenate([ranked(known, *part) for part in data])
        show(f"BLOSUM62 {opening:.0f} -1", hits, 0.0)
    for name, options in SEARCHES.items():
        begin, hits = time.process_time(), []
        for train, test in ((0, 1), (1, 0)):
            model = HomologySVM(**options).fit(*data[train])
            X, y = data[test]
            hits.append(model.predict(X) == np.array([c for c, _ in y]))
        show(name, np.concatenate(hits), (time.process_time() - begin) / 2)
        if not options:
            hits = []
            for train, test in ((0, 1), (1, 0)):
                places = [c for c, _ in data[train][1]]
                model = HomologySVM().fit(data[train][0], places)
                X, y = data[test]
                hits.append(model.predict(X) == np.array([c for c, _ in y]))
            show("without alignments", np.concatenate(hits), 0.0)


def searches(families: list[Family], seed: int) -> tuple[list[Any], list[Any]]:
    """A protein of each family with a distant relative among decoys."""
    rng = np.random.default_rng(seed)
    distant: dict[str, list[Any]] = {}
    pool = set()
    for family in families:
        for (a, b), columns in zip(*family_pairs(family, ["seq"]), strict=True):
            s, t = a["residue"], b["residue"]
            if max(len(s), len(t)) > LONGEST or not set(s + t) <= set(LETTERS):
                continue
            pool |= {(family.name, s), (family.name, t)}
            matched = columns[(columns >= 0).all(axis=1)]
            if np.mean([s[i] == t[j] for i, j in matched]) < IDENTITY:
                distant.setdefault(family.name, []).append((s, t, columns))
    X, y = [], []
    for name, pairs in distant.items():
        s, t, columns = pairs[int(rng.integers(len(pairs)))]
        apart = sorted(
            (abs(len(v) - len(t)), v) for family, v in pool if family != name
        )
        others = [v for _, v in apart]
        near = rng.choice(min(200, len(others)), DECOYS, replace=False)
        candidates = [others[k] for k in near]
        place = int(rng.integers(DECOYS + 1))
        candidates.insert(place, t)
        X.append((s, candidates))
        y.append((place, columns))
    return X, y


def ranked(known: KnownMatrix, X: list[Any], y: list[Any]) -> np.ndarray:
    """Whether the relative has the highest score."""
    assert known.structure is not None
    pairs = [(s, t) for s, candidates in X for t in candidates]
    x = known.structure.encode(pairs)
    scores = known.structure.argmax(x, np.arange(x.n), known.weights).score
    rows = scores.reshape(len(X), DECOYS + 1)
    return rows.argmax(axis=1) == np.array([c for c, _ in y])


def show(name: str, hits: np.ndarray, seconds: float) -> None:
    """One line of the table of searches."""
    error = np.std(hits) / np.sqrt(len(hits))
    print(f"{name:32} {np.mean(hits):.3f} +- {error:.3f}  {seconds:6.1f} s", flush=True)


def align(halves: list[list[Family]]) -> None:
    """Q of trained models against BLOSUM62 with gap costs tuned on the training half."""
    data = [first_pairs(half) for half in halves]
    tracks = [first_pairs(half, ["seq", "ss", "acc"]) for half in halves]
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for train, test in ((0, 1), (1, 0)):
        base, known = tuned(data[train], data[test])
        assert known.matrix is not None
        found.setdefault("BLOSUM62, tuned gaps", []).append((base, base))
        scores = known.matrix.restrict(tuple(LETTERS)).scores
        prior = Prior(tuple(LETTERS), scores, (known.opening, known.extension))
        both = {"symmetric": True, "end_gaps": True}
        added = {"features": matrix(prior) + simple(["residue"]), "C": 2.0}
        for name, options in {
            "AlignmentSVM()": {},
            "symmetric, end_gaps": both,
            "the same, BLOSUM62 as a prior": {**both, **added},
        }.items():
            model = AlignmentSVM(tol=0.02, **options).fit(*data[train])
            q = 1.0 - model.losses(*data[test])
            found.setdefault(name, []).append((q, base))
        model = AlignmentSVM(tol=0.02, **both).fit(*tracks[train])
        q = 1.0 - model.losses(*tracks[test])
        found.setdefault("the same, structure as tracks", []).append((q, base))
    for name, parts in found.items():
        q, base = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        error = np.std(q - base) / np.sqrt(len(q))
        more = f"{np.mean(q - base):+.4f} +- {error:.4f}"
        print(f"{name:32} {np.mean(q):.4f}  {more}  ({len(q)} pairs)", flush=True)


def align_long(families: list[Family]) -> None:
    """As `align`, on families that no setting was chosen on."""
    order = np.random.default_rng(7).permutation(len(families))
    parts = [[families[k] for k in part] for part in np.array_split(order, 2)]
    data = [first_pairs(part, longest=400, above=200) for part in parts]
    both = {"symmetric": True, "end_gaps": True}
    named = {"AlignmentSVM()": {}, "symmetric": {"symmetric": True}, "both": both}
    for name, options in named.items():
        more = []
        for train, test in ((0, 1), (1, 0)):
            base = tuned(data[train], data[test])[0]
            model = AlignmentSVM(tol=0.02, **options).fit(*data[train])
            more.append(1.0 - model.losses(*data[test]) - base)
        gain = np.concatenate(more)
        error = np.std(gain) / np.sqrt(len(gain))
        print(f"{name:32} {gain.mean():+.4f} +- {error:.4f}  ({len(gain)} pairs)")


def tuned(train: Any, test: Any) -> tuple[np.ndarray, KnownMatrix]:
    """Q of BLOSUM62 on test pairs, gap costs tuned on training pairs."""
    known = KnownMatrix().tune(*train, OPENINGS, EXTENSIONS)
    assert known.structure is not None
    x = known.structure.encode(test[0])
    truth = known.structure.encode_labels(x, test[1])
    labels = known.structure.argmax(x, np.arange(x.n), known.weights).labels
    return 1.0 - AlignedPairs().value(truth, labels), known


def first_pairs(
    families: list[Family], tracks: Sequence[str] = ("seq",), longest: int = 200,
    above: int = 0,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """The first pair of each family; strings of residues, unless there are more tracks."""
    X, y = [], []
    for family in families:
        (a, b), columns = (part[0] for part in family_pairs(family, tracks))
        s, t = a["residue"], b["residue"]
        if above < max(len(s), len(t)) <= longest and set(s + t) <= set(LETTERS):
            X.append((s, t) if len(tracks) == 1 else (a, b))
            y.append(columns)
    return X, y


if __name__ == "__main__":
    main()
