"""The commands and their flags."""

from __future__ import annotations

import argparse

from maxmargin import __version__
from maxmargin.cli.errors import CODES
from maxmargin.cli.tasks.names import FORMAT_NAMES, SEQUENCE_FORMATS, TASK_NAMES
from maxmargin.cli.terminal import HelpText, Parser

ABOUT = """\
Max-margin structured prediction, with a certificate of optimality on every fit:
classes, label sequences, parse trees, alignments, rankings, graphs, motifs."""
OVERVIEW = """\
maxmargin learns to predict outputs that have parts:
label sequences, trees, alignments, rankings, graphs.

See it work      maxmargin demo
Learn a model    maxmargin train train.conll ner.mm
How good is it?  maxmargin evaluate ner.mm test.conll
Use it           maxmargin predict ner.mm new.conll
Write a page     maxmargin report ner.mm test.conll
Try it yourself  maxmargin serve ner.mm
What is inside?  maxmargin describe ner.mm
Your own output  maxmargin new structure.py

maxmargin --help lists all commands,
maxmargin COMMAND --help explains one."""
EXAMPLES = """\
examples:
  # the task is recognised from the file
  maxmargin train train.conll ner.mm
  zcat train.dat.gz | maxmargin train multiclass - m.mm
  # with the flags of svm_hmm_learn
  maxmargin train sequences train.dat m.mm -c 100 -e 0.5
  maxmargin completion bash >> ~/.bashrc
"""
TRAIN = """\
Learn a model from a data file. The task is recognised from the first lines of the file.
You can also name it, in front of the file:

  multiclass    svmlight lines, LABEL 1:0.5 7:1
  multilabel    svmlight lines, A,B 1:0.5 7:1
  sequences     CoNLL columns; CoNLL-U; svm_hmm
                (TAG qid:1 3:1); CRFsuite (LABEL<tab>
                ATTRIBUTE); or raw text as JSON lines,
                {"text": "Ana sings",
                "entities": [[0, 3, "PER"]]}
  segments      CoNLL columns or raw text; spans are
                scored as wholes
  trees         Penn brackets,
                (S (NP (DT the) (NN cat)) (VP (VBD sat)))
  dependencies  CoNLL-U, heads and relations of words
  alignments    FASTA rows two by two; or PIR, Clustal,
                Stockholm
  homology      JSON lines, {"native": "HEAGAW",
                "candidates": ["PAWHE", "CCDE"],
                "homolog": 0}
  ranking       LETOR lines, GRADE qid:7 1:0.5 2:1
  graphs        JSON lines, {"nodes": [[0.1], [0.7]],
                "edges": [[0, 1]],
                "labels": ["sea", "land"]}
  motifs        FASTA, >name LABEL; or two files, with
                and without
  coreference   CoNLL-2012, or CoNLL-U with entities
                (CorefUD)

Files may be gzipped; '-' is standard input, or standard output for the model."""
TRAIN_USAGE = """\
maxmargin train [TASK] DATA.. MODEL [--C X] ..
       maxmargin train --help    lists all options"""
FORMATS = f"format of the data, if it is not recognised: {', '.join(FORMAT_NAMES)}"
SVM_STRUCT = """\
Accepted so that scripts for svm_struct_learn, svm_hmm_learn and others keep working.
Their C is divided by the number of examples, ours (--C) is not: -c 100 with 500 examples
is --C 0.2."""


SERVE = """\
Open a page where you type an input and see the answer, its confidence, the runners-up
and why. Programs send JSON to /predict, /nbest and /explain; /schema describes them.
Only this machine can reach it, unless you give another --host."""
NEW = """\
Write a Python file with a small structure of your own: features, loss and search, with
comments, and a check that says what is wrong with them. Change it, then run it."""
WARMUP = """\
Compile ahead what the named estimators need (all estimators, if none is named), so that
their first fit starts at once. A wheel from an index comes with machine code and needs no
compiling; 'python -m maxmargin.runtime' shows which one you have.
In a Dockerfile: RUN maxmargin warmup --share"""


