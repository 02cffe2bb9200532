"""Dependency parsing: accuracy and speed on treebanks converted by head rules.

    python -m benchmarks.dependencies                  # the sample of the Penn Treebank
    python -m benchmarks.dependencies --corpus gum --train 2000
    python -m benchmarks.dependencies --train 200 --nltk
    pip install ufal.udpipe && python -m benchmarks.dependencies --train 1000 --udpipe

The last sentences of the corpus are the test set. Times are CPU seconds of one process,
after a first fit that compiles the loops. `--nltk` also trains the transition parser of
NLTK (arc-standard, a polynomial SVM of scikit-learn) on the same trees, `--udpipe` the
parser of UDPipe 1 (transitions chosen by a neural network, in C++) with its own settings.
All of them see the same tags.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from maxmargin import DependencySVM
from maxmargin.io import read_treebank
from maxmargin.io.trees import dependencies_of_tree
from maxmargin.metrics import PENN_PUNCTUATION, attachment_scores

FILES = {
    "penn": "ptb_sample/wsj_sample.mrg.txt.gz",
    "gum": "trees_gum/gum_trees.txt.gz",
}
TEST = 400


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=FILES, default="penn")
    parser.add_argument("--train", type=int, default=10**6, help="sentences at most")
    parser.add_argument("--C", type=float, default=0.03)
    parser.add_argument("--tol", type=float, default=0.05)
    parser.add_argument("--no-labels", action="store_true")
    parser.add_argument("--any-tree", action="store_true", help="arcs may cross")
    parser.add_argument("--nltk", action="store_true")
    parser.add_argument("--udpipe", action="store_true")
    args = parser.parse_args()
    X, y = trees(args.corpus, not args.no_labels)
    train, test = (
        (X[:-TEST][: args.train], y[:-TEST][: args.train]),
        (X[-TEST:], y[-TEST:]),
    )
    projective = False if args.any_tree else None
    DependencySVM(projective=projective, tol=0.99).fit(train[0][:20], train[1][:20])
    model = DependencySVM(args.C, tol=args.tol, projective=projective)
    seconds = timed(lambda: model.fit(*train))
    say("sentences of training", len(train[0]))
    say("weights", model.structure_.dim)
    say("training, CPU seconds", round(seconds, 1))
    say("duality gap", round(model.result_.gap, 4))
    found: list[Any] = []
    seconds = timed(lambda: found.extend(model.predict(test[0])))
    say("sentences per CPU second", round(TEST / seconds))
    show(test, found)
    if args.nltk:
        compare(train, test)
    if args.udpipe:
        compare_udpipe(train, test)


def trees(corpus: str, labels: bool) -> tuple[list[Any], list[Any]]:
    """Sentences and dependency trees of a corpus."""
    path = os.path.join(
        os.environ.get("MAXMARGIN_DATA", "../shared/data"), FILES[corpus]
    )
    found = [dependencies_of_tree(t) for t in read_treebank(path, strip=False).trees]
    found = [tree for tree in found if tree.tokens]
    y = [tree.arcs if labels else [head for head, _ in tree.arcs] for tree in found]
    return [tree.tokens for tree in found], y


def show(test: Any, found: list[Any]) -> None:
    """Attachment scores with and without punctuation."""
    scores = attachment_scores(test[1], found)
    without = attachment_scores(test[1], found, test[0], ignored_tags=PENN_PUNCTUATION)
    say("UAS, LAS", f"{scores.uas:.4f} {scores.las:.4f}")
    say("without punctuation", f"{without.uas:.4f} {without.las:.4f}")


def compare(train: Any, test: Any) -> None:
    """The transition parser of NLTK on the same trees."""
    import nltk
    from nltk.parse import TransitionParser

    parser = TransitionParser("arc-standard")
    with tempfile.TemporaryDirectory() as folder:
        nltk.data.path.append(folder)  # NLTK opens files in folders named there only
        path = os.path.join(folder, "model")
        graphs = [graph(x, tree) for x, tree in zip(*train, strict=True)]
        say(
            "NLTK, training", round(timed(lambda: parser.train(graphs, path, False)), 1)
        )
        blind = [graph(x, tree) for x, tree in zip(*test, strict=True)]
        found: list[Any] = []
        seconds = timed(lambda: found.extend(parser.parse(blind, path)))
    say("NLTK, sentences per CPU second", round(TEST / seconds, 1))
    arcs = [
        [
            (node["head"] or 0, node["rel"])
            for k, node in sorted(parsed.nodes.items())
            if k > 0
        ]
        for parsed in found
    ]
    show(test, arcs)


def compare_udpipe(train: Any, test: Any) -> None:
    """The parser of UDPipe 1 on the same trees, with its defaults."""
    from ufal import udpipe

    def read(pairs: Any) -> list[Any]:
        text = [
            "\n".join(
                f"{t}\t{word}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_"
                for t, ((word, tag), (head, label)) in enumerate(zip(x, tree), 1)
            )
            for x, tree in zip(*pairs, strict=True)
        ]
        reader = udpipe.InputFormat.newConlluInputFormat()
        reader.setText("\n\n".join(text) + "\n\n")
        out, error = [], udpipe.ProcessingError()
        sentence = udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            out.append(sentence)
            sentence = udpipe.Sentence()
        return out

    sentences, blind = read(train), read(test)
    made: list[Any] = []
    error = udpipe.ProcessingError()
    seconds = timed(
        lambda: made.append(
            udpipe.Trainer.train(
                "morphodita_parsito", sentences, [], "none", "none", "", error
            )
        )
    )
    assert not error.occurred(), error.message
    say("UDPipe, training", round(seconds, 1))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with open(path, "wb") as file:
            file.write(made[0])
        model = udpipe.Model.load(path)
        model.parse(blind[0], "")
        seconds = timed(lambda: [model.parse(x, "") for x in blind])
    say("UDPipe, sentences per CPU second", round(TEST / seconds))
    arcs = [[(w.head, w.deprel) for w in list(x.words)[1:]] for x in blind]
    show(test, arcs)


def graph(sentence: Any, tree: Any) -> Any:
    """A dependency graph of NLTK."""
    from nltk.parse import DependencyGraph

    rows = []
    for t, ((word, tag), arc) in enumerate(zip(sentence, tree, strict=True), 1):
        head, label = arc if isinstance(arc, tuple) else (arc, "dep")
        rows.append(f"{t}\t{word}\t{word}\t{tag}\t{tag}\t_\t{head}\t{label}\t_\t_")
    return DependencyGraph("\n".join(rows), top_relation_label="root")


def timed(function: Callable[[], Any]) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def say(name: str, value: Any) -> None:
    """One figure."""
    sys.stdout.write(f"{name:32s} {value}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
