"""Text in, tags out: speed of features, defaults beside CRFsuite, calibration.

    python -m benchmarks.text features      tokens per second, vocabulary and encoding
    python -m benchmarks.text defaults      span F1 or accuracy beside CRFsuite
    python -m benchmarks.text calibration   calibration error and conformal coverage
    ... --quick                             on reduced data

One thread; times are CPU seconds, the least of several runs for short ones.
"""

from __future__ import annotations

import argparse
import gzip
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
CRFSUITE = {"pa": {}, "ap": {}, "lbfgs": {}, "lbfgs c1=c2=.1": {"c1": 0.1, "c2": 0.1}}


# ------------------------------------------------------------------ data


def spanish(part: str, columns: int = 2, lower: bool = False):
    """Rows of columns and labels of a part of CoNLL-2002."""
    from maxmargin.io.sequences import read_conll

    sentences = read_conll(DATA / "conll2002_esp" / f"esp.{part}.txt.gz")
    change = str.lower if lower else str
    X = [[(change(row[0]), *row[1:columns]) for row in s] for s in sentences]
    return X, [[row[2] for row in s] for s in sentences]


def wsj():
    """Words and tags of the WSJ sample: files up to 150 for training, then the rest."""
    parts: dict[bool, tuple[list, list]] = {True: ([], []), False: ([], [])}
    with gzip.open(DATA / "wsj_pos" / "wsj_pos.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            name, _, text = line.rstrip("\n").partition("\t")
            pairs = [item.rsplit("/", 1) for item in text.split(" ")]
            X, y = parts[int("".join(filter(str.isdigit, name))[-4:]) <= 150]
            X.append([(word,) for word, _ in pairs])
            y.append([tag for _, tag in pairs])
    return parts[True], parts[False]


def tutorial():
    """The features of sklearn-crfsuite's tutorial."""
    from maxmargin.features import Column, Templates

    word, tag = Column(0), Column(1)
    items: list[Any] = [word.lower(), word.suffix(3), word.suffix(2)]
    items += [word.is_("upper"), word.is_("title"), word.is_("digit")]
    items += [tag, tag.prefix(2)]
    for d in (-1, 1):
        items += [word.lower()[d], word.is_("title")[d], word.is_("upper")[d]]
        items += [tag[d], tag.prefix(2)[d], word[d].outside_only()]
    return Templates(items)


def data_sets(quick: bool):
    """Name, templates, training data, test data, whether spans are scored."""
    from maxmargin.features import builtin_templates

    ner, some = builtin_templates("ner", 2), slice(0, 500 if quick else None)

    def cut(pair):
        return [part[some] for part in pair]

    first = slice(0, 500 if quick else 2000)
    yield (
        "Spanish, tutorial",
        tutorial(),
        cut(spanish("train")),
        spanish("testb"),
        True,
    )
    if not quick:
        train = [part[first] for part in spanish("train")]
        yield "Spanish 2000, tutorial", tutorial(), train, spanish("testb"), True
        yield "Spanish, ner", ner, spanish("train"), spanish("testb"), True
        yield "Spanish 2000, ner", ner, train, spanish("testb"), True
        small = [part[first] for part in spanish("train", 1, lower=True)]
        test = spanish("testb", 1, lower=True)
        yield "lower case 2000, ner", builtin_templates("ner"), small, test, True
    train, test = wsj()
    pos = builtin_templates("pos")
    yield "WSJ 1000, pos", pos, [part[: first.stop // 2] for part in train], test, False
    if not quick:
        yield "WSJ, pos", pos, train, test, False


# ------------------------------------------------------------------ parts


def least(what, times: int = 5) -> float:
    """CPU seconds of the fastest of several runs."""
    best = float("inf")
    for _ in range(times):
        begin = time.process_time()
        what()
        best = min(best, time.process_time() - begin)
    return best


def features(quick: bool) -> None:
    """Tokens per second of the template `ner` (22 features a token)."""
    from maxmargin.features import builtin_templates
    from maxmargin.io.sequences import ner as plain

    (train, _), (test, _) = spanish("train"), spanish("testb")
    train, test = (x[: 500 if quick else None] for x in (train, test))
    templates = builtin_templates("ner", 2)
    fitted = templates.fit(train)
    fitted.encode(test)
    n_train, n_test = (sum(map(len, x)) for x in (train, test))
    rows = {
        "vocabulary": (least(lambda: templates.fit(train)), n_train),
        "encode training": (least(lambda: fitted.encode(train)), n_train),
        "encode test": (least(lambda: fitted.encode(test)), n_test),
        "in Python": (least(lambda: [plain(s) for s in test]), n_test),
    }
    for name, (seconds, n) in rows.items():
        print(f"{name:20s} {n / seconds / 1e6:6.2f} million tokens/s")
    some = test[:300]
    one = least(lambda: [fitted.encode([s]) for s in some]) / len(some)
    print(f"one sentence at a time {1e6 * one:.0f} us a sentence")


def crfsuite(name: str, params: dict, X, y, Z) -> tuple[list, float]:
    """Predictions of CRFsuite, and CPU seconds of training."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm=name.split()[0], verbose=False)
    trainer.set_params(params)
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        begin = time.process_time()
        trainer.train(path)
        seconds = time.process_time() - begin
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        found = [tagger.tag(tokens) for tokens in Z]
        tagger.close()
    return found, seconds


def defaults(quick: bool) -> None:
    """Span F1 (names) or accuracy (parts of speech) in %, and CPU seconds of training."""
    from maxmargin import ChainSVM, Sequences
    from maxmargin.metrics import span_f1, token_error

    for name, templates, (X, y), (Z, truth), spans in data_sets(quick):
        fitted = templates.fit(X)

        def score(found, truth=truth, spans=spans):
            if spans:
                return 100.0 * span_f1(truth, list(found))
            return 100.0 * (1.0 - token_error(truth, list(found)))

        named = fitted.named(X), fitted.named(Z)
        for algorithm, params in CRFSUITE.items():
            found, seconds = crfsuite(algorithm, params, named[0], y, named[1])
            print(f"{name:24s} {algorithm:16s} {score(found):6.2f} {seconds:7.1f} s")
        rows = [fitted.encode(some) for some in (X, Z)]
        matrices = [Sequences(r.unigrams.csr(), r.ptr) for r in rows]
        ChainSVM(tol=0.5, max_iter=2).fit(matrices[0][:50], y[:50])  # compile
        for options in ({}, {"order": 2}) if spans else ({},):
            begin = time.process_time()
            model = ChainSVM(**options).fit(matrices[0], y)
            seconds = time.process_time() - begin
            title = "ChainSVM " + " ".join(f"{k}={v}" for k, v in options.items())
            value = score(model.predict(matrices[1]))
            print(f"{name:24s} {title:16s} {value:6.2f} {seconds:7.1f} s", flush=True)


def calibration(quick: bool) -> None:
    """Calibration error of max-marginals, and coverage of sets on five seeds."""
    from maxmargin import ChainSVM, Sequences
    from maxmargin.calibration import (
        Candidates,
        ConformalSets,
        Temperature,
        expected_calibration_error,
    )
    from maxmargin.features import builtin_templates

    X, y = (part[: 500 if quick else None] for part in spanish("train"))
    fitted = builtin_templates("ner", 2).fit(X)

    def matrix(x):
        rows = fitted.encode(x)
        return Sequences(rows.unigrams.csr(), rows.ptr)

    model = ChainSVM().fit(matrix(X), y)
    number = {label: k for k, label in enumerate(model.classes_)}
    parts = []
    for part in ("testa", "testb"):
        x, labels = spanish(part)
        table = model.max_marginals(matrix(x))
        truth = [np.array([number[v] for v in row]) for row in labels]
        parts.append((table, truth))
    held, flat = Candidates.of_table(np.vstack(parts[0][0])), np.concatenate
    scale = Temperature.fit(held, flat(parts[0][1]))
    new, truth = Candidates.of_table(np.vstack(parts[1][0])), flat(parts[1][1])
    for title, p in (("as they are", Temperature(1.0)(new)), ("fitted", scale(new))):
        right = p.best() == truth
        sure = p.scores[p.ptr[:-1] + p.best()]
        error = expected_calibration_error(sure, right)
        print(f"calibration error, temperature {title}: {100 * error:.2f} %")
    k = len(number)
    p = [scale(Candidates.of_table(t)).scores.reshape(-1, k) for t in parts[1][0]]
    for coverage in (0.9, 0.99):
        for per in ("token", "label", "sequence"):
            found = []
            for seed in range(5):
                order = np.random.default_rng(seed).permutation(len(p))
                half = np.split(order, [len(p) // 2])
                a, b = (Candidates.of_table(flat([p[i] for i in h])) for h in half)
                ya, yb = (flat([parts[1][1][i] for i in h]) for h in half)
                ends = [np.cumsum([0, *(len(p[i]) for i in h)]) for h in half]
                sets = ConformalSets.fit(a, ya, per=per, sequences=ends[0])
                inside = sets.members(b, coverage, empty=True).reshape(-1, k)
                held_now = inside[np.arange(len(yb)), yb]
                if per == "sequence":
                    held_now = np.minimum.reduceat(held_now, ends[1][:-1])
                found.append(100 * held_now.mean())
            print(f"coverage {coverage} per {per}: {np.round(found, 2)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"features": features, "defaults": defaults, "calibration": calibration}
    parser.add_argument("part", choices=parts)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    parts[args.part](args.quick)


if __name__ == "__main__":
    main()
