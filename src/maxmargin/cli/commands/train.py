"""`maxmargin train`: from a data file to a model file."""

from __future__ import annotations

import argparse
import errno
import io
import json
import os
import shlex
import sys
import warnings
from pathlib import Path
from typing import Any

import maxmargin
from maxmargin.cli import errors
from maxmargin.cli.commands.choose_penalty import fit_best
from maxmargin.cli.errors import InputError, UsageError
from maxmargin.cli.field_flags import (
    check_fields,
    field_settings,
    fitted_models,
    track_files,
)
from maxmargin.cli.flags import explained, meant, parameters, stopper
from maxmargin.cli.streams import STANDARD, Inputs, check_model_place
from maxmargin.cli.tasks.data import Data
from maxmargin.cli.tasks.detect import detect, has_annotated_text
from maxmargin.cli.tasks.table import TASKS
from maxmargin.cli.terminal import folded, label_list
from maxmargin.estimators.saving.checkpoint import terminable
from maxmargin.reports import progress

MOST = 20  # labels that are shown
WORDS = ("sequences", "segments")  # tasks that label words
TEMPLATES = {"conll": "ner", "annotated": "ner", "conllu": "pos"}  # formats of words


def run(args: argparse.Namespace, inputs: Inputs) -> int:
    """Train and save; returns the exit code."""
    task, names, place = _arguments(args)
    _check_place(place)
    check_model_place(place, names)
    say = (lambda text: None) if args.quiet or args.json else progress.status
    say(f"reading {names[0]} ...")
    paths = [inputs.plain(name) for name in names]
    form = args.format
    if task is None or form is None:
        task, form = _found(task, form, paths[0], names[0])
    options: dict[str, Any] = _reading(args, inputs)
    data = TASKS[task].formats[form](paths, options)
    if data.y is None or len(data.y) == 0:
        without = data.y is None and len(data.X) > 0
        what = "examples without an output" if without else "no examples"
        if data.missing and len(data.X) > 0:
            raise InputError(f"{names[0]}: {data.missing}")
        raise InputError(f"{names[0]} has {what}: there is nothing to learn from")
    if data.said and not args.quiet:
        _told(inputs.named(data.said))
    n = len(data.y)
    say(f"encoding {n} examples ...")
    check_fields(args, task, place)
    model, *further = fitted_models(args, task, _fitted(args, task, form, data), data)
    progress.end_status()
    notes = {
        "task": task, "format": form, "options": options,
        "command": shlex.join(["maxmargin", *sys.argv[1:]]), "examples": n,
    }  # fmt: skip
    _write(model, place, notes)
    for k, other in enumerate(further, 2):
        path = Path(place)
        _write(other, str(path.with_name(f"{path.stem}-{k}{path.suffix}")), notes)
    _say(args, model, task, form, place, n)
    status = model.result_.status.name
    if status == "INTERRUPTED":
        return errors.INTERRUPTED
    done = model.result_.converged or (status == "STOPPED" and args.e is not None)
    return errors.DONE if done else errors.UNFINISHED


def _told(text: str) -> None:
    """Print a message on a line of its own, below what the status line shows."""
    progress.end_status()
    print(f"maxmargin: {text}", file=sys.stderr)


def _arguments(args: argparse.Namespace) -> tuple[str | None, list[str], str]:
    words = list(args.files)
    task = words.pop(0) if words[0] in TASKS else None
    if len(words) < 2:
        raise UsageError("train needs data and, last, the model file to write")
    hint = meant(words[0], TASKS)
    word = task is None and words[0].isalpha() and not os.path.exists(words[0])
    if word or (task is None and hint and not os.path.exists(words[0])):
        known = hint or f"; tasks are {', '.join(TASKS)}"
        raise UsageError(f"{words[0]!r} is neither a task nor a file{known}")
    return task, words[:-1], words[-1]


def _check_place(place: str) -> None:
    """Refuse a model file that cannot be written, before training and not after."""
    path = Path(place)
    if place == STANDARD:
        return
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), place)
    if not path.parent.is_dir():
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path.parent))


def _found(task: str | None, form: str | None, path: str, name: str) -> tuple[str, str]:
    """Task and format where one of them, or both, were not said."""
    learnable = [] if task is None else [f for f in TASKS[task].formats if f != "text"]
    if task is not None and len(learnable) == 1:
        return task, learnable[0]
    if task is None and form is not None:
        return next(t for t in TASKS if form in TASKS[t].formats), form
    if task == "segments":
        return task, "annotated" if has_annotated_text(path) else "conll"
    if task == "sequences" and name.endswith((".hmm", ".hmm.gz")):
        return task, "svm_hmm"
    try:
        found = detect(path, name, task)
    except InputError:
        if task == "sequences":
            return task, "svm_hmm"
        raise
    if task is not None and found[0] != task:
        raise UsageError(
            f"{name} looks like {found[0]} ({found[1]}), not like {task}: give --format"
        )
    return found