def build() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = Parser(
        prog="maxmargin", description=ABOUT, epilog=f"{EXAMPLES}\n{CODES}",
        formatter_class=HelpText,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--no-color",
        action="store_true",
        help="no colours; the environment variable NO_COLOR does the same",
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands"
    )

    def command(
        name: str, text: str, about: str, usage: str | None = None
    ) -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=text, description=about, usage=usage,
            formatter_class=HelpText,
        )  # fmt: skip

    _train(command("train", "learn a model from a data file", TRAIN, TRAIN_USAGE))
    _predict(
        command(
            "predict",
            "write predictions for a data file",
            "Predict with a model. Data have the format of the training data.",
        )
    )
    _evaluate(
        command(
            "evaluate",
            "compare predictions with the truth",
            "Print the usual measures of the task: accuracy, F1, Q, NDCG, ...",
        )
    )
    _report(
        command(
            "report",
            "write one HTML page about a model",
            "Shows the certificate, the weights and, with data, scores and mistakes.",
        )
    )
    _convert(
        command(
            "convert",
            "convert sequences between formats",
            "Converts between CoNLL columns, svm_hmm and CRFsuite files.",
        )
    )
    _export(command("export", "write a motif or learned scores for other programs",
                    "Writes a motif in MEME format, or substitution scores and gap costs as "
                    "whole numbers, with their scale."))  # fmt: skip
    _describe(
        command(
            "describe",
            "show what is in a model file",
            "Shows the kind of model, task, C, gap, labels, command and size. With --runtime:\n"
            "which machine code this installation uses, and why.",
        )
    )
    _new(command("new", "write an example of a structure of your own", NEW))
    _serve(command("serve", "try a model in the browser, or call it as a JSON API",
                   SERVE))  # fmt: skip
    _demo(command("demo", "train on handwritten postcodes, in a few seconds",
                  "Train on scanned digits written as postcodes, once digit by "
                  "digit and once\nas sequences; print the certificate and draw."))  # fmt: skip
    _warmup(command("warmup", "compile ahead what estimators need",
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
    add("--format", choices=FORMAT_NAMES, metavar="NAME", help=FORMATS)
    add("--C", type=_penalty, metavar="X|auto",
        help="how much training errors cost; auto: chosen by cross-validation")  # fmt: skip
    add("--loss", help="loss, by its name in the estimator, such as hamming")
    add(
        "--rescaling",
        choices=("margin", "slack", "none"),
        help="how the loss enters the constraints",
    )
    add(
        "--penalty",
        choices=("linear", "squared", "hard", "summed"),
        help="penalty of training errors (slacks)",
    )
    add(
        "--solver", help="trainer: auto, block-dual, one-slack, bcfw, sdm, n-slack, ..."
    )
    add("--tol", type=_positive, metavar="X", help="stop at this relative duality gap")
    add("--max-iter", type=int, metavar="N", help="stop after N steps")
    add("--max-time", type=float, metavar="S", help="stop after S seconds")
    add("--jobs", type=int, metavar="N", help="number of threads (default: all cores)")
    add("--seed", type=int, metavar="N", help="seed of the random numbers")
    add("--set", action="append", default=[], metavar="NAME=VALUE",
        help="any other parameter of the estimator, as in --set order=2")  # fmt: skip
    add("--template", metavar="FILE|NAME",
        help="features of words: ner, pos, chunk, or a file of CRF++ or Wapiti")  # fmt: skip
    _encoding(parser)
    add(
        "--label-column",
        type=int,
        metavar="K",
        help="column of the label in CoNLL files, from 0 (default: -1, the last)",
    )
    add(
        "--normalize",
        action="store_true",
        help="scale LETOR features to 0 .. 1 within each query",
    )
    add("--taxonomy", metavar="FILE",
        help="file with a label and its parent on each line")  # fmt: skip
    _track(parser)
    add("--calibrate", type=int, metavar="N",
        help="fit probabilities on N held-out folds, for predict --probabilities")  # fmt: skip
    add("--evalues", action="store_true",
        help="alignments: fit E-values to shuffled sequences")  # fmt: skip
    add(
        "--motifs",
        type=int,
        metavar="N",
        help="find N motifs, one after the other; further models are called MODEL-2, ...",
    )
    add("--start", metavar="FILE", help="a motif in MEME format to start from")
    add(
        "--checkpoint",
        metavar="FILE",
        help="save the state of training here; continue from it if the file exists",
    )
    add("--quiet", action="store_true", help="print no progress")
    add("--json", action="store_true", help="print the certificate as JSON")
    _svm_struct(parser.add_argument_group("flags of svm_struct", SVM_STRUCT))


def _svm_struct(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "-c",
        type=_positive,
        metavar="C",
        help="C as svm_struct counts it: n times ours",
    )
    add("-e", type=_positive, metavar="EPS", help="largest violation that is accepted")
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
    parser.add_argument(
        "--out",
        default="-",
        metavar="FILE",
        help="file to write (default: standard output)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON value per line")
    parser.add_argument("--sites", type=_positive, metavar="P",
                        help="motifs: all sites with p-values of at most P")  # fmt: skip
    parser.add_argument(
        "--probabilities",
        action="store_true",
        help="write probabilities of classes, labels, nodes or aligned columns",
    )
    parser.add_argument("--cost", type=_positive, metavar="X",
                        help="classes of a taxonomy: cost of each level that is left open, up "
                        "to 1; uncertain answers then stop at a higher node")  # fmt: skip


def _evaluate(parser: argparse.ArgumentParser) -> None:
    _model_and_data(parser, "+")
    parser.add_argument("--json", action="store_true", help="measures as JSON")
    parser.add_argument(
        "--errors",
        type=int,
        default=0,
        metavar="N",
        help="print the N hardest examples with their errors marked",
    )


def _report(parser: argparse.ArgumentParser) -> None:
    _model_and_data(parser, "*")
    parser.add_argument(
        "--out", default="report.html", metavar="FILE", help="page to write"
    )


def _model_and_data(parser: argparse.ArgumentParser, number: str) -> None:
    parser.add_argument("model", metavar="MODEL", help="model file, or '-'")
    parser.add_argument("data", nargs=number, metavar="DATA", help="data, or '-'")
    parser.add_argument("--format", choices=FORMAT_NAMES, metavar="NAME",
                        help="format of the data, if not that of the training data; "
                        "'text' is plain text, one sentence per line")  # fmt: skip
    _encoding(parser)
    _track(parser)


def _track(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--track", action="append", default=[], metavar="NAME=FILE",
                        help="alignments: one more letter for each residue, as FASTA pairs "
                        "in the order of the data: ss=structure.fasta")  # fmt: skip


def _encoding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="encoding of text files, such as latin1 (default: utf-8)",
    )


def _convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="IN", help="file to read, or '-'")
    parser.add_argument("out", metavar="OUT", help="file to write, or '-'")
    parser.add_argument(
        "--from", dest="source", choices=SEQUENCE_FORMATS, help="format of IN"
    )
    parser.add_argument("--to", dest="target", choices=SEQUENCE_FORMATS, required=True,
                        help="format of OUT")  # fmt: skip


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model file, or '-'")
    parser.add_argument("--to", choices=("meme", "matrix", "json"),
                        help="motifs: meme. Alignments: matrix (NCBI layout, for BLAST and "
                        "parasail) or json")  # fmt: skip
    parser.add_argument("--largest", type=int, default=11, metavar="N",
                        help="alignments: largest whole number of the matrix (11)")  # fmt: skip
    parser.add_argument(
        "--out",
        default="-",
        metavar="FILE",
        help="file to write (default: standard output)",
    )


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", default="maxmargin-demo.png", metavar="FILE", help="picture to write"
    )
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
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("model", metavar="MODEL", nargs="?", help="model file, or '-'")
    what.add_argument("--runtime", action="store_true",
                      help="versions and machine code in use, instead of a model")  # fmt: skip
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
