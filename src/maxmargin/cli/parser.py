"""The commands and their flags."""

from __future__ import annotations

import argparse

from maxmargin import __version__
from maxmargin.cli.errors import CODES
from maxmargin.cli.tasks.names import FORMAT_NAMES, SEQUENCE_FORMATS, TASK_NAMES

ABOUT = """\
Max-margin structured prediction, with a certificate of optimality on every fit:
classes, label sequences, parse trees, alignments, rankings, graphs, motifs."""
OVERVIEW = """\
maxmargin learns to predict outputs that have parts: label sequences, trees,
alignments, rankings, graphs.

See it work:        maxmargin demo
Learn a model:      maxmargin train train.conll ner.mm
Use it:             maxmargin predict ner.mm new.conll > tagged.conll
How good is it?     maxmargin evaluate ner.mm test.conll
A page about it:    maxmargin report ner.mm test.conll --out ner.html
Try it yourself:    maxmargin serve ner.mm
What is in a file?  maxmargin describe ner.mm
Your own structure: maxmargin new structure.py

maxmargin --help lists all commands, maxmargin COMMAND --help explains one."""
EXAMPLES = """\
examples:
  maxmargin train train.conll ner.mm              # the task is seen from the file
  zcat train.dat.gz | maxmargin train multiclass - model.mm --C 0.5
  maxmargin train sequences train.dat model.mm -c 100 -e 0.5 -w 3   # as svm_hmm_learn
  maxmargin completion bash >> ~/.bashrc
"""
TRAIN = """\
Learn a model from a data file. The task is seen from the first lines of the file, or
said in front of it:

  multiclass   svmlight lines        LABEL 1:0.5 7:1
  multilabel   svmlight lines        A,B 1:0.5 7:1
  sequences    CoNLL columns, CoNLL-U, svm_hmm (TAG qid:1 3:1), CRFsuite
               (LABEL<tab>ATTRIBUTE)
  segments     CoNLL columns         spans scored as wholes, labels in BIO, IOB1 or BIOES
  trees        Penn brackets         (S (NP (DT the) (NN cat)) (VP (VBD sat)))
  dependencies CoNLL-U               heads and relations of words
  alignments   FASTA rows two by two, or PIR, Clustal, Stockholm alignments
  ranking      LETOR lines           GRADE qid:7 1:0.5 2:1
  graphs       JSON lines            {"nodes": [[..]], "edges": [[0, 1]], "labels": [..]}
  motifs       FASTA                 >name LABEL, or two files: with and without
  coreference  CoNLL-2012, or CoNLL-U with entities (CorefUD)

Files may be gzipped; '-' is standard input, or standard output for the model."""
TRAIN_USAGE = """\
maxmargin train [TASK] DATA.. MODEL [--C X] [--set NAME=VALUE] ..
       maxmargin train --help    says what else there is"""
SVM_STRUCT = """\
Accepted so that scripts for svm_struct_learn, svm_hmm_learn, .. go on working. Their C
is divided by the number of examples, ours (--C) is not: -c 100 with 500 examples is
--C 0.2."""


SERVE = """\
Open a page where you type an input and see the answer, its confidence, the runners-up
and why. Programs send JSON to /predict, /nbest and /explain; /schema describes them.
Only this machine can reach it, unless you give another --host."""
NEW = """\
Write a Python file with a small structure of your own: features, loss and search, with
comments, and the check that tells what is wrong with them. Change it, then run it."""
WARMUP = """\
Compile what the named estimators (all, if none is named) need, so that their first fit
does not wait. A wheel from an index brings its machine code along and has nothing to
compile; 'python -m maxmargin.runtime' tells. In a Dockerfile: RUN maxmargin warmup --share"""


