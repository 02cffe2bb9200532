"""Protein alignment learned from embeddings, on HOMSTRAD.

    MAXMARGIN_DATA=... python -m benchmarks.neural.alignment [--pairs 300] [--epochs 4]

Residues are embedded and seen with their neighbours by a convolution; the score of
matching two positions is a product of their states, and gaps have learned scores. The
whole is trained for the alignment: hinge with the loss Q4 and likelihood, beside
BLOSUM62 with gaps 11 and 1. Sequence only; families for testing are not trained on.
Figures: Q, the share of the reference's matches that are found, and CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from maxmargin.datasets import BLOSUM62, family_pairs, read_homstrad
from maxmargin.decode import Alignment
from maxmargin.torch import structured_loss

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
LONGEST = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--kinds", nargs="+", default=["hinge", "log-likelihood"])
    parser.add_argument("--json", help="write the figures to this file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    path = (
        Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
        / "homstrad"
        / "homstrad.txt.gz"
    )
    train, test = pairs(path, args.pairs)
    print(f"{len(train)} pairs to train, {len(test)} of other families to test")
    figures = {"BLOSUM62": {"q": classical(test)}}
    print(f"BLOSUM62        Q {100 * figures['BLOSUM62']['q']:.1f}")
    for kind in args.kinds:
        figures[kind] = run(kind, train, test, args.epochs)
        print(
            f"{kind:15} Q {100 * figures[kind]['q']:.1f}   "
            f"{figures[kind]['seconds']:.1f} CPU s an epoch",
            flush=True,
        )
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1))


def pairs(path: Path, count: int) -> tuple[list[Any], list[Any]]:
    """(first, second, matches) of one pair a family, and of other families."""
    rng = np.random.default_rng(0)
    families = read_homstrad(path)
    rng.shuffle(families)
    out = []
    for family in families:
        X, Y = family_pairs(family, ["seq"])
        k = int(rng.integers(len(X)))
        one, two = (side["residue"] for side in X[k])
        if max(len(one), len(two)) <= LONGEST and set(one + two) <= set(LETTERS):
            matches = [(int(i), int(j)) for i, j in Y[k] if i >= 0 and j >= 0]
            out.append((encode(one), encode(two), matches))
    return out[:count], out[count : 2 * count]


def encode(residues: str) -> Tensor:
    return torch.tensor([LETTERS.index(c) + 1 for c in residues])


class Matcher(nn.Module):
    """Match scores of two batches of sequences."""

    def __init__(self, size: int = 32) -> None:
        super().__init__()
        self.residue = nn.Embedding(len(LETTERS) + 1, size, padding_idx=0)
        self.around = nn.Conv1d(size, size, 5, padding=2)
        self.table = nn.Linear(2 * size, 2 * size, bias=False)

    def states(self, x: Tensor) -> Tensor:
        e = self.residue(x)
        h = torch.relu(self.around(e.transpose(1, 2))).transpose(1, 2)
        return torch.cat([e, h], dim=2)

    def forward(self, one: Tensor, two: Tensor) -> Tensor:
        a, b = self.table(self.states(one)), self.table(self.states(two))
        return a @ b.transpose(1, 2) / a.shape[2] ** 0.5


def batches(some: list[Any], size: int = 8) -> list[Any]:
    order = sorted(some, key=lambda p: len(p[0]) + len(p[1]))
    out = []
    for at in range(0, len(order), size):
        part = order[at : at + size]
        sides = [
            nn.utils.rnn.pad_sequence([p[k] for p in part], batch_first=True)
            for k in (0, 1)
        ]
        lengths = tuple(torch.tensor([len(p[k]) for p in part]) for k in (0, 1))
        out.append((*sides, lengths, [p[2] for p in part]))
    return out


def run(kind: str, train: Any, test: Any, epochs: int) -> dict[str, float]:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    options = {"loss": "q4"} if kind == "hinge" else {}
    network, layer = Matcher(), structured_loss(kind, Alignment(), **options)
    with torch.no_grad():
        layer.deletes.copy_(torch.tensor([-2.0, -0.5]))
        layer.inserts.copy_(torch.tensor([-2.0, -0.5]))
    optimizer = torch.optim.Adam([*network.parameters(), *layer.parameters()], lr=3e-3)
    groups, seconds = batches(train), []
    for _ in range(epochs):
        rng.shuffle(groups)
        begin = time.process_time()
        for one, two, lengths, target in groups:
            optimizer.zero_grad()
            layer(network(one, two), target, lengths).backward()
            optimizer.step()
        seconds.append(time.process_time() - begin)
    shares = []
    with torch.no_grad():
        for one, two, lengths, target in batches(test):
            said = layer.decode(network(one, two), lengths)
            shares += [q(a, b) for a, b in zip(target, said, strict=True)]
    return {"q": float(np.mean(shares)), "seconds": float(np.median(seconds))}


def q(true: Any, said: Any) -> float:
    """Share of the true matches that were found."""
    return len(set(true) & set(said)) / max(len(true), 1)


def classical(test: Any) -> float:
    """BLOSUM62, gaps 11 and 1."""
    head, *lines = BLOSUM62.splitlines()
    at = [head.split().index(c) for c in LETTERS]
    matrix = np.array([line.split()[1:] for line in lines], dtype=float)
    table = matrix[np.ix_(at, at)]
    gaps = {"deletes": [-11.0, -1.0], "inserts": [-11.0, -1.0]}
    shares = []
    for one, two, target in test:
        match = table[np.ix_(one.numpy() - 1, two.numpy() - 1)].astype(float)
        said = Alignment().best({"match": match[None], **gaps}).outputs[0]
        shares.append(q(target, said))
    return float(np.mean(shares))


if __name__ == "__main__":
    main()
