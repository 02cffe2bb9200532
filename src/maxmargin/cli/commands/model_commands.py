"""`predict`, `evaluate`, `report` and `describe`: what is done with a model file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import maxmargin
from maxmargin import runtime
from maxmargin.cli.errors import DONE, InputError, UsageError
from maxmargin.cli.field_flags import track_files
from maxmargin.cli.streams import Inputs, model_source, output_path
from maxmargin.cli.tasks.data import Data
from maxmargin.cli.tasks.detect import document_format
from maxmargin.cli.tasks.sureness import node_lines, probability_lines
from maxmargin.cli.tasks.table import TASKS, Task
from maxmargin.cli.tasks.writers import predicted_labels, site_lines
from maxmargin.cli.terminal import folded, label_list, table_lines
from maxmargin.estimators.explaining.report import report as write_report
from maxmargin.estimators.fitting.inputs import check_examples
from maxmargin.reports.sentences import sentence_lines

ROUNDING = 1e-12  # relative difference of scores that are equal


def predict(args: argparse.Namespace, inputs: Inputs) -> int:
    """Write the predictions for a data file."""
    model = maxmargin.load(model_source(args.model))
    task, data = _read(model, args, inputs)
    if args.sites is not None:
        if not isinstance(model, maxmargin.MotifSVM):
            raise UsageError("--sites is for motifs")
        lines = site_lines(model, data, args.sites)
    elif args.probabilities:
        lines = probability_lines(model, data, task_name(model))
    elif args.cost is not None:
        lines = node_lines(model, data, args.cost)
    elif args.json:
        lines = [json.dumps(_plain(y)) for y in predicted_labels(model, data)]
    else:
        lines = task.lines(model, data, data.form)
    read = [args.model, *args.data]
    with output_path(args.out, read) as path, open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    return DONE


def evaluate(args: argparse.Namespace, inputs: Inputs) -> int:
    """Print how well a model predicts the outputs of a data file."""
    model = maxmargin.load(model_source(args.model))
    task, data = _read(model, args, inputs)
    if data.y is None:
        why = f" ({data.missing})" if data.missing else ""
        where = "standard input" if args.data[0] == "-" else args.data[0]
        raise InputError(f"{where} has no outputs to compare with{why}")
    told = task.measures(model, data)
    if args.json:
        print(json.dumps(told))
    else:
        for line in _shown(told):
            print(line)
        for case in model.hardest(data.X, data.y, args.errors) if args.errors else ():
            _print_case(case)
    return DONE


def _print_case(case: Any) -> None:
    """One of the hardest examples: words with errors marked, or the outputs."""
    best = abs(case.best[0][1])
    right = case.short_by <= ROUNDING * max(best, 1.0)
    less = "right" if right else f"truth scores {case.short_by:.3g} less"
    if right and case.tied:
        less = "wrong: another output scores the same as the truth"
    print(f"\nexample {case.example}: {less}")
    if case.words:
        for line in sentence_lines(case.words, case.truth, case.best[0][0]):
            print(line)
    else:
        print(f"truth {case.truth}\nfound {case.best[0][0]}")


def _shown(told: dict[str, Any]) -> list[str]:
    """Measures as text: numbers first, then tables."""

    def text(value: Any) -> str:
        return str(value) if isinstance(value, int) else f"{value:.4f}"

    plain = {k: v for k, v in told.items() if not isinstance(v, dict)}
    wide = max([20, *map(len, plain)])
    lines = [f"{name:{wide}s} {text(value)}" for name, value in plain.items()]
    for name, table in told.items():
        if not isinstance(table, dict) or not table:
            continue
        rows = table if isinstance(next(iter(table.values())), dict) else {"": table}
        shown = {n: {h: text(v) for h, v in row.items()} for n, row in rows.items()}
        lines += ["", *table_lines(name, shown)]
    return lines


def report(args: argparse.Namespace, inputs: Inputs) -> int:
    """Write the HTML page of a model."""
    model = maxmargin.load(model_source(args.model))
    X = y = None
    names: list[str] = []
    if args.data:
        _, data = _read(model, args, inputs)
        X, y, names = data.X, data.y, data.names()
    with output_path(args.out, [args.model, *args.data]) as path:
        write_report(model, path, X, y, parameters=model.get_params(), names=names)
    if args.out != "-":
        print(f"report: {args.out}", file=sys.stderr)
    return DONE


def export(args: argparse.Namespace, inputs: Inputs) -> int:
    """Write a motif, or learned scores, for other programs."""
    model = maxmargin.load(model_source(args.model))
    if isinstance(model, maxmargin.MotifSVM) and args.to in (None, "meme"):
        text = model.to_meme()
    elif (
        isinstance(model, maxmargin.AlignmentSVM | maxmargin.HomologySVM)
        and args.to != "meme"
    ):
        whole = model.scoring().integers(args.largest)
        text = whole.ncbi_text() if args.to in (None, "matrix") else whole.json_text()
    else:
        to = "" if args.to is None else f" to {args.to}"
        raise UsageError(
            f"this {type(model).__name__} cannot be exported{to}: a MotifSVM goes to meme, "
            "an AlignmentSVM or HomologySVM to matrix or json"
        )
    with (
        output_path(args.out, [args.model]) as path,
        open(path, "w", encoding="utf-8") as file,
    ):
        file.write(text)
    return DONE


def describe(args: argparse.Namespace, inputs: Inputs) -> int:
    """Print what a model file says about itself; as JSON without making the model."""
    if args.runtime:
        return runtime.main(["--json"] if args.json else [])
    from maxmargin.io.model_file.model import describe as described

    source = model_source(args.model)
    told = described(source)
    if args.json:
        print(json.dumps(told, indent=1))
        return DONE
    if not isinstance(source, str):
        source.seek(0)
    try:
        model = maxmargin.load(source)
    except maxmargin.ModelFileError:  # a structure of the user's own is not known here
        model = None
    lines = [("model", str(told["kind"])), *_noted(told["notes"])]
    lines += _trained(model) if model is not None else []
    lines.append(("arrays", f"{told['arrays']}, {told['bytes'] / 1e6:.2g} MB"))
    for name, value in lines:
        print(folded(f"{name:12s} {value}", sys.stdout, " " * 13))
    return DONE


def _noted(notes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the notes of a file say, for people."""
    if notes.get("task"):
        yield "task", f"{notes['task']} ({notes.get('format')})"
    if notes.get("examples"):
        yield "trained on", f"{notes['examples']} examples"
    if notes.get("command"):
        yield "command", str(notes["command"])
    versions = [
        f"{k} {notes[k]}" for k in ("maxmargin", "python", "numpy") if k in notes
    ]
    if versions:
        yield "made by", ", ".join(versions)