def build() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="maxmargin", description=ABOUT, epilog=f"{EXAMPLES}\n{CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--no-color", action="store_true",
                        help="plain text, as the variable NO_COLOR does")  # fmt: skip
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands"
    )

    def command(
        name: str, text: str, about: str, usage: str | None = None
    ) -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=text, description=about, usage=usage,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip

    _train(command("train", "learn a model from a data file", TRAIN, TRAIN_USAGE))
    _predict(command("predict", "write predictions for a data file",
                     "Predict with a model; formats are those of training."))  # fmt: skip
    _evaluate(command("evaluate", "compare predictions with the truth",
                      "Print measures of the task: accuracy, F1, Q, NDCG, .."))  # fmt: skip
    _report(command("report", "write one HTML page about a model",
                    "Certificate, convergence, weights and, with data, errors."))  # fmt: skip
    _convert(command("convert", "convert sequences between formats",
                     "Between CoNLL columns, svm_hmm and CRFsuite files."))  # fmt: skip
    _export(command("export", "write a motif or learned scores for other programs",
                    "A motif in MEME format; substitution scores and gap costs in whole\n"
                    "numbers, with their scale."))  # fmt: skip
    _describe(command("describe", "print what a model file says about itself",
                      "Kind, task, C, gap, labels, command and size."))  # fmt: skip
    _new(command("new", "write the skeleton of a structure of your own", NEW))
    _serve(command("serve", "try a model in the browser, or call it as a JSON API",
                   SERVE))  # fmt: skip
    _demo(command("demo", "read handwritten postcodes: a real run in a few seconds",
                  "Train on scanned digits written as postcodes, once digit by "
                  "digit and once\nas sequences; print the certificate and draw."))  # fmt: skip
    _warmup(command("warmup", "compile the loops of estimators ahead",
                    WARMUP, "maxmargin warmup [ESTIMATOR..] [--share]"))  # fmt: skip
    shell = command("completion", "print a completion script",
                    'For bash: eval "$(maxmargin completion bash)"')  # fmt: skip
    shell.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")
    return parser


def _train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="[TASK] DATA.. MODEL",
        help=f"task ({', '.join(TASK_NAMES)}), data, and the model file to write",
    )  # fmt: skip
    add = parser.add_argument
    add("--format", choices=FORMAT_NAMES, help="of the data, where it is not plain")
    add("--C", type=_penalty, metavar="X|auto",
        help="penalty, multiplies the sum of slacks; auto: by cross-validation")  # fmt: skip
    add("--loss", help="by name, as the estimator knows it")
    add("--rescaling", choices=("margin", "slack", "none"), help="how the loss enters")
    add("--penalty", choices=("linear", "squared", "hard", "summed"), help="of slacks")
    add("--solver", help="auto, block-dual, one-slack, bcfw, sdm, n-slack, ..")
    add("--tol", type=_positive, metavar="X", help="relative duality gap to reach")
    add("--max-iter", type=int, metavar="N", help="steps at most")
    add("--max-time", type=float, metavar="S", help="seconds at most")
    add("--jobs", type=int, metavar="N", help="threads (default: all cores)")
    add("--seed", type=int, metavar="N", help="of the order of visits")
    add("--set", action="append", default=[], metavar="NAME=VALUE",
        help="any other parameter of the estimator, as in --set order=2")  # fmt: skip
    add("--template", metavar="FILE|NAME",
        help="features of words: ner, pos, chunk, or a file of CRF++ or Wapiti")  # fmt: skip
    _encoding(parser)
    add("--label-column", type=int, metavar="K", help="of CoNLL columns; the last: -1")
    add("--normalize", action="store_true", help="LETOR features to 0 .. 1 by query")
    add("--taxonomy", metavar="FILE",
        help="what lies above each label: lines of a label and its parent")  # fmt: skip
    _track(parser)
    add("--calibrate", type=int, metavar="N",
        help="fit probabilities on N folds, for predict --probabilities")  # fmt: skip
    add("--evalues", action="store_true",
        help="alignments: fit the scores of chance, for E-values")  # fmt: skip
    add("--motifs", type=int, metavar="N",
        help="find N motifs, one after the other; MODEL-2, .. are written as well")  # fmt: skip
    add("--start", metavar="FILE", help="a motif in MEME format to start from")
    add("--checkpoint", metavar="FILE",
        help="keep the dual state here while training; go on from it if there")  # fmt: skip
    add("--quiet", action="store_true", help="say nothing on the way")
    add("--json", action="store_true", help="print the certificate as JSON")
    known = parser.add_argument_group("flags of svm_struct", SVM_STRUCT)
    add = known.add_argument
    add("-c", type=_positive, metavar="C", help="penalty in their scale: n times ours")
    add("-e", type=_positive, metavar="EPS", help="violation that is put up with")
    add(
        "-o",
        dest="loss_type",
        type=int,
        choices=(1, 2),
        help="1 slack, 2 margin rescaling",
    )
    add(
        "-p",
        dest="slack_norm",
        type=int,
        choices=(1, 2),
        help="1 linear, 2 squared slacks",
    )
    add("-w", dest="trainer", type=int, choices=(0, 1, 2, 3, 4),
        help="0 n-slack, 1 n-slack by example, 2 3 4 1-slack")  # fmt: skip
    add(
        "-t",
        dest="kernel",
        type=int,
        choices=(0, 1, 2),
        help="0 linear, 1 polynomial, 2 rbf",
    )
    add("-d", dest="degree", type=int, help="degree of the polynomial (3)")
    add("-g", dest="gamma", type=_positive, help="gamma of the kernel (1)")


