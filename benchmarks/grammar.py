"""Parsing: sentences per second by length, what a loss costs, and NLTK beside it.

    python -m benchmarks.grammar [--quick]

A grammar of all rules of the Penn Treebank sample (tags given; as they are, and split
with one child remembered), one thread, CPU time, best of several passes. A loss-augmented
parse is exact: the worst tree under 1 - F1 with margin and slack rescaling, and both with
squared penalties. Its cost depends on the weights, so it is measured with those of a
PCFG, with trained ones, and with a tenth and a hundredth of these, as early in training.
NLTK's ViterbiParser gets the same binary rules and probabilities.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin import GrammarSVM
from maxmargin.baselines import PCFG, log_probabilities
from maxmargin.core import Augment
from maxmargin.io import read_treebank, tagged_words
from maxmargin.losses import BracketF1
from maxmargin.structures.grammar import Grammar

SENTENCES = {10: 20, 20: 10, 40: 4}  # of each length


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sentences, no NLTK")
    parser.add_argument("--json", help="write the figures to this file")
    args = parser.parse_args()
    data = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
    trees = read_treebank(data / "ptb_sample/wsj_sample.mrg.txt.gz").trees
    if args.quick:
        trees = trees[::4]
    figures: dict[str, float] = {}
    for kind, horizontal in (("markov", 1), ("rules", None)):
        figures |= shown(rates(kind, horizontal, trees))
        if kind == "markov" and not args.quick:
            figures |= shown(nltk_rates(trees, figures))
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1) + "\n")


def shown(figures: dict[str, float]) -> dict[str, float]:
    """The same, printed."""
    for name, value in figures.items():
        print(f"{name:<50} {value:10.2f}", flush=True)
    return figures


def best(task: Callable[[], Any], passes: int = 3) -> float:
    """CPU seconds of the fastest pass, after one that does not count."""
    task()
    spent = []
    for _ in range(passes):
        begin = time.process_time()
        task()
        spent.append(time.process_time() - begin)
    return min(spent)


def rates(kind: str, horizontal: int | None, trees: list[Any]) -> dict[str, float]:
    """Rates of plain parses, and ratios of loss-augmented ones to them."""
    X = [tagged_words(tree) for tree in trees]
    lengths = np.array([len(x) for x in X])
    model = PCFG(Grammar(horizontal=horizontal)).fit(X, trees)
    grammar = model.structure_
    trained = trained_weights(grammar, horizontal, trees, lengths)
    out: dict[str, float] = {}
    out[f"{kind}: symbols"] = len(grammar.productions.symbols)
    out[f"{kind}: binary rules"] = len(grammar.productions.binary)
    for n, count in SENTENCES.items():
        some = np.flatnonzero(lengths == n)[:count]
        x = grammar.encode([X[i] for i in some])
        truth = grammar.encode_labels(x, [trees[i] for i in some])
        weights = {"PCFG": model.coef_, "trained": trained}
        weights |= {"tenth": 0.1 * trained, "hundredth": 0.01 * trained}
        for name, w in weights.items():
            spent = costs(grammar, x, truth, w)
            plain, head = spent.pop("plain"), f"{kind}, {n} words, {name}"
            out[f"{head}: sentences per s"] = x.n / plain
            for aim, seconds in spent.items():
                out[f"{head}: F1 {aim}, times plain"] = seconds / plain
    return out


def costs(grammar: Grammar, x: Any, truth: Any, w: Any) -> dict[str, float]:
    """CPU seconds of plain parses, and with the loss by what is to be maximised."""
    ids = np.arange(x.n)
    augment = Augment(truth, BracketF1(), np.ones(x.n))
    out = {"plain": best(lambda: grammar.argmax(x, ids, w))}
    out["margin"] = best(lambda: grammar.argmax(x, ids, w, augment))
    for aim in ("margin squared", "slack", "slack squared"):
        asked = augment._replace(aim=aim)
        out[aim] = best(lambda a=asked: grammar.argmax_by_loss(x, ids, w, a))
    return out


def trained_weights(
    grammar: Grammar, horizontal: int | None, trees: list[Any], lengths: Any
) -> Any:
    """Weights of an SVM of the trees of at most 12 words, in the larger grammar."""
    some = [trees[i] for i in np.flatnonzero(lengths <= 12)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GrammarSVM(0.2, horizontal=horizontal, tol=0.05).fit(
            [tagged_words(tree) for tree in some], some
        )
    own = {name: k for k, name in enumerate(grammar.feature_names())}
    w = np.zeros(grammar.dim)
    for name, value in zip(model.structure_.feature_names(), model.coef_, strict=True):
        w[own[name]] = value
    return w


def nltk_rates(trees: list[Any], ours: dict[str, float]) -> dict[str, float]:
    """NLTK on a few sentences, with the rules split with one child remembered."""
    try:
        from nltk import grammar as peer
        from nltk.parse.viterbi import ViterbiParser
    except ImportError:
        print("NLTK is not installed: left out")
        return {}
    X = [tagged_words(tree) for tree in trees]
    grammar = Grammar(horizontal=1).bind(X, trees)
    own = grammar.productions
    assert own is not None
    p = np.exp(log_probabilities(own, 0.0))
    symbol = [peer.Nonterminal(f"{k}") for k in range(len(own.symbols))]
    top = peer.Nonterminal("top")
    rules = []
    for (a, b, c), v in zip(own.binary, p, strict=False):
        rules.append(
            peer.ProbabilisticProduction(symbol[a], [symbol[b], symbol[c]], prob=v)
        )
    for (a, b), v in zip(own.unary, p[len(own.binary) :], strict=False):
        rules.append(peer.ProbabilisticProduction(symbol[a], [symbol[b]], prob=v))
    for a, r in own.root.items():
        rules.append(peer.ProbabilisticProduction(top, [symbol[a]], prob=p[r]))
    tags = {s.label: k for k, s in enumerate(own.symbols) if s.tag}
    for tag, k in tags.items():
        rules.append(peer.ProbabilisticProduction(symbol[k], [tag], prob=1.0))
    parser = ViterbiParser(peer.PCFG(top, rules))
    out = {}
    for n, count in ((10, 2),):
        some = [x for x in X if len(x) == n][:count]
        begin = time.process_time()
        for x in some:
            next(iter(parser.parse([tag for _, tag in x])))
        rate = len(some) / (time.process_time() - begin)
        out[f"NLTK ViterbiParser, {n} words: sentences per s"] = rate
        mine = ours[f"markov, {n} words, PCFG: sentences per s"]
        out[f"times NLTK, {n} words"] = mine / rate
    return out


if __name__ == "__main__":
    main()
