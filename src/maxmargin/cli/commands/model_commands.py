"""`predict`, `evaluate`, `report` and `describe`: what is done with a model file."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np

import maxmargin
from maxmargin.cli.errors import DONE, InputError, UsageError
from maxmargin.cli.streams import Inputs, model_source, output_path
from maxmargin.cli.tasks.data import Data
from maxmargin.cli.tasks.table import TASKS, Task
from maxmargin.estimators.fitting.inputs import check_examples


def predict(args: argparse.Namespace, inputs: Inputs) -> int:
    """Write the predictions for a data file."""
    model = maxmargin.load(model_source(args.model))
    task, data = _read(model, args, inputs)
    if args.json:
        lines = [json.dumps(_plain(y)) for y in model.predict(data.X)]
    else:
        lines = task.lines(model, data, data.form)
    with output_path(args.out) as path, open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    return DONE


def evaluate(args: argparse.Namespace, inputs: Inputs) -> int:
    """Print how well a model predicts the outputs of a data file."""
    model = maxmargin.load(model_source(args.model))
    task, data = _read(model, args, inputs)
    if data.y is None:
        raise InputError(f"{args.data[0]} has no outputs to compare with")
    told = task.measures(model, data)
    if args.json:
        print(json.dumps(told))
    else:
        for name, value in told.items():
            shown = value if isinstance(value, int) else f"{value:.4f}"
            print(f"{name:20s} {shown}")
    return DONE


def report(args: argparse.Namespace, inputs: Inputs) -> int:
    """Write the HTML page of a model."""
    model = maxmargin.load(model_source(args.model))
    X = y = None
    if args.data:
        _, data = _read(model, args, inputs)
        X, y = data.X, data.y
    with output_path(args.out) as path:
        model.report(path, X, y, command=model.provenance_.get("command"))
    if args.out != "-":
        print(f"report: {args.out}", file=sys.stderr)
    return DONE


def describe(args: argparse.Namespace, inputs: Inputs) -> int:
    """Print what a model file says about itself, without making the model."""
    from maxmargin.io.model_file.model import describe as described

    print(json.dumps(described(model_source(args.model)), indent=1))
    return DONE


COMMANDS = {
    "predict": predict,
    "evaluate": evaluate,
    "report": report,
    "describe": describe,
}


def _read(model: Any, args: argparse.Namespace, inputs: Inputs) -> tuple[Task, Data]:
    if args.model == "-" and "-" in args.data:
        raise UsageError("model and data cannot both come from standard input")
    notes = model.provenance_
    name, form, options = notes.get("task"), notes.get("format"), notes.get("options")
    if name not in TASKS or form not in TASKS[name].formats:
        name = next(
            (t for t in TASKS if TASKS[t].estimator == type(model).__name__), None
        )
        form, options = None, {}
    if args.format is not None and args.format != form:
        form, options = args.format, {}
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
    task = TASKS[name]
    paths = [inputs.plain(path) for path in args.data]
    data = task.formats[form](paths, dict(options))
    if check_examples(data.X) == 0:
        raise InputError(f"{args.data[0]} has no examples")
    return task, data._replace(form=form)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
