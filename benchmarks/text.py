"""Text in, tags out: speed of features, defaults beside CRFsuite.

    python -m benchmarks.text features      tokens per second, vocabulary and encoding
    python -m benchmarks.text tagging       from columns to tags, in batches and one by one
    python -m benchmarks.text training      from columns, and from lists of strings
    python -m benchmarks.text defaults      span F1 or accuracy beside CRFsuite
    ... --quick                             on reduced data

One thread; times are CPU seconds, the least of several runs for short ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.text_data import CHOSEN, DATA, FRESH, Task, spanish

RESULTS = Path(__file__).parent / "results" / "text.json"
CRFSUITE: dict[str, dict[str, Any]] = {"pa": {}, "ap": {}, "lbfgs": {}}
MORE = {"lbfgs c1=c2=.1": {"c1": 0.1, "c2": 0.1}}


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


def tagging(quick: bool) -> None:
    """From columns to tags with the template `ner`, beside CRFsuite."""
    import pycrfsuite

    from maxmargin import ChainSVM
    from maxmargin.io.sequences import ner as plain

    (X, y), (Z, _) = spanish("train"), spanish("testb")
    X, y, Z = (x[: 500 if quick else None] for x in (X, y, Z))
    tokens = sum(map(len, Z))
    rows = [plain(s) for s in X]
    text = ChainSVM(features="ner", tol=0.1).fit(X, y)  # their speed is that of any tol
    lists = ChainSVM(tol=0.1).fit(rows, y)
    with tempfile.TemporaryDirectory() as folder:
        taggers = []
        named = rows, [[_as_dict(token) for token in s] for s in rows]
        for j, data in enumerate(named):
            trainer = pycrfsuite.Trainer(algorithm="pa", verbose=False)
            trainer.set_params({"max_iterations": 10})
            for sentence, labels in zip(data, y, strict=True):
                trainer.append(sentence, labels)
            trainer.train(f"{folder}/{j}")
            taggers.append(pycrfsuite.Tagger())
            taggers[-1].open(f"{folder}/{j}")
        dicts = ChainSVM(tol=0.1).fit(named[1], y)
        batch = (
            least(lambda: text.predict(Z), 3),
            least(lambda: [taggers[0].tag(plain(s)) for s in Z], 1),
        )
        for title, seconds in zip(("ChainSVM", "CRFsuite"), batch, strict=True):
            print(f"{title}, columns to tags {tokens / seconds / 1e6:6.3f} million/s")
        some = [plain(s) for s in Z[:300]]
        as_dicts = [[_as_dict(token) for token in s] for s in some]
        pairs = [("lists", lists.tag, taggers[0].tag, some)]
        pairs += [("dicts", dicts.tag, taggers[1].tag, as_dicts)]
        for title, ours, theirs, data in pairs:
            both = [1e6 * least(lambda f=f, d=data: [f(s) for s in d], 7) / len(data)
                    for f in (ours, theirs)]  # fmt: skip
            print(f"one by one, {title}: {both[0]:.0f} us, CRFsuite {both[1]:.0f} us")
        for tagger in taggers:
            tagger.close()


def training(quick: bool, tol: float = 0.01) -> None:
    """From columns, and from lists of strings, with what comes before: one chain.

    Settings are those that version 0.1.0 has, too; there, only lists are measured.
    """
    from maxmargin import ChainSVM, __version__

    try:
        from maxmargin.io.sequences import ner as plain
    except ImportError:  # 0.1.0
        from maxmargin.io.templates import ner as plain  # type: ignore[no-redef]

    X, y = conll(500 if quick else None)
    options: dict[str, Any] = {"C": 0.2, "order": 1, "scheme": None, "tol": tol}
    ways: dict[str, Any] = {"lists": lambda n: ([plain(s) for s in X[:n]], {})}
    if "features" in ChainSVM().get_params():
        options |= {"class_weight": None}
        ways["columns"] = lambda n: (X[:n], {"features": "ner"})
    for way, make in ways.items():
        rows, more = make(500)  # enough tokens for the same trainer
        ChainSVM(**options, **more).fit(rows, y[:500])  # compile
        begin = time.process_time()
        rows, more = make(None)
        model = ChainSVM(**options, **more).fit(rows, y)
        seconds, gap = time.process_time() - begin, model.result_.gap
        print(
            f"{__version__} from {way:8s} {seconds:6.2f} s, gap {gap:.2%}", flush=True
        )


def conll(n: int | None) -> tuple[list[Any], list[Any]]:
    """Spanish training sentences, read without the help of the package."""
    with gzip.open(DATA / "conll2002_esp" / "esp.train.txt.gz", "rt") as file:
        blocks = file.read().strip().split("\n\n")[:n]
    tokens = [[line.split() for line in block.splitlines()] for block in blocks]
    X = [[(row[0], row[1]) for row in s] for s in tokens]
    return X, [[row[2] for row in s] for s in tokens]


def _as_dict(token: list[str]) -> dict[str, Any]:
    """A list of features as a dict, as people write them."""
    parts = [name.partition("=") for name in token]
    return {key: value if sign else True for key, sign, value in parts}


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


def defaults(quick: bool, only: str = "", more: bool = False) -> None:
    """Span F1 (phrases, names) or accuracy (tags) in %, and CPU seconds of training."""
    for fresh, name in [(False, n) for n in CHOSEN] + [(True, n) for n in FRESH]:
        if only not in ("", name, "fresh" if fresh else "chosen"):
            continue
        found = compare(name, (CHOSEN | FRESH)[name](), quick, more)
        row = {"fresh": fresh, **found}
        record("defaults", name, row, quick)


def compare(name: str, task: Task, quick: bool, more: bool) -> dict[str, Any]:
    """[score in %, CPU seconds] of CRFsuite's trainers and of ours, on one data set."""
    from maxmargin import ChainSVM
    from maxmargin.metrics import span_f1, token_error

    templates, (X, y), (Z, truth), spans = task
    X, y = (part[: 200 if quick else None] for part in (X, y))
    fitted = templates.fit(X)
    out: dict[str, Any] = {
        "sentences": len(X),
        "labels": len({v for s in y for v in s}),
    }

    def note(title: str, found: Any, seconds: float) -> None:
        found = list(found)
        right = span_f1(truth, found) if spans else 1.0 - token_error(truth, found)
        out[title] = [round(100.0 * right, 2), round(seconds, 1)]
        print(f"{name:24s} {title:16s} {100 * right:6.2f} {seconds:7.1f} s", flush=True)

    named = fitted.named(X), fitted.named(Z)
    trainers = CRFSUITE | MORE if more else CRFSUITE
    for algorithm, params in trainers.items():
        note(algorithm, *crfsuite(algorithm, params, named[0], y, named[1]))
    ChainSVM(features=templates, tol=0.5, max_iter=2).fit(X[:50], y[:50])  # compile
    for options in ({}, {"order": 1}) if more and spans else ({},):
        begin = time.process_time()
        model = ChainSVM(features=templates, **options).fit(X, y)
        seconds = time.process_time() - begin
        title = " ".join(["ChainSVM", *(f"{k}={v}" for k, v in options.items())])
        note(title, model.predict(Z), seconds)
    return out


def record(part: str, name: str, value: Any, quick: bool) -> None:
    """Keep a result in `results/text.json`, unless it comes from reduced data."""
    if quick:
        return
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known.setdefault(part, {})[name] = value
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts: dict[str, Any] = {
        "features": features, "tagging": tagging, "training": training,
        "defaults": defaults,
    }  # fmt: skip
    parser.add_argument("part", choices=parts)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--only", default="", help="of `defaults`: one data set, chosen or fresh"
    )
    parser.add_argument(
        "--more", action="store_true", help="of `defaults`: other parameters, too"
    )
    args = parser.parse_args()
    options = {"only": args.only, "more": args.more} if args.part == "defaults" else {}
    parts[args.part](args.quick, **options)


if __name__ == "__main__":
    main()
