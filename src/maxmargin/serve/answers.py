"""What is asked of a model, and its answers as JSON and as pictures."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any

import numpy as np

from maxmargin.reports.drawing.marked_text import tagging_html
from maxmargin.reports.explanation import Explanation
from maxmargin.serve.inputs import BadInputError, Reader

MOST_PARTS, MOST_TERMS = 200, 12  # of an explanation


def plain_value(value: Any) -> Any:
    """A value as JSON knows it: arrays as lists, trees as nested lists, no NaN.

    Examples
    --------
    >>> plain_value((np.int64(3), ["a", np.float64("nan")]))
    [3, ['a', None]]
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_value(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


class Answers:
    """The questions that can be put to one model; `items` are inputs that were read."""

    def __init__(self, model: Any, reader: Reader) -> None:
        self.model, self.reader = model, reader
        self.predict = (
            self._predict
        )  # bound once: questions are compared by the batcher
        try:
            model._check_has_weights("explain")
        except ValueError:
            self.has_weights = False
        else:
            self.has_weights = True
        self._nbest = {k: partial(self._best_few, k) for k in range(1, 51)}
        self.explain = partial(self._explained, False)
        self.draw = partial(self._explained, True)

    def nbest(self, k: int) -> Any:
        """The question for the k best outputs."""
        return self._nbest[k]

    def _predict(self, items: list[Any]) -> list[Any]:
        found = self.model.predict(self.reader.stack(items))
        return [self._shown(x, y) for x, y in zip(items, found, strict=True)]

    def _shown(self, x: Any, y: Any) -> Any:
        """An output as an answer contains it."""
        shown = self.reader.shown
        return plain_value(y) if shown is None or y is None else shown(x, y)

    def _best_few(self, k: int, items: list[Any]) -> list[Any]:
        return [
            [
                {"output": self._shown(item, y), "score": plain_value(s)}
                for y, s in self.model.best_few(item, k)
            ]
            for item in items
        ]

    def _explained(self, drawn: bool, items: list[Any]) -> list[Any]:
        out = []
        for item in items:
            why = self._why(item)
            told = explanation_json(why)
            told["output"] = self._shown(item, why.output)
            told["runner_up"] = self._shown(item, why.rival)
            if drawn:
                told["html"] = self._drawing(item, why)
                told["nbest"] = [
                    {"output": self._shown(item, y), "score": plain_value(s)}
                    for y, s in self._few(item, 5)
                ]
                if self.reader.kind == "alignments":  # numbers of letters say little
                    for one in told["nbest"]:
                        columns = np.array(one["output"]).reshape(-1, 2)
                        one["html"] = str(self.model._draw(item, columns))
                if self.reader.kind == "coreference":
                    for part in told["parts"]:
                        part["name"] = link_name(item, part["name"])
                if self.reader.kind in ("sequences", "segments"):
                    told["words"] = self.reader.words(item)
            out.append(told)
        return out

    def _why(self, item: Any) -> Explanation:
        """The explanation; without weights, which kernels lack, one without parts."""
        if self.has_weights:
            why: Explanation = self.model.explain(item)
            return why
        (output, score), *others = self._few(item, 2)
        rival, second = others[0] if others else (None, None)
        margin = None if second is None else score - second
        return Explanation(output, score, (), rival, margin)

    def _few(self, item: Any, k: int) -> list[tuple[Any, float]]:
        """The best outputs; the best one alone where a kernel scores no others."""
        try:
            return list(self.model.best_few(item, k))
        except ValueError:
            if self.has_weights:
                raise
        return [(self.model.predict(self.reader.stack([item]))[0], math.nan)]

    def _drawing(self, item: Any, why: Explanation) -> str:
        tagging = self.reader.kind == "sequences" and len(why.parts) > 0
        if tagging and all(p.margin is not None for p in why):
            margins = [float(part.margin or 0.0) for part in why]
            return tagging_html(
                self.reader.words(item), why.output, None, margins, self.model.classes_
            )
        return str(self.model._draw(item, why.output))


def link_name(document: Any, name: str) -> str:
    """A link between mentions, by their words instead of their numbers.

    Examples
    --------
    >>> from maxmargin.structures.clusters import Document, Mention
    >>> text = [["Ann", "slept"], ["She", "woke"]]
    >>> link_name(Document(text, [Mention(0, 0, 0), Mention(1, 0, 0)]), "link 0-1")
    'Ann = She'
    """
    ends = re.fullmatch(r"link (\d+)-(\d+)", name)
    if ends is None:
        return name
    found = [document.mentions[int(m)] for m in ends.groups()]
    words = [document.sentences[m.sentence][m.first : m.last + 1] for m in found]
    return " = ".join(" ".join(part) for part in words)


def explanation_json(why: Explanation) -> dict[str, Any]:
    """An explanation as JSON, cut to a size that a page can show."""
    parts = [
        {
            "name": part.name, "score": plain_value(part.score),
            "label": plain_value(part.label), "rival": plain_value(part.rival),
            "margin": plain_value(part.margin),
            "terms": [
                {"feature": t.feature, "value": t.value, "weight": t.weight, "adds": t.adds}
                for t in part.terms[:MOST_TERMS]
            ],
        }
        for part in why.parts[:MOST_PARTS]
    ]  # fmt: skip
    return {
        "output": plain_value(why.output), "score": plain_value(why.score),
        "runner_up": plain_value(why.rival), "margin": plain_value(why.margin),
        "parts": parts, "parts_left_out": max(len(why.parts) - MOST_PARTS, 0),
    }  # fmt: skip


def read_items(reader: Reader, items: Any, most: int, largest: int) -> list[Any]:
    """The inputs of a request, checked; BadInputError names the one that is wrong."""
    if not isinstance(items, list) or not items:
        raise BadInputError('"inputs" is a list with at least one input')
    if len(items) > most:
        raise BadInputError(f"{len(items)} inputs in one request: at most {most}")
    out = []
    for i, item in enumerate(items):
        try:
            x = reader.read(item)
        except BadInputError as wrong:
            raise BadInputError(f"input {i}: {wrong}") from None
        size = reader.size(x)
        if size > largest:
            raise BadInputError(
                f"input {i} has {size} {reader.unit}: at most {largest} "
                "(maxmargin serve --max-size)"
            )
        out.append(x)
    return out
