"""Do unlabelled examples help? Handwritten words, few of them with letters.

    python -m benchmarks.unlabelled [--labelled 15 50] [--unlabelled 100] [--draws 3]
                                    [--json FILE]

Three ways to train on some words with letters and more without:

- labelled: the words with letters alone.
- hidden: the other words with all labels None. Training completes hidden labels and the
  loss does not count them, so a word without any known label has no slack: it must
  change nothing.
- self-training: letters are predicted for the other words, which then count as true
  with a small weight; three turns.

Test error per letter, mean over draws of the labelled words from fold 0, tested on fold
1, with the standard error of the difference to "labelled".

[1] Yu 2011, section 7.2.3: such methods "only help when there are very few labeled data".
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np

from experiments.runner import data_folder
from experiments.taskar2003.figure1b import load
from maxmargin import ChainSVM

TURNS = 3


def errors(
    words: list[np.ndarray], letters: list[np.ndarray], some: np.ndarray,
    others: np.ndarray, test: np.ndarray, weight: float, C: float,
) -> dict[str, float]:  # fmt: skip
    """Test error of the three ways."""
    X, y = [words[i] for i in some], [letters[i].tolist() for i in some]
    U = [words[i] for i in others]
    Xt, yt = [words[i] for i in test], [letters[i] for i in test]
    plain = ChainSVM(C=C, tol=0.01).fit(X, y)
    hidden = ChainSVM(C=C, tol=0.01).fit(X + U, y + [[None] * len(u) for u in U])
    own = plain
    for _ in range(TURNS):
        guessed = [np.asarray(row).tolist() for row in own.predict(U)]
        factor = np.repeat([1.0, weight], [len(X), len(U)])
        own = ChainSVM(C=C, tol=0.01).fit(X + U, y + guessed, sample_weight=factor)
    models = {"labelled": plain, "hidden": hidden, "self-training": own}
    return {name: 1.0 - model.score(Xt, yt) for name, model in models.items()}


def main() -> None:
    """Print a row for each number of labelled words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", type=int, nargs="*", default=[15, 50])
    parser.add_argument("--unlabelled", type=int, default=100)
    parser.add_argument("--test", type=int, default=300)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--weight", type=float, default=0.2)
    parser.add_argument("--C", type=float, default=0.16)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    words, letters, fold = load(data_folder())
    test = np.flatnonzero(fold == 1)[: asked.test]
    print(f"{'labelled':>8} {'way':14} {'error':>7} {'difference':>11} {'s.e.':>7}")
    made = []
    for size in asked.labelled:
        rows = []
        for seed in range(asked.draws):
            rng = np.random.default_rng(seed)
            drawn = rng.permutation(np.flatnonzero(fold == 0))
            some, others = drawn[:size], drawn[size : size + asked.unlabelled]
            rows.append(
                errors(words, letters, some, others, test, asked.weight, asked.C)
            )
        for name in rows[0]:
            own = np.array([row[name] for row in rows])
            change = own - np.array([row["labelled"] for row in rows])
            spread = (
                change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else 0.0
            )
            print(
                f"{size:8d} {name:14} {own.mean():7.4f} {change.mean():11.4f} "
                f"{spread:7.4f}"
            )
            made.append({
                "labelled": size, "way": name, "error": own.mean(),
                "difference": change.mean(), "standard error": spread,
            })  # fmt: skip
    if asked.json is not None:
        settings = {k: v for k, v in vars(asked).items() if k != "json"}
        asked.json.write_text(json.dumps({**settings, "rows": made}, indent=1) + "\n")


if __name__ == "__main__":
    main()
