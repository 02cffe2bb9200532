"""What an error on O should cost: span F1 on sets with one type of name each.

    python -m benchmarks.class_weights                        the table of the text page
    python -m benchmarks.class_weights --only "PER, testa" --weights 1 0.7

Spanish news with all types but one turned into O, template `ner`, gap 0.01, beside the
best of CRFsuite's three trainers on the same features; names in LitBank with words and
affixes. Training sentences differ between the two test parts.
"""

from __future__ import annotations

import argparse

from maxmargin import ChainSVM
from maxmargin.metrics import span_f1

from .text import crfsuite
from .text_data import FRESH, Task, builtin, spanish

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


def main() -> None:
    """Read the flags and print a row for each set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(TASKS), nargs="*", default=list(TASKS))
    parser.add_argument("--weights", type=float, nargs="*", default=[1.0, 0.7, 0.5])
    args = parser.parse_args()
    print("| data | best of CRFsuite | " + " | ".join(map(str, args.weights)) + " |")
    for name in args.only:
        task = TASKS[name]()
        (X, y), (Z, t) = task.train, task.test
        fitted = task.templates.fit(X)
        named = fitted.named(X), fitted.named(Z)
        found = [
            crfsuite(a, {}, named[0], y, named[1])[0] for a in ("pa", "ap", "lbfgs")
        ]
        scores = [max(span_f1(t, labels) for labels in found)]
        for weight in args.weights:
            model = ChainSVM(
                features=task.templates, tol=0.01, class_weight={"O": weight}
            )
            scores.append(span_f1(t, list(model.fit(X, y).predict(Z))))
        cells = " | ".join(f"{100 * score:.2f}" for score in scores)
        print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
