"""SegmentSVM beside ChainSVM on Spanish names, with the same features of words.

    python -m benchmarks.segments                   F1 and speed, a few minutes
    python -m benchmarks.segments --quick           on 800 sentences
    python -m benchmarks.segments --task speed      decoding at a length limit of 6 only
    python -m benchmarks.segments --task evidence   "seen" by the number of sentences

Features of words are those of the template `ner` (22 a token). Times are CPU seconds of
one thread, without the compilation of loops. Compare the rows with the best C by testa.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
CHAIN_C, SEGMENT_C = (0.06, 0.12), (0.03, 0.06)
LONGEST = 10  # of 18 798 spans in train, 24 are longer


def spanish(part: str, most: int | None) -> tuple[list[Any], list[Any]]:
    """Sentences of (word, part of speech), and BIO labels."""
    from maxmargin.core.data import convert_scheme

    X: list[Any] = [[]]
    y: list[Any] = [[]]
    path = DATA / "conll2002_esp" / f"esp.{part}.txt.gz"
    with gzip.open(path, "rt", encoding="utf8") as file:
        for line in file:
            columns = line.split()
            if columns:
                X[-1].append((columns[0], columns[1]))
                y[-1].append(columns[2])
            elif X[-1]:
                X.append([])
                y.append([])
    filled = [i for i, row in enumerate(X) if row][:most]
    y = [y[i] for i in filled]
    for to in ("bioes", "bio"):  # three spans of the corpus begin with I-
        y = convert_scheme(y, to, source="bio" if to == "bioes" else "bioes")[0]
    return [X[i] for i in filled], y


def chain(parts: dict[str, Any], **options: Any) -> dict[str, Any]:
    """ChainSVM on the features of the template."""
    import scipy.sparse as sp

    from maxmargin import ChainSVM, Sequences
    from maxmargin.features import builtin_templates
    from maxmargin.metrics import span_f1

    fitted = builtin_templates("ner", width=2).fit(parts["train"][0])

    def encoded(X: Any) -> Any:
        rows = fitted.encode(X)
        return Sequences(sp.csr_array(rows.unigrams.csr()), rows.ptr)

    inputs = {name: encoded(X) for name, (X, _) in parts.items()}
    begin = time.process_time()
    model = ChainSVM(scheme="bio", **options).fit(inputs["train"], parts["train"][1])
    out = {"train": round(time.process_time() - begin, 1)}
    for name in ("testa", "testb"):
        found = list(model.predict(inputs[name]))
        out[f"{name} F1"] = round(100 * span_f1(parts[name][1], found), 2)
    return out


def segments(parts: dict[str, Any], **options: Any) -> dict[str, Any]:
    """SegmentSVM on the same words."""
    from maxmargin import SegmentSVM

    model = SegmentSVM(features="ner", longer="split", **options)
    begin = time.process_time()
    model.fit(*parts["train"])
    out = {"train": round(time.process_time() - begin, 1)}
    out["weights"] = len(model.coef_)
    for name in ("testa", "testb"):
        out[f"{name} F1"] = round(100 * model.score(*parts[name]), 2)
    return out


def speed(parts: dict[str, Any]) -> dict[str, Any]:
    """Tokens per second of SegmentSVM with max_length=6, from encoded and from words."""
    import numpy as np

    from maxmargin import SegmentSVM

    X, y = (rows[:400] for rows in parts["train"])
    model = SegmentSVM(features="ner", longer="split", max_length=6, tol=0.1).fit(X, y)
    test = parts["testb"][0]
    tokens = sum(map(len, test))
    model.predict(test[:10])
    begin = time.process_time()
    x = model.structure_.encode(test)
    middle = time.process_time()
    model.structure_.argmax(x, np.arange(x.n), model.coef_)
    end = time.process_time()
    model.predict_spans(test)
    last = time.process_time()
    return {
        "tokens": tokens,
        "tokens/s decoding": round(tokens / (end - middle)),
        "tokens/s encoding": round(tokens / (middle - begin)),
        "tokens/s words to spans": round(tokens / (last - end)),
    }


def compared(parts: dict[str, Any], tol: float) -> Iterator[dict[str, Any]]:
    """A row for each model and C."""
    from maxmargin.structures.segments.vocabulary import FAMILIES

    for order, C in product((1, 2), CHAIN_C):
        found = chain(parts, order=order, C=C, tol=tol)
        yield {"who": f"ChainSVM(order={order}, C={C})"} | found
    plain = {"segment_features": FAMILIES}
    settings: dict[str, dict[str, Any]] = {
        "no seen, skip_pairs=False": {**plain, "skip_pairs": False},
        "no seen": plain, "default": {},
    }  # fmt: skip
    for (name, options), C in product(settings.items(), SEGMENT_C):
        found = segments(parts, C=C, max_length=LONGEST, tol=tol, **options)
        yield {"who": f"SegmentSVM(max_length={LONGEST}, C={C}), {name}"} | found


def evidence(parts: dict[str, Any], tol: float) -> Iterator[dict[str, Any]]:
    """F1 without and with the features "seen" on testa and on later training sentences."""
    from maxmargin import SegmentSVM
    from maxmargin.structures.segments.evidence import SEEN
    from maxmargin.structures.segments.vocabulary import FAMILIES

    X, y = parts["train"]
    tests = parts["testa"], (X[3500:7000], y[3500:7000])
    options = {"features": "ner", "longer": "split", "max_length": LONGEST, "C": 0.06}
    for n in (100, 300, 600, 1000, 3000):
        row: dict[str, Any] = {"sentences": n}
        for name, families in {"without": FAMILIES, "with": (*FAMILIES, SEEN)}.items():
            model = SegmentSVM(tol=tol, segment_features=families, **options)
            model.fit(X[:n], y[:n])
            row[name] = [round(100 * model.score(*part), 2) for part in tests]
        yield row


def main() -> None:
    """Run and print JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--task", choices=("all", "ner", "speed", "evidence"), default="all"
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tol", type=float, default=0.02)
    args = parser.parse_args()
    most = 800 if args.quick else None
    parts = {name: spanish(name, most) for name in ("train", "testa", "testb")}
    if args.task == "evidence":
        for row in evidence(parts, args.tol):
            print(json.dumps(row), flush=True)
        return
    if args.task != "ner":
        row = {"who": "SegmentSVM(max_length=6)"} | speed(parts)
        print(json.dumps(row), flush=True)
    for row in () if args.task == "speed" else compared(parts, args.tol):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
