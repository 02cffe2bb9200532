"""Chains with 30 % of the labels hidden: named entities in Spanish.


Not a table of the thesis: what its chapter 5 promises for labels that are missing.
"""

from __future__ import annotations

import gzip
import time
import warnings
from pathlib import Path

import numpy as np

from maxmargin import ChainSVM
from maxmargin.structures.latent.partial import filled

TITLE = "Chains with hidden labels (CoNLL 2002, Spanish): token error and entity F1"
PUBLISHED: dict = {}
HIDE = 0.3


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """The same sentences with all labels, hidden ones, dropped ones, and as O."""
    train, test = read(data, "esp.train"), read(data, "esp.testa")
    n, m = (400, 400) if quick else (3000, 1500)
    X, Y = [x for x, _ in train[:n]], [y for _, y in train[:n]]
    rng = np.random.default_rng(seed)
    hidden = [[None if rng.random() < HIDE else y for y in row] for row in Y]
    whole = [i for i, row in enumerate(hidden) if None not in row]
    tasks = {
        "all labels (upper bound)": (X, Y),
        f"{HIDE:.0%} hidden, latent": (X, hidden),
        "sentences with hidden labels dropped": (
            [X[i] for i in whole], [Y[i] for i in whole],
        ),
        "hidden labels taken as O": (X, filled(hidden, "O")),
    }  # fmt: skip
    rows = []
    for name, (inputs, labels) in tasks.items():
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ChainSVM(C=0.2, tol=0.01).fit(inputs, labels)
        seconds = time.process_time() - begin
        found = model.predict([x for x, _ in test[:m]])
        truth = [y for _, y in test[:m]]
        rows.append({
            "training": name, "sentences": len(inputs),
            "token error %": round(100 * wrong(truth, found), 2),
            "entity F1": round(100 * entity_f1(truth, found), 1),
            "cpu s": round(seconds, 1),
        })  # fmt: skip
    return {"title": TITLE, "rows": rows, "notes": [f"{n} to train, {m} to test"]}


def claims(result: dict) -> dict[str, bool]:
    """Hidden labels are worth keeping."""
    _, latent, dropped, as_o = (row["entity F1"] for row in result["rows"])
    return {
        "better than dropping the sentences": latent > dropped,
        "better than taking hidden labels as O": latent > as_o,
    }


def read(data: Path, part: str) -> list[tuple[list, list]]:
    """Sentences as features of each token, with labels."""
    path = next((data / "conll2002_esp").glob(f"{part}*"))
    opened = gzip.open if path.suffix == ".gz" else open
    out, words, labels = [], [], []
    with opened(path, "rt", encoding="utf-8") as lines:
        for line in [*lines, "\n"]:
            parts = line.split()
            if parts and parts[0] != "-DOCSTART-":
                words.append(parts[0])
                labels.append(parts[-1])
            elif words:
                out.append((features(words), labels))
                words, labels = [], []
    return out


def features(words: list[str]) -> list[list[str]]:
    """Word, shape and ends, of the token and its neighbours."""
    padded = ["<s>", *words, "</s>"]
    out = []
    for t in range(1, len(padded) - 1):
        word = padded[t]
        shape = "".join("A" if c.isupper() else "a" if c.islower() else "0"
                        if c.isdigit() else c for c in word)  # fmt: skip
        out.append([
            "w=" + word.lower(), "s=" + shape[:6], "p3=" + word[:3], "e3=" + word[-3:],
            "-w=" + padded[t - 1].lower(), "+w=" + padded[t + 1].lower(),
            f"cap={word[:1].isupper()}{padded[t - 1][:1].isupper()}"
            f"{padded[t + 1][:1].isupper()}",
        ])  # fmt: skip
    return out


def wrong(truth: list, found: list) -> float:
    """Share of tokens with a wrong label."""
    pairs = [(a, b) for t, f in zip(truth, found, strict=True)
             for a, b in zip(t, f, strict=True)]  # fmt: skip
    return float(np.mean([a != b for a, b in pairs]))


def entities(labels: list[str]) -> set[tuple[int, int, str]]:
    """Spans of a BIO sequence."""
    out, start, kind = set(), -1, ""
    for t, label in enumerate([*labels, "O"]):
        tag, _, name = label.partition("-")
        if start >= 0 and (tag != "I" or name != kind):
            out.add((start, t, kind))
            start = -1
        if tag == "B" or (tag == "I" and start < 0):
            start, kind = t, name
    return out


def entity_f1(truth: list, found: list) -> float:
    """F1 of exact spans."""
    right = made = real = 0
    for t, f in zip(truth, found, strict=True):
        a, b = entities(t), entities(f)
        right, made, real = right + len(a & b), made + len(b), real + len(a)
    return 2 * right / max(made + real, 1)
