"""Coreference on LitBank: scores of the official scorer, and the time of training.

    python -m benchmarks.coreference
    python -m benchmarks.coreference other.conll ..

The mentions are those of the corpus; the last 20 documents are the test set, the first 80
the training set. Exact match puts mentions with the same words into one entity. Times are
CPU seconds of one process, after a first fit that compiles the loops.

With files of CoNLL-2012 (or, if they end in .conllu, CorefUD) models are trained on all of
LitBank and tested on the documents of those files. LitBank says of each mention whether it
is a person, a place, .., and a name, a noun phrase or a pronoun; other corpora do not, so
training leaves it out there.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from experiments.yu2011.litbank import read_litbank
from maxmargin import CoreferenceSVM
from maxmargin.io.coreference import read_conll2012, read_corefud
from maxmargin.metrics import coreference_scores, entities_of
from maxmargin.structures.clusters import Document, Mention

TRAIN, TEST = 80, 20


def main() -> None:
    """Print the figures."""
    path = (
        Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
        / "coref_litbank/litbank_coref.txt.gz"
    )
    _, X, y = zip(*read_litbank(path), strict=True)
    if len(sys.argv) > 1:
        other_corpus([plain(x) for x in X], list(y), sys.argv[1:])
        return
    show("exact match", X[-TEST:], y[-TEST:], [matched(x) for x in X[-TEST:]], 0.0)
    CoreferenceSVM(tol=0.5).fit(X[:2], y[:2])
    for r in (1.0, 0.25):
        start = time.process_time()
        model = CoreferenceSVM(r).fit(X[:TRAIN], y[:TRAIN])
        seconds = time.process_time() - start
        show(f"r={r}", X[-TEST:], y[-TEST:], model.predict(X[-TEST:]), seconds)


def plain(document: Any) -> Document:
    """The document without what LitBank says of its mentions."""
    return Document(document.sentences, [Mention(*m[:3]) for m in document.mentions])


def other_corpus(X: list[Any], y: list[Any], paths: list[str]) -> None:
    """Train on LitBank, test on another corpus."""
    found = []
    for path in paths:
        found += (read_corefud if path.endswith(".conllu") else read_conll2012)(path)
    test = [Document(d.sentences, [Mention(*span) for span in d.spans]) for d in found]
    truth = [d.clusters for d in found]
    show("exact match", test, truth, [matched(x) for x in test], 0.0)
    for r in (1.0, 0.25):
        start = time.process_time()
        model = CoreferenceSVM(r).fit(X, y)
        seconds = time.process_time() - start
        show(f"r={r}", test, truth, model.predict(test), seconds)


def matched(document: Any) -> list[int]:
    """Mentions with the same words in one entity."""
    known: dict[str, int] = {}
    out = []
    for m in document.mentions:
        words = document.sentences[m.sentence][m.first : m.last + 1]
        out.append(known.setdefault(" ".join(words).lower(), len(known)))
    return out


def show(name: str, X: Any, truth: Any, found: Any, seconds: float) -> None:
    """One line of scores."""
    mentions = [[tuple(m) for m in x.mentions] for x in X]
    keys = [entities_of(m, c) for m, c in zip(mentions, truth, strict=True)]
    responses = [entities_of(m, c) for m, c in zip(mentions, found, strict=True)]
    s = coreference_scores(keys, responses)
    three = " ".join(f"{100 * v.f1:.1f}" for v in (s.muc, s.b_cubed, s.ceaf_e))
    sys.stdout.write(
        f"{name:12s} MUC, B3, CEAFe {three}  CoNLL {100 * s.conll:.1f}  "
        f"training {seconds:.1f} s\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
