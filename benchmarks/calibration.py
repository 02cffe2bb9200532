"""How far probabilities and sets of labels keep what they say, beside CRF marginals.

    MAXMARGIN_DATA=... python -m benchmarks.calibration [--sentences 2000] [--only WSJ]

Spanish names (template `ner`: training, testa for calibration, testb for the figures),
WSJ and GUM tags (template `pos`: half of the test sentences for calibration, the others
for the figures). The form of the calibration was chosen on the first two. For tokens:
accuracy, expected calibration error (15 bins of equal width) and log loss of `ChainSVM`
after `calibrate`, and of CRFsuite's marginals as they are.

Conformal sets: the test sentences are halved at random, five times. Thresholds come from
one half, coverage is counted on the other: of sets of probabilities that may be empty,
which should be equal to what was asked, and of the sets that `predict_set` returns, which
may be higher (they are never empty). The sampling error has two parts, one for each half,
and is computed over sentences, because the tokens of a sentence are not independent. A
label with too few examples for its threshold is always in the set: the coverage per label
counts the tokens of the other labels.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.text_data import Part, spanish, tree_tags, wsj
from maxmargin.calibration import (
    Candidates,
    ConformalSets,
    expected_calibration_error,
    log_loss,
)

RESULTS = Path(__file__).parent / "results" / "calibration.json"
PER = ("token", "label", "sequence")
SEEDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=2000, help="for training")
    parser.add_argument("--only", default="", help="Spanish, WSJ or GUM")
    parser.add_argument("--quick", action="store_true", help="few sentences, not kept")
    args = parser.parse_args()
    sets = {"Spanish": spanish_parts, "WSJ": wsj_parts, "GUM": gum_parts}
    for name, make in sets.items():
        if args.only in ("", name):
            n = 200 if args.quick else args.sentences
            figures = {"sentences": n, **measure(name, *make(n))}
            if not args.quick:
                keep(name, figures)


def spanish_parts(n: int) -> tuple[str, Part, Part, Part]:
    X, y = spanish("train")
    return "ner", (X[:n], y[:n]), spanish("testa"), spanish("testb")


def wsj_parts(n: int) -> tuple[str, Part, Part, Part]:
    return _halved(n, wsj())


def gum_parts(n: int) -> tuple[str, Part, Part, Part]:
    return _halved(n, tree_tags("trees_gum"))


def _halved(n: int, parts: tuple[Part, Part]) -> tuple[str, Part, Part, Part]:
    (X, y), (Z, v) = parts
    return "pos", (X[:n], y[:n]), (Z[::2], v[::2]), (Z[1::2], v[1::2])


def measure(
    name: str, template: str, train: Part, held: Part, test: Part
) -> dict[str, Any]:
    from maxmargin import ChainSVM
    from maxmargin.features import builtin_templates

    templates = builtin_templates(template, len(train[0][0][0]))
    model = ChainSVM(features=templates).fit(*train).calibrate(*held)
    labels = list(model.classes_)
    figures = {"ChainSVM": probabilities(model.marginals(test[0]), labels, test[1])}
    fitted = templates.fit(train[0])
    named = fitted.named(train[0]), fitted.named(test[0])
    for title, params in {
        "CRFsuite": {},
        "CRFsuite c1=c2=.1": {"c1": 0.1, "c2": 0.1},
    }.items():
        found = crf_marginals(named[0], train[1], named[1], labels, params)
        figures[title] = probabilities(found, labels, test[1])
    for title, row in figures.items():
        print(name, f"{title:18}", json.dumps(row), flush=True)
    tables, chances = model.max_marginals(test[0]), model.marginals(test[0])
    truth = numbers(labels, test[1])
    sets = {
        f"{coverage} per {per}": halves(tables, chances, truth, coverage, per)
        for coverage in (0.9, 0.99)
        for per in PER
    }
    for title, row in sets.items():
        print(name, f"{title:18}", json.dumps(row), flush=True)
    return {"probabilities": figures, "sets": sets}


def numbers(labels: list[str], y: list[Any]) -> list[Any]:
    """Places of the true labels, -1 for those that training did not have."""
    at = {label: k for k, label in enumerate(labels)}
    return [np.array([at.get(v, -1) for v in row]) for row in y]


def probabilities(tables: list[Any], labels: list[str], y: list[Any]) -> dict[str, Any]:
    """Accuracy, calibration error in %, and log loss of all tokens."""
    p = Candidates.of_table(np.vstack(tables))
    truth = np.concatenate(numbers(labels, y))
    best = p.best()
    sure = np.minimum(p.scores[p.ptr[:-1] + best], 1.0)
    error = expected_calibration_error(sure, best == truth)
    return {
        "accuracy": round(100.0 * float(np.mean(best == truth)), 2),
        "calibration error": round(100.0 * error, 3),
        "log loss": round(log_loss(p, truth, least=1e-6), 4),
    }


def crf_marginals(
    X: Any, y: Any, Z: Any, labels: list[str], params: dict[str, Any]
) -> list[Any]:
    """Marginals of a CRF trained by CRFsuite with L-BFGS."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(params)
    for tokens, row in zip(X, y, strict=True):
        trainer.append(tokens, row)
    out = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        for tokens in Z:
            tagger.set(tokens)
            rows = [[tagger.marginal(k, t) for k in labels] for t in range(len(tokens))]
            out.append(np.array(rows))
        tagger.close()
    return out