def _trained(model: Any) -> Iterator[tuple[str, str]]:
    """C, certificate, labels and size of a model, for people."""
    if "C" in model.get_params():
        yield "C", f"{model.get_params()['C']:g}"
    result = vars(model).get("result_")
    if result is not None:
        yield "training", result.summary()
        yield "", result.meaning()
        size, unit = model._size()
        yield "size", f"{size} {unit}"
    if labels := label_list(model, 12):
        yield "labels", labels


COMMANDS = {
    "predict": predict,
    "evaluate": evaluate,
    "report": report,
    "describe": describe,
    "export": export,
}


def _read(model: Any, args: argparse.Namespace, inputs: Inputs) -> tuple[Task, Data]:
    if args.model == "-" and "-" in args.data:
        raise UsageError("model and data cannot both come from standard input")
    notes = model.provenance_
    name, form, options = task_name(model), notes.get("format"), notes.get("options")
    if name is None or form not in TASKS[name].formats or name != notes.get("task"):
        form, options = None, {}
    if args.format is not None and args.format != form:
        form, options = args.format, options if args.format == "text" else {}
    if name is None or form is None:
        raise UsageError(
            "the model was not trained by 'maxmargin train', so the file does not "
            "say how data are read: give --format"
        )
    if form not in TASKS[name].formats:
        known = ", ".join(TASKS[name].formats)
        raise UsageError(
            f"--format {form} is not a format of the task {name!r} of this model; it "
            f"reads {known}"
        )
    if not isinstance(options, dict):
        raise InputError("the model file does not say how data are read")
    if args.encoding is not None:
        options = {**options, "encoding": args.encoding}
    if args.track:
        options = {**options, "tracks": track_files(args.track, inputs)}
    task = TASKS[name]
    paths = [inputs.plain(path) for path in args.data]
    if name == "coreference" and args.format is None:
        form = document_format(paths[0])  # whatever the training file was
    data = task.formats[form](paths, dict(options))
    if data.said:
        print(f"maxmargin: {inputs.named(data.said)}", file=sys.stderr)
    if check_examples(data.X) == 0:
        raise InputError(f"{args.data[0]} has no examples")
    return task, data._replace(form=form)


def task_name(model: Any) -> str | None:
    """The task that a model was trained for, or the first that its class is for."""
    name, form = model.provenance_.get("task"), model.provenance_.get("format")
    if name in TASKS and form in TASKS[name].formats:
        return str(name)
    of_class = (t for t in TASKS if TASKS[t].estimator == type(model).__name__)
    return next(of_class, None)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
