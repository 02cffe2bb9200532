"""One HTML page about a trained model: nothing to fetch, light and dark.

The page is made of sections; those that have nothing to say are left out.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.calibration.measures import Reliability
from maxmargin.reports.confusion import (
    class_scores,
    confusion,
    flat_labels,
    label_scores,
    natural_key,
)
from maxmargin.reports.drawing.svg import facts, heat, line_chart, listed, short, table
from maxmargin.reports.explanation import Hard, shortened
from maxmargin.reports.sentences import marked_sentence, marks_spans, span_tables
from maxmargin.reports.style import CSS, OUTPUT_CSS
from maxmargin.solvers.base import Result

CLASSES = 40  # that the table of scores shows
SOME = 3  # examples that are drawn where none is wrong
PACKAGES = ("maxmargin", "numpy", "scipy", "numba", "scikit-learn")


@dataclass(frozen=True)
class Scored:
    """How a model does on data."""

    truth: Sequence[Any]
    predicted: Sequence[Any]
    score: float
    score_name: str
    labels: bool  # whether outputs are labels, or sequences or sets of them
    hardest: Sequence[Hard]
    sure: Reliability | None = None  # how often calibrated predictions are right
    figures: Sequence[tuple[str, float]] = ()  # of the task, besides `score`
    sets: bool = False  # whether outputs are sets of labels


@dataclass(frozen=True)
class Subject:
    """All that a page says about a model."""

    title: str
    result: Result
    completions: np.ndarray | None  # one row per completion of hidden parts
    structure: str  # name of its class
    dim: int
    size: int  # of the model, in `unit`
    unit: str
    learned: str  # HTML, see `maxmargin.reports.weight_tables`
    parameters: Mapping[str, Any]
    trainer: str
    command: str | None = None
    scored: Scored | None = None
    training_data: Mapping[str, Any] = field(default_factory=dict)


def write(subject: Subject, path: str | os.PathLike[str]) -> None:
    """Write the page to a file."""
    Path(path).write_text(page(subject), encoding="utf8")


def page(subject: Subject) -> str:
    """The page as text."""
    sections = [(heading, section(subject)) for heading, section in SECTIONS]
    parts = [(heading, body) for heading, body in sections if body]
    links = "".join(f'<a href="#{_anchor(h)}">{h}</a>' for h, _ in parts)
    bodies = "".join(
        f'<section id="{_anchor(h)}"><h2>{h}</h2>{body}</section>' for h, body in parts
    )
    name = escape(subject.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{name}</title><style>{CSS}{OUTPUT_CSS}</style></head><body><main>"
        f"<h1>{name}</h1>{_tiles(subject)}<nav>{links}</nav>{bodies}"
        "</main></body></html>\n"
    )


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _tiles(subject: Subject) -> str:
    """The most important figures, large."""
    result, scored = subject.result, subject.scored
    status = result.status.name.lower().replace("_", " ")
    tiles = []
    if scored is not None:
        tiles += [(f"{value:.4f}", name, "") for name, value in scored.figures]
        if scored.score_name not in dict(scored.figures):
            tiles.append((f"{scored.score:.4f}", scored.score_name, ""))
        tiles.append((str(len(scored.truth)), "examples here", ""))
    tiles.append((status, "training", "good" if result.converged else "bad"))
    tiles.append((_percent(result.gap), "duality gap", ""))
    tiles.append((short(float(subject.size)), subject.unit, ""))
    drawn = "".join(
        f'<div class="tile {kind}"><b>{escape(value)}</b><span>{escape(_caption(name))}'
        "</span></div>"
        for value, name, kind in tiles
    )
    return f'<div class="tiles">{drawn}</div>'


def _caption(name: str) -> str:
    """The name of a figure; a plain first word in lower case, as the others have it."""
    first = name.split()[0]
    plain = first.isalpha() and first[1:].islower()
    return first.lower() + name[len(first) :] if plain else name


def _percent(share: float) -> str:
    """A gap for readers: two digits, and no power of ten."""
    return "< 0.0001 %" if 0 < share < 1e-6 else f"{100 * share:.2g} %"


def _certificate(subject: Subject) -> str:
    result = subject.result
    history = result.history
    calls = history["oracle_calls"]
    primal, dual = _primal(history), history["dual"]
    keep = np.isfinite(primal) & (primal <= 20 * max(result.primal, 1e-12))
    curves = [
        ("primal", calls[keep], primal[keep]),
        ("dual", calls, dual),
    ]
    charts = [
        ("Objective", line_chart(curves, "oracle calls", "objective")),
        ("Gap", line_chart(
            [("gap", calls, history["gap"])], "oracle calls",
            "relative gap", log=True,
        )),
    ]  # fmt: skip
    if subject.completions is not None and len(subject.completions):
        charts.append(("Hidden parts", _completions_chart(subject.completions)))
    drawn = "".join(f"<div><h3>{n}</h3>{chart}</div>" for n, chart in charts if chart)
    reading = (
        '<p class="faint">The primal is what the weights found so far cost; training wants '
        "it low. The dual is a bound from below. Training ends when the two lines meet: "
        "then the gap between them is below the tolerance. Where the primal was not "
        "computed on the way, it is estimated from the gap.</p>"
    )
    return (
        f"<p>{escape(result.status.value[0].upper() + result.status.value[1:])}. "
        f"{escape(result.meaning())}</p>"
        + facts(
            [
                ("primal", f"{result.primal:.6g}"),
                ("dual", f"{result.dual:.6g}"),
                ("gap", f"{result.gap:.3g}, {result.certificate}"),
                ("iterations", str(result.iterations)),
                ("oracle calls", str(result.oracle_calls)),
                ("constraints held", str(result.planes)),
                ("seconds of training", f"{result.seconds:.3g}"),
            ]
        )
        + f'{reading}<div class="pair">{drawn}</div>'
    )  # fmt: skip


def _primal(history: np.ndarray) -> np.ndarray:
    """Primal values; where none was computed, the one that dual and gap stand for."""
    primal, dual = history["primal"].astype(float), history["dual"]
    share = np.clip(1.0 - history["gap"], 1e-12, None)
    return np.where(np.isfinite(primal), primal, dual / share)


def _completions_chart(outer: np.ndarray) -> str:
    best = int(outer["restart"][int(np.argmin(outer["objective"]))])
    rounds = outer[outer["restart"] == best]
    return line_chart(
        [("latent", rounds["round"].astype(float), rounds["objective"])],
        "completions of the hidden parts", "latent objective",
    )  # fmt: skip


def _data(subject: Subject) -> str:
    scored = subject.scored
    if scored is None:
        return ""
    sizes = [len(flat_labels([output])) for output in scored.truth]
    rows = [("examples", str(len(sizes)))]
    if scored.labels:
        labels = flat_labels(scored.truth)
        if max(sizes, default=1) > 1:
            rows.append(("labels in all", str(len(labels))))
            least, most = min(sizes), max(sizes)
            spread = f"{least} to {most}, median {int(np.median(sizes))}"
            spread = spread if least < most else str(most)
            rows.append(("labels per example", spread))
        rows.append(("classes", str(len(set(labels)))))
    rows.append(("structure", subject.structure))
    dim, size = subject.dim, subject.size
    constant = dim - size if subject.unit == "weights" and dim > size else 0
    more = f", {constant} of them for constant features" if constant else ""
    if subject.unit == "weights":
        rows.append(("features of outputs", f"{dim}{more}"))
    return facts(rows)


def _scores(subject: Subject) -> str:
    scored = subject.scored
    if scored is None or not scored.labels:
        return ""
    if scored.sets:
        scores = label_scores(scored.truth, scored.predicted)
    else:
        scores = class_scores(flat_labels(scored.truth), flat_labels(scored.predicted))
    shown = sorted(scores[:CLASSES], key=lambda s: natural_key(s.label))
    rows = [
        [str(s.label), *(f"{v:.3f}" for v in (s.precision, s.recall, s.f1)), s.support]
        for s in shown
    ]
    left = len(scores) - len(shown)
    note = f'<p class="faint">{left} rarer classes are not shown.</p>' if left else ""
    heads = ["class", "precision", "recall", "F1", "examples"]
    return table(heads, rows, "tnnnn") + note


def _spans(subject: Subject) -> str:
    scored = subject.scored
    if scored is None or not scored.labels or scored.sets:
        return ""
    if not marks_spans(scored.truth):
        return ""
    return span_tables(scored.truth, list(scored.predicted))


def _reliability(subject: Subject) -> str:
    if subject.scored is None or subject.scored.sure is None:
        return ""
    found = subject.scored.sure
    curves = [
        ("model", found.confidence, found.accuracy),
        ("ideal", np.array([0.0, 1.0]), np.array([0.0, 1.0])),
    ]
    return (
        f"<p>Expected calibration error: {100 * found.error:.2f} %. On the line 'ideal', "
        "predictions with a probability of 80 % are right 80 times out of 100.</p>"
        + line_chart(curves, "stated probability", "share that is right")
    )


def _confusion(subject: Subject) -> str:
    scored = subject.scored
    if scored is None or not scored.labels or scored.sets:
        return ""
    truth, predicted = flat_labels(scored.truth), flat_labels(scored.predicted)
    classes, counts, left = confusion(truth, predicted)
    note = (
        f'<p class="faint">The {len(classes)} classes with most errors; {left} others '
        "are not shown.</p>"
        if left
        else ""
    )
    drawn = heat(counts, classes, classes, corner="true \\ found", whole=True)
    return note + drawn


def _hardest(subject: Subject) -> str:
    if subject.scored is None or not subject.scored.hardest:
        return ""
    out: list[str] = []
    right = all(case.right for case in subject.scored.hardest)
    for case in subject.scored.hardest[: SOME if right else None]:
        name = f" ({escape(case.name)})" if case.name else ""
        out.append(
            f"<details{' open' if not out else ''}><summary>example {case.example}{name}: "
            f'{_verdict(case)}</summary><div class="drawn">{case.picture}</div>'
            f"{_as_text(case)}</details>"
        )
    if right:
        many = len(subject.scored.truth) > 500
        head = f"{'The first 500' if many else 'All'} examples are right. Some of them:"
    else:
        head = (
            "The mistakes of which the model is most sure: examples whose correct output "
            "scores furthest below the answer (of the first 500)."
        )
    return f"<p>{head}</p>" + "".join(out)


def _verdict(case: Hard) -> str:
    """Whether an example is right, and if not, by how much."""
    if not case.possible:
        why = "wrong; the truth has parts that training has not shown"
    elif case.tied:
        why = "the answer is another output, which scores the same as the truth"
    elif not case.right:
        why = f"the truth scores {short(case.short_by)} less than the answer"
    else:
        return '<span class="ok">right</span>'
    return f'<span class="wrong">{why}</span>'


def _as_text(case: Hard) -> str:
    """The truth and the best outputs as text; folded away below a picture."""
    if case.words and not case.picture:
        return marked_sentence(case.words, case.truth, case.best[0][0])
    lines = [f"truth   {shortened(case.truth, 400)}"]
    lines += [f"{score:7.3f}  {shortened(o, 400)}" for o, score in case.best]
    text = f"<pre>{escape(chr(10).join(lines))}</pre>"
    if not case.picture:
        return text
    head = "<summary>the best answers as text, with their scores</summary>"
    return f'<details class="raw">{head}{text}</details>'


def _trained_by(subject: Subject) -> str:
    rows = [(k, str(v)) for k, v in subject.training_data.items()]
    rows += [
        (name, str(subject.parameters[name]))
        for name in ("C", "loss", "rescaling", "penalty")
        if name in subject.parameters
    ]
    rows += [
        ("maxmargin", _version("maxmargin")),
        ("python", platform.python_version()),
    ]
    rows += [(name, _version(name)) for name in PACKAGES[1:]]
    if subject.command:
        rows.insert(0, ("command", str(subject.command)))
    rows.append(("trainer", subject.trainer))
    rows.append(("page written", time.strftime("%Y-%m-%d %H:%M")))
    parameters = [(k, shortened(repr(v), 120)) for k, v in subject.parameters.items()]
    return (
        f"{listed(rows)}<details><summary>all parameters, seed included "
        f"(<code>random_state</code>)</summary>{listed(parameters)}</details>"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed" if name != "maxmargin" else "from a checkout"


def _learned(subject: Subject) -> str:
    return subject.learned


Section = Callable[[Subject], str]
SECTIONS: list[tuple[str, Section]] = [
    ("Spans by type", _spans),
    ("Hardest examples", _hardest),
    ("Scores by class", _scores),
    ("Confusion", _confusion),
    ("Reliability", _reliability),
    ("What it learned", _learned),
    ("Certificate", _certificate),
    ("Data", _data),
    ("Model card", _trained_by),
]