def _predict(parser: argparse.ArgumentParser) -> None:
    _model_and_data(parser, "+")
    parser.add_argument("--out", default="-", metavar="FILE", help="default: '-'")
    parser.add_argument("--json", action="store_true", help="one JSON value per line")
    parser.add_argument("--sites", type=_positive, metavar="P",
                        help="motifs: all sites with p-values of at most P")  # fmt: skip
    parser.add_argument("--probabilities", action="store_true",
                        help="of classes, labels, nodes and aligned columns")  # fmt: skip
    parser.add_argument("--cost", type=_positive, metavar="X",
                        help="classes of a taxonomy: what a level that is left open costs, "
                        "up to 1; answers stop higher up where unsure")  # fmt: skip


def _evaluate(parser: argparse.ArgumentParser) -> None:
    _model_and_data(parser, "+")
    parser.add_argument("--json", action="store_true", help="measures as JSON")
    parser.add_argument("--errors", type=int, default=0, metavar="N",
                        help="print the N hardest sentences, errors marked")  # fmt: skip


def _report(parser: argparse.ArgumentParser) -> None:
    _model_and_data(parser, "*")
    parser.add_argument(
        "--out", default="report.html", metavar="FILE", help="page to write"
    )


def _model_and_data(parser: argparse.ArgumentParser, number: str) -> None:
    parser.add_argument("model", metavar="MODEL", help="model file, or '-'")
    parser.add_argument("data", nargs=number, metavar="DATA", help="data, or '-'")
    parser.add_argument("--format", choices=FORMAT_NAMES,
                        help="of the data; by default that of the training data")  # fmt: skip
    _encoding(parser)
    _track(parser)


def _track(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--track", action="append", default=[], metavar="NAME=FILE",
                        help="alignments: a letter for each residue, FASTA pairs in the "
                        "order of the data, as ss=structure.fasta")  # fmt: skip


def _encoding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--encoding", metavar="NAME", help="of text files, as latin1")


def _convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="IN", help="file to read, or '-'")
    parser.add_argument("out", metavar="OUT", help="file to write, or '-'")
    parser.add_argument("--from", dest="source", choices=SEQUENCE_FORMATS, help="of IN")
    parser.add_argument("--to", dest="target", choices=SEQUENCE_FORMATS, required=True,
                        help="of OUT")  # fmt: skip


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model file, or '-'")
    parser.add_argument("--to", choices=("meme", "matrix", "json"),
                        help="motifs: meme. Alignments: matrix (NCBI layout, for BLAST and "
                        "parasail) or json")  # fmt: skip
    parser.add_argument("--largest", type=int, default=11, metavar="N",
                        help="alignments: largest whole number of the matrix (11)")  # fmt: skip
    parser.add_argument("--out", default="-", metavar="FILE", help="default: '-'")


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", default="maxmargin-demo.png", help="picture to write")
    parser.add_argument(
        "--seed", type=int, default=0, help="which postcodes are written"
    )


def _serve(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="model file, or '-'")
    add("--host", default="127.0.0.1", help="address (127.0.0.1: this machine only)")
    add(
        "--port", type=int, default=8000, metavar="N", help="default: 8000; 0: any free"
    )
    add("--open", action="store_true", help="open the page in a browser")
    add("--max-bytes", type=int, default=1_000_000, metavar="N",
        help="bytes of a request at most (1000000)")  # fmt: skip
    add("--max-inputs", type=int, default=1000, metavar="N",
        help="inputs of a request at most (1000)")  # fmt: skip
    add("--max-size", type=int, default=2000, metavar="N",
        help="tokens, letters, nodes or documents of an input at most (2000)")  # fmt: skip
    add("--timeout", type=_positive, default=30.0, metavar="S",
        help="seconds until an answer at most (30)")  # fmt: skip


def _describe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model file, or '-'")
    parser.add_argument("--json", action="store_true",
                        help="what the file says, as JSON; no model is made")  # fmt: skip


def _new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="to write, as in structure.py")


def _warmup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "estimators", nargs="*", metavar="ESTIMATOR", help="as ChainSVM"
    )
    parser.add_argument(
        "--share", action="store_true",
        help="write into the installed package, for all users of it on this processor",
    )  # fmt: skip


def _penalty(text: str) -> float | str:
    return text if text == "auto" else _positive(text)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number greater than zero")
    return value