def _reading(args: argparse.Namespace, inputs: Inputs) -> dict[str, Any]:
    names = {"label_column": args.label_column, "encoding": args.encoding}
    out = {k: v for k, v in names.items() if v is not None}
    if args.track:
        out["tracks"] = track_files(args.track, inputs)
    return out | ({"normalize": True} if args.normalize else {})


def _features(args: argparse.Namespace, task: str, form: str) -> dict[str, Any]:
    """The template of words, where the task labels words and the format has them."""
    if task not in WORDS or form not in TEMPLATES:
        if args.template is not None:
            raise UsageError(
                f"--template makes features of words for {' and '.join(WORDS)}; this "
                f"is {task} from {form} files (if it has columns of words, add "
                "--format conll)"
            )
        return {}
    return {"features": args.template or TEMPLATES[form]}


def _fitted(args: argparse.Namespace, task: str, form: str, data: Data) -> Any:
    from maxmargin.estimators.fitting.training import ConvergenceWarning

    made = getattr(maxmargin, TASKS[task].estimator)
    n = len(data.y)
    settings = _features(args, task, form) | parameters(args, made, n)
    settings |= field_settings(args, settings)
    model = made(**settings)
    stop = stopper(args, model.C, n)
    model.set_params(
        verbose=0 if args.quiet or args.json else 1,
        callbacks=None if stop is None else [stop],
    )
    if not args.quiet:
        for line in explained(args, n):
            _told(line)
    with terminable(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)  # once each, folds or not
        # The summary says how training ended.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            if args.C == "auto":
                return fit_best(model, data, args.quiet or args.json)
            return model.fit(data.X, data.y)
        except ValueError as error:
            raise ValueError(_on_this_line(str(error), model)) from error
        except KeyboardInterrupt:
            if "result_" not in vars(model):  # before the first step
                raise
            return model  # the best weights so far are written


FLAGS = ("C", "loss", "rescaling", "penalty", "solver", "tol")


def _on_this_line(message: str, model: Any) -> str:
    """A message that advises parameters of Python, with the flags that set them.

    Examples
    --------
    >>> _on_this_line("cut with longer='split'", maxmargin.SegmentSVM())
    "cut with longer='split' (on the command line: --set longer=..)"
    """
    names = [n for n in model.get_params(deep=False) if f" {n}=" in f" {message}"]
    flags = [f"--{n} .." if n in FLAGS else f"--set {n}=.." for n in names]
    return f"{message} (on the command line: {', '.join(flags)})" if flags else message


def _write(model: Any, place: str, notes: dict[str, Any]) -> None:
    if place != STANDARD:
        maxmargin.save(model, place, notes=notes)
        return
    out = io.BytesIO()
    maxmargin.save(model, out, notes=notes)
    sys.stdout.buffer.write(out.getvalue())
    sys.stdout.buffer.flush()


def _say(
    args: argparse.Namespace, model: Any, task: str, form: str, place: str, n: int
) -> None:
    result = model.result_
    out = sys.stderr if place == STANDARD else sys.stdout
    if args.json:
        told = {
            "model": place, "task": task, "format": form, "examples": n, "C": model.C,
            "status": result.status.name.lower(), "primal": result.primal,
            "dual": result.dual, "gap": result.gap, "certificate": result.certificate,
            "meaning": result.meaning(),
            "iterations": result.iterations, "oracle_calls": result.oracle_calls,
            "seconds": result.seconds, "dim": len(result.w),
        }  # fmt: skip
        if "outside_shift_" in vars(model):
            told["outside_shift"] = model.outside_shift_
        print(json.dumps(told), file=out)
    elif not args.quiet:
        what = [f"{model.__class__.__name__} on {n} examples ({form})"]
        what += filter(None, [label_list(model, MOST, " labels")])
        for line in (", ".join(what), result.summary(), result.meaning()):
            print(folded(line, out), file=out)
        if vars(model).get("outside_shift_"):
            shift = f"{model.outside_shift_:+.2f}"
            print(f"scores of O are moved by {shift}, for the F1 of spans", file=out)
        if place != STANDARD:
            print(f"model: {place}", file=out)
