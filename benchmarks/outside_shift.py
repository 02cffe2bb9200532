"""A constant for the label O: span F1 on sets with rare names, most with one type of name.

    python -m benchmarks.outside_shift                        the table of the taggers page
    python -m benchmarks.outside_shift --only "PER, testa" --no-crfsuite

Spanish news with all types but one turned into O, template `ner`, beside the best of
CRFsuite's three trainers on the same features; names in LitBank with words and affixes.
Training sentences differ between the two test parts. Columns: CRFsuite; `ChainSVM` without
a shift; with the one that `fit` chooses by default, the shift, and CPU seconds of both.
"""

from __future__ import annotations

import argparse
import time

from maxmargin import ChainSVM
from maxmargin.metrics import span_f1

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
    args = parser.parse_args()
    print("| data | best of CRFsuite | without | default | shift | seconds |")
    for name in args.only:
        task = TASKS[name]()
        cells = ["-" if args.no_crfsuite else f"{100 * crfsuite_best(task):.2f}"]
        took = []
        for shift in (0.0, "auto"):
            begin = time.process_time()
            model = ChainSVM(features=task.templates, outside_shift=shift)
            model.fit(*task.train)
            took.append(time.process_time() - begin)
            found = list(model.predict(task.test[0]))
            cells.append(f"{100 * span_f1(task.test[1], found):.2f}")
        cells += [f"{model.outside_shift_:+.2f}", f"{took[0]:.1f}, {took[1]:.1f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


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