def halves(
    tables: list[Any], chances: list[Any], truth: list[Any], asked: float, per: str
) -> dict[str, Any]:
    """Coverage in %, its sampling error, and how large the sets are."""
    exact, errors, shown, sizes = [], [], [], []
    for seed in range(SEEDS):
        order = np.random.default_rng(seed).permutation(len(tables))
        split = np.split(order, [len(order) // 2])
        held, new = (half_of(chances, truth, half) for half in split)
        sets = ConformalSets.fit(held[0], held[1], per=per, sequences=held[2])
        both = [covered(sets, part, asked, empty=True) for part in (held, new)]
        exact.append(100.0 * both[1][0])
        errors.append(100.0 * float(np.hypot(both[0][1], both[1][1])))
        held, new = (half_of(tables, truth, half) for half in split)
        below = [(part[0].below_top(), *part[1:]) for part in (held, new)]
        sets = ConformalSets.fit(*below[0][:2], per=per, sequences=held[2])
        share, _, size = covered(sets, below[1], asked, empty=False)
        shown.append(100.0 * share)
        sizes.append(size)
    away = np.abs(np.array(exact) - 100.0 * asked) / np.array(errors)
    return {
        "coverage": [round(v, 2) for v in exact],
        "sampling error": round(float(np.mean(errors)), 2),
        "largest deviation in sampling errors": round(float(away.max()), 2),
        "mean square of the deviations": round(float(np.mean(away**2)), 2),
        "coverage of predict_set": [round(v, 2) for v in shown],
        "labels in a set": round(float(np.mean(sizes)), 3),
    }


def half_of(tables: list[Any], truth: list[Any], half: Any) -> tuple[Any, Any, Any]:
    """Candidates, places of the true labels and offsets of some sentences."""
    ends = np.cumsum([0, *(len(truth[i]) for i in half)])
    rows = Candidates.of_table(np.vstack([tables[i] for i in half]))
    return rows, np.concatenate([truth[i] for i in half]), ends


def covered(
    sets: ConformalSets, part: tuple[Any, Any, Any], asked: float, *, empty: bool
) -> tuple[float, float, float]:
    """Share that is covered, its standard error over sentences, and labels in a set.

    The error is at least that of independent tokens which are covered as asked.
    """
    rows, true, ends = part
    inside = sets.members(rows, asked, empty=empty).reshape(len(true), -1)
    hit = inside[np.arange(len(true)), true] & (true >= 0)
    counted = np.ones(len(true), bool)
    if sets.per == "label":
        counted = (true >= 0) & np.isfinite(sets.thresholds(asked))[true]
    if sets.per == "sequence":
        hit, counted = np.minimum.reduceat(hit, ends[:-1]), np.ones(len(ends) - 1, bool)
        ends = np.arange(len(ends))
    off = np.add.reduceat((hit - asked) * counted, ends[:-1])
    n = counted.sum()
    spread = np.sqrt(max((off**2).sum(), n * asked * (1.0 - asked)))
    size = float(inside.sum(axis=1).mean())
    return float(hit[counted].mean()), float(spread / n), size


def keep(name: str, figures: dict[str, Any]) -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known[name] = figures
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
