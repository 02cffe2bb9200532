"""Flags of single fields: taxonomies, tracks of proteins, E-values, motifs, folds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from maxmargin.cli.errors import InputError, UsageError
from maxmargin.cli.streams import STANDARD, Inputs
from maxmargin.cli.tasks.data import Data

USED_BY = {
    "taxonomy": ("multiclass", "multilabel"),
    "track": ("alignments",),
    "evalues": ("alignments",),
    "motifs": ("motifs",),
    "start": ("motifs",),
}


def check_fields(args: argparse.Namespace, task: str, place: str) -> None:
    """Refuse flags that belong to other tasks."""
    given = vars(args)
    for flag, tasks in USED_BY.items():
        if given[flag] and task not in tasks:
            raise UsageError(f"--{flag} is for {' and '.join(tasks)}; this is {task}")
    if args.motifs is not None and args.motifs < 1:
        raise UsageError(f"--motifs {args.motifs}: at least one motif is to be found")
    if args.motifs and place == STANDARD:
        raise UsageError("--motifs writes several models: give a file, not '-'")


def track_files(given: Sequence[str], inputs: Inputs) -> dict[str, str]:
    """Files of tracks by name."""
    out = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise UsageError(
                f"--track {text}: write NAME=FILE, as in --track ss=ss.fasta"
            )
        if name in out or name == "residue":
            raise UsageError(f"--track {text}: there is a track {name!r} already")
        out[name] = path if path.endswith(".npz") else inputs.plain(path)
    return out


def field_settings(
    args: argparse.Namespace, settings: dict[str, Any]
) -> dict[str, Any]:
    """Parameters of the estimator that come from files."""
    out: dict[str, Any] = {}
    if args.taxonomy is not None:
        out["taxonomy"] = read_taxonomy(args.taxonomy)
    if args.start is not None:
        from maxmargin.io.biology.meme import read_meme, start_weights

        motifs = read_meme(args.start)
        if not motifs:
            raise InputError(f"{args.start} has no motif")
        first = motifs[0]
        out["length"] = len(first.probabilities)
        out["alphabet"] = "dna" if first.probabilities.shape[1] == 4 else "protein"
        order = settings.get("order", 3 if out["alphabet"] == "dna" else 1)
        out |= {"order": order, "init": start_weights(first, order)}
    return out


def read_taxonomy(path: str) -> list[tuple[str, str | None]]:
    """Lines of a label and its parent; a label alone has none."""
    from maxmargin.io.text import FormatError, numbered_lines

    out: list[tuple[str, str | None]] = []
    for number, line in numbered_lines(path):
        text = line.partition("#")[0].strip()
        words = text.split("\t") if "\t" in text else text.split()
        if len(words) > 2:
            raise FormatError(path, number, "a label and its parent are expected")
        if words:
            out.append((words[0], words[1] if len(words) == 2 else None))
    if not out:
        raise InputError(f"{path} has no labels")
    return out


def fitted_models(
    args: argparse.Namespace, task: str, model: Any, data: Data
) -> list[Any]:
    """The model, with probabilities and E-values if asked for; models of further motifs."""
    if args.calibrate:
        model.calibrate(data.X, data.y, cv=args.calibrate)
    if args.evalues:
        model.fit_evalues(data.X)
    if not args.motifs or args.motifs == 1:
        return [model]
    return [model, *model.further_motifs(data.X, data.y, args.motifs - 1)]
