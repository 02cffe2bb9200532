"""A constant for the label O: span F1 on sets with rare names, most with one type of name.

    python -m benchmarks.outside_shift                        the table of the taggers page
    python -m benchmarks.outside_shift --only "PER, testa" --no-crfsuite
    python -m benchmarks.outside_shift --only "MISC, testb" --paired 4
    python -m benchmarks.outside_shift --no-crfsuite --C 0.1      another C

Spanish news with all types but one turned into O, template `ner`, beside the best of
CRFsuite's three trainers on the same features; names in LitBank with words and affixes.
Training sentences differ between the two test parts. Columns: CRFsuite; `ChainSVM` without
a shift; with the one that `fit` chooses by default, the shift, and CPU seconds of both.

`--paired`: precision, recall and F1 of all, with the standard error of the difference of
the default to each of them (test sentences are drawn 1000 times, the same for both). `pa`
and `ap` are trained so many times, because CRFsuite shuffles in another order each time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

from maxmargin import ChainSVM
from maxmargin.metrics import span_f1, spans

from .text import crfsuite
from .text_data import FRESH, Task, builtin, litbank, spanish, words_only

PARTS = {"testa": (0, 2000), "testb": (4000, 7000)}
TYPES = {"testa": ("PER", "LOC", "ORG"), "testb": ("PER", "LOC", "ORG", "MISC")}


def one_type(kind: str, test: str) -> Task:
    """Spanish names of one type; everything else is O."""

    def only(y: list[list[str]]) -> list[list[str]]:
        return [[v if v[2:] == kind else "O" for v in labels] for labels in y]

    (X, y), (Z, t) = spanish("train"), spanish(test)
    low, high = PARTS[test]
    train = X[low:high], only(y)[low:high]
    return Task(builtin("ner", 2), train, (Z, only(t)), True)


TASKS = {
    f"{kind}, {test}": (lambda kind=kind, test=test: one_type(kind, test))
    for test in PARTS
    for kind in TYPES[test]
} | {"LitBank names, words": FRESH["LitBank names, words"]}
TASKS |= {
    f"LitBank names, fifth {k}": (
        lambda k=k: Task(words_only(), *litbank(("PROP",), k), True)
    )
    for k in (0, 1)
}


def main() -> None:
    """Read the flags and print a row for each set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(TASKS), nargs="*", default=list(TASKS))
    parser.add_argument("--no-crfsuite", action="store_true")
    parser.add_argument("--C", type=float, default=0.2)
    parser.add_argument("--paired", type=int, default=0, metavar="RUNS")
    args = parser.parse_args()
    for name in args.only if args.paired else ():
        paired(name, TASKS[name](), args.paired)
    if args.paired:
        return
    print("| data | best of CRFsuite | without | default | shift | seconds |")
    for name in args.only:
        task = TASKS[name]()
        cells = ["-" if args.no_crfsuite else f"{100 * crfsuite_best(task):.2f}"]
        took = []
        for shift in (0.0, "auto"):
            begin = time.process_time()
            model = ChainSVM(args.C, features=task.templates, outside_shift=shift)
            model.fit(*task.train)
            took.append(time.process_time() - begin)
            found = list(model.predict(task.test[0]))
            cells.append(f"{100 * span_f1(task.test[1], found):.2f}")
        cells += [f"{model.outside_shift_:+.2f}", f"{took[0]:.1f}, {took[1]:.1f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def paired(name: str, task: Task, runs: int) -> None:
    """Print a row for each model: precision, recall, F1, and what the default has more."""
    (X, y), (Z, t) = task.train, task.test
    found = {}
    for title, shift in (("default", "auto"), ("shift 0", 0.0)):
        model = ChainSVM(features=task.templates, outside_shift=shift).fit(X, y)
        found[title] = counts(t, list(model.predict(Z)))
    fitted = task.templates.fit(X)
    named = fitted.named(X), fitted.named(Z)
    for k in range(runs):
        for trainer in ("pa", "ap", "lbfgs")[: 3 if k == 0 else 2]:
            labels = crfsuite(trainer, {}, named[0], y, named[1])[0]
            found[f"{trainer} {k + 1}"] = counts(t, labels)
    times = np.random.default_rng(0).multinomial(len(t), [1 / len(t)] * len(t), 1000)
    drawn = {title: f1(times @ table) for title, table in found.items()}
    for title, table in found.items():
        right, said, true = table.sum(axis=0)
        more = f1(found["default"].sum(axis=0)) - f1(table.sum(axis=0))
        error = np.std(drawn["default"] - drawn[title])
        cells = f"{100 * right / said:.2f} | {100 * right / true:.2f}"
        cells += f" | {f1(table.sum(axis=0)):.2f} | {more:+.2f} +- {error:.2f}"
        print(f"| {name} | {title} | {cells} |", flush=True)


def counts(truth: Sequence[list[str]], found: Sequence[list[str]]) -> np.ndarray:
    """Right, predicted and true spans of each sentence."""
    rows = []
    for one, other in zip(truth, found, strict=True):
        true, said = (set(spans(labels)) for labels in (one, other))
        rows.append((len(true & said), len(said), len(true)))
    return np.array(rows)


def f1(table: np.ndarray) -> np.ndarray:
    """F1 in % from sums of `counts` in the last axis."""
    return 200.0 * table[..., 0] / (table[..., 1] + table[..., 2])


def crfsuite_best(task: Task) -> float:
    """The largest F1 of CRFsuite's three trainers."""
    (X, y), (Z, t) = task.train, task.test
    fitted = task.templates.fit(X)
    named = fitted.named(X), fitted.named(Z)
    trainers = ("pa", "ap", "lbfgs")
    found = [crfsuite(a, {}, named[0], y, named[1])[0] for a in trainers]
    return max(span_f1(t, labels) for labels in found)


if __name__ == "__main__":
    main()
