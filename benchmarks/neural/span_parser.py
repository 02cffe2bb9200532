"""A span parser on the Penn Treebank sample: hinge and likelihood side by side.

    MAXMARGIN_DATA=... python -m benchmarks.neural.span_parser [--epochs 6] [--longest 20]

Embeddings of words and tags, a bidirectional LSTM, and a score for every label of every
span from the difference of the states at its ends [1]. The best tree is found by CKY
over the span scores. Unary chains are labels of their own, `S+VP`. Training is on the
files up to 0160, testing on the rest; figures are labelled bracket F1 and CPU seconds.

[1] Stern, Andreas, Klein 2017, A minimal span-based neural constituency parser.
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

from maxmargin.decode import SpanTree
from maxmargin.io import read_treebank
from maxmargin.torch import structured_loss

SHARE = 0.8  # of the sentences, in the order of the file, for training
Sentence = tuple[list[str], list[str], list[tuple[int, int, str]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--longest", type=int, default=20)
    parser.add_argument("--kinds", nargs="+", default=["hinge", "log-likelihood"])
    parser.add_argument("--json", help="write the figures to this file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    path = (
        Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
        / "ptb_sample"
        / "wsj_sample.mrg.txt.gz"
    )
    every = [sentence(tree) for tree in read_treebank(path).trees]
    some = [s for s in every if 2 <= len(s[0]) <= args.longest]
    cut = int(SHARE * len(some))
    train, test = some[:cut], some[cut:]
    figures = {}
    for kind in args.kinds:
        figures[kind] = run(kind, train, test, args.epochs)
        print(
            f"{kind:15} F1 {100 * figures[kind]['f1']:.2f}   "
            f"{figures[kind]['seconds']:.1f} CPU s an epoch   "
            f"{len(train)} sentences to train, {len(test)} to test",
            flush=True,
        )
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1))


def sentence(tree: Any) -> Sentence:
    """Words, tags, and labelled spans; a chain of labels over one span is one label."""
    words: list[str] = []
    tags: list[str] = []
    spans: dict[tuple[int, int], str] = {}

    def walk(node: Any) -> None:
        if len(node) == 2 and isinstance(node[1], str):
            words.append(node[1].lower())
            tags.append(node[0])
            return
        begin = len(words)
        for child in node[1:]:
            walk(child)
        key = (begin, len(words) - 1)
        spans[key] = f"{node[0]}+{spans[key]}" if key in spans else node[0]

    walk(tree)
    return words, tags, [(i, j, label) for (i, j), label in spans.items()]


class Parser(nn.Module):
    """Scores of all labels of all spans; label 0, no constituent, scores zero."""

    def __init__(self, words: int, tags: int, labels: int, size: int = 64) -> None:
        super().__init__()
        self.word, self.tag = nn.Embedding(words, 32), nn.Embedding(tags, 16)
        self.around = nn.LSTM(48, size, batch_first=True, bidirectional=True)
        self.score = nn.Sequential(
            nn.Linear(2 * size, 64), nn.ReLU(), nn.Linear(64, labels - 1)
        )
        self.drop = nn.Dropout(0.2)

    def forward(self, words: Tensor, tags: Tensor) -> Tensor:
        x = self.drop(torch.cat([self.word(words), self.tag(tags)], dim=2))
        x = nn.functional.pad(x, (0, 0, 1, 1))  # a state before and behind
        h = self.around(x)[0]
        ahead, back = h.chunk(2, dim=2)
        # Span (i, j): forward state at j less that before i, backward the other way.
        right = ahead[:, None, 1:-1] - ahead[:, :-2, None]
        left = back[:, 1:-1, None] - back[:, None, 2:]
        scores = self.score(self.drop(torch.cat([right, left], dim=3)))
        return nn.functional.pad(scores, (1, 0))


def numbers(strings: Any, least: int = 1) -> dict[str, int]:
    """Numbers of strings, 0 for unknown ones."""
    counts: dict[str, int] = {}
    for text in strings:
        counts[text] = counts.get(text, 0) + 1
    return {
        t: k for k, t in enumerate(sorted(t for t in counts if counts[t] >= least), 1)
    }


def run(kind: str, train: Any, test: Any, epochs: int) -> dict[str, float]:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    words = numbers((w for s in train for w in s[0]), 2)
    tags = numbers(t for s in train for t in s[1])
    labels = numbers(label for s in train for *_, label in s[2])
    network = Parser(len(words) + 1, len(tags) + 1, len(labels) + 1)
    loss = structured_loss(kind, SpanTree())
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    groups = batches(train, words, tags, labels)
    seconds = []
    for _ in range(epochs):
        network.train()
        rng.shuffle(groups)
        begin = time.process_time()
        for group in groups:
            optimizer.zero_grad()
            scores = network(group["words"], group["tags"])
            loss(scores, group["spans"], group["lengths"]).backward()
            optimizer.step()
        seconds.append(time.process_time() - begin)
    names = ["", *labels]
    network.eval()
    found = true = said = 0
    with torch.no_grad():
        for group in batches(test, words, tags, labels):
            scores = network(group["words"], group["tags"])
            for tree, s in zip(
                loss.decode(scores, group["lengths"]), group["raw"], strict=True
            ):
                a = brackets((i, j, names[c]) for i, j, c in tree if c > 0)
                b = brackets(s[2])
                found, said, true = found + len(a & b), said + len(a), true + len(b)
    return {"f1": 2 * found / (said + true), "seconds": float(np.median(seconds))}


def brackets(spans: Any) -> set[tuple[int, int, str, int]]:
    """Labelled brackets, chains taken apart."""
    return {
        (i, j, label, k)
        for i, j, chain in spans
        for k, label in enumerate(chain.split("+"))
    }


def batches(some: Any, words: Any, tags: Any, labels: Any, size: int = 16) -> list[Any]:
    """Padded tensors of sentences of about the same length."""
    order = sorted(some, key=lambda s: len(s[0]))
    out = []
    for at in range(0, len(order), size):
        raw = order[at : at + size]
        lengths = [len(s[0]) for s in raw]
        shape = (len(raw), max(lengths))
        w, t = (
            torch.zeros(shape, dtype=torch.long),
            torch.zeros(shape, dtype=torch.long),
        )
        spans = torch.full((*shape, shape[1]), -1)
        for b, s in enumerate(raw):
            w[b, : lengths[b]] = torch.tensor([words.get(x, 0) for x in s[0]])
            t[b, : lengths[b]] = torch.tensor([tags.get(x, 0) for x in s[1]])
            for i, j, label in s[2]:
                if label in labels:
                    spans[b, i, j] = labels[label]
        out.append(
            {"words": w, "tags": t, "spans": spans, "raw": raw,
             "lengths": torch.tensor(lengths)}
        )  # fmt: skip
    return out


if __name__ == "__main__":
    main()
