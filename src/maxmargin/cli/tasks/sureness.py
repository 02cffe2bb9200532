"""How sure predictions are, as lines of text: `maxmargin predict --probabilities`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from maxmargin.cli.errors import UsageError
from maxmargin.cli.tasks.data import Data
from maxmargin.cli.tasks.writers import graph_lines

KNOWN = ("multiclass", "multilabel", "graphs", "alignments")


def probability_lines(model: Any, data: Data, task: str | None) -> list[str]:
    """Predictions with their probabilities, in a layout of the task."""
    if task not in KNOWN:
        raise UsageError(f"--probabilities is for {', '.join(KNOWN)}; this is {task}")
    if not {"calibration_", "sigmoids_"} & set(vars(model)):
        raise UsageError(
            "the model is not calibrated, so it has no probabilities: train it with "
            "--calibrate 3"
        )
    if task == "graphs":
        return _graph_probabilities(model, data)
    if task == "alignments":
        return _column_confidence(model, data)
    found, table = model.predict(data.X), model.predict_proba(data.X)
    if task == "multilabel":
        found = [",".join(map(str, labels)) for labels in found]
    return ["\t".join(("label", *map(str, model.classes_))), *_rows(found, table)]


def node_lines(model: Any, data: Data, cost: float) -> list[str]:
    """Classes, or nodes of the taxonomy above them where the model is not sure."""
    if "calibration_" not in vars(model) or model.get_params().get("taxonomy") is None:
        raise UsageError(
            "--cost is for classes with a taxonomy: train with --taxonomy and --calibrate 3"
        )
    return [str(node) for node in model.predict_node(data.X, cost=cost)]


def _rows(found: Any, table: Any) -> list[str]:
    return [
        "\t".join((str(label), *(f"{p:.4g}" for p in row)))
        for label, row in zip(found, table, strict=True)
    ]


def _graph_probabilities(model: Any, data: Data) -> list[str]:
    """The JSON lines with labels found, and for each node its probabilities by label."""
    names = [str(label) for label in model.classes_]
    lines = []
    for line, table in zip(
        graph_lines(model, data, data.form), model.predict_proba(data.X), strict=True
    ):
        each = [_by_name(names, row) for row in table.tolist()]
        lines.append(json.dumps({**json.loads(line), "probabilities": each}))
    return lines


def _by_name(names: Sequence[str], row: Sequence[float]) -> dict[str, float]:
    return {
        name: float(f"{p:.4g}") for name, p in zip(names, row, strict=True) if p == p
    }


def _column_confidence(model: Any, data: Data) -> list[str]:
    """Tab-separated: both names, both positions from 0 (-1: gap), and the confidence."""
    lines = ["first\tsecond\ti\tj\tconfidence"]
    columns = model.predict(data.X)
    for names, pairs, sure in zip(
        data.records, columns, model.predict_confidence(data.X), strict=True
    ):
        lines += [
            f"{names[0]}\t{names[1]}\t{i}\t{j}\t{p:.4g}"
            for (i, j), p in zip(pairs.tolist(), sure.tolist(), strict=True)
        ]
    return lines
