"""A constant that is added to the score of O, so that the F1 of rare spans is largest.

Training weighs all wrong tokens alike. The F1 of spans does not: with P the chance that a
span is right, F1 is largest if spans are predicted down to P = F1 / 2, and not down to
1/2 [1]. The lower the F1, the more spans should be predicted. So folds of the training
data are held out, and the constant is the one that gives the largest F1 on them

    shift = argmax_d  F1 of the best sequences under  score + d * (number of O).

The weights stay those of training; the constant is one number beside them.

[1] Lipton, Elkan, Naryanaswamy: Optimal thresholding of classifiers to maximize F1
    measure, 2014.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.data.tokens.label_schemes import span_edges
from maxmargin.core.engine import Engine
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.parameters import SampleWeight
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.solvers.base import Trainer, run
from maxmargin.solvers.certificate import Result, Status
from maxmargin.structures.chain.layout import unit_vectors, widened
from maxmargin.structures.chain.oracle import row_weights
from maxmargin.structures.chain.structure import Chain
from maxmargin.structures.chain.tokens.token_rows import Tokens
from maxmargin.structures.latent.partial import Partial

Marks = NDArray[np.bool_]
RARE = 0.95  # share of O above which spans are rare
FEWEST = 50  # spans, below which F1 on folds says too little
FOLDS, ROUGH = 3, 0.1  # of the fits that choose; their tolerance
SHIFTS = np.round(np.arange(-0.6, 0.01, 0.05), 2)  # none above 0: F1 / 2 is below 1/2


class Tagger(Protocol):
    """What is asked of a `ChainSVM`."""

    coef_: Floats
    result_: Result
    outside_shift: Any
    tol: float
    loss: Any
    class_weight: Any
    kernel: Any
    bias: bool

    @property
    def structure_(self) -> Any:
        """Its chain."""

    def _problem(
        self, structure: Structure, x: Any, truth: Ragged, sample_weight: SampleWeight
    ) -> Problem:
        """What is trained."""

    def _trainer(self, problem: Problem, data: TrainingData) -> Trainer:
        """How it is trained."""

    def _release(self, engine: Engine) -> None:
        """Close an engine, unless the user gave it."""


def given_shift(model: Tagger) -> float:
    """The shift that the parameter says, 0 for "auto"; refuses what is neither."""
    value = model.outside_shift
    if isinstance(value, str) and value == "auto":
        return 0.0
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not np.isfinite(value):
        raise ValueError(f"outside_shift={value!r} is neither 'auto' nor a number")
    if value and model.kernel is not None:
        raise ValueError("outside_shift is for models without a kernel")
    return float(value)


def check_shift(model: Tagger, structure: Structure) -> None:
    """Refuse a wrong shift before training."""
    if not given_shift(model):
        return
    chain = structure.inner if isinstance(structure, Partial) else structure
    assert isinstance(chain, Chain)
    _check_outside(chain, model.outside_shift)


def _check_outside(chain: Chain, shift: float) -> None:
    if chain.layout.bias < 0 or "O" not in chain.labels:
        raise ValueError(
            f"outside_shift={shift!r} needs a label 'O' and bias=True: it is added to "
            "the weight of that label"
        )


def chosen_shift(model: Tagger, data: TrainingData) -> float:
    """The shift of a model that was fitted to these data."""
    given = given_shift(model)
    if isinstance(model.outside_shift, str) and shift_matters(model, data):
        return best_shift(model, data)
    return given


def shift_matters(model: Tagger, data: TrainingData) -> bool:
    """Whether "auto" chooses a shift: all errors cost the same, and spans are rare."""
    if model.kernel is not None or not model.bias or model.class_weight is not None:
        return False
    if not isinstance(model.loss, str) or model.loss != "hamming":
        return False
    chain = data.structure
    if not isinstance(chain, Chain) or model.result_.status is Status.INTERRUPTED:
        return False
    return spans_are_rare(chain.labels, data.truth)


def spans_are_rare(labels: Sequence[Hashable], truth: Ragged) -> bool:
    """Whether labels mark spans, at least 50 of them, and more than 95 % are O.

    Examples
    --------
    >>> truth = Ragged(np.array([0, 10**4]), np.repeat([0, 1, 2], [60, 40, 9900]))
    >>> spans_are_rare(["B-X", "I-X", "O"], truth)
    True
    >>> spans_are_rare(["B-X", "I-X", "O"], truth._replace(data=truth.data[:-9000]))
    False
    """
    names = [label if isinstance(label, str) else "" for label in labels]
    marked = [name[:1] in "BIES" and name[1:2] == "-" for name in names]
    if "O" not in names or sum(marked) != len(names) - 1 or len(names) < 2:
        return False
    counts = np.bincount(truth.data, minlength=len(names))
    begun = sum(int(counts[k]) for k, name in enumerate(names) if name[:1] in "BS")
    return begun >= FEWEST and bool(counts[names.index("O")] > RARE * counts.sum())


def best_shift(model: Any, data: TrainingData) -> float:
    """The shift with the largest F1 on folds.

    Folds are runs of neighbours: those often come from one text and share their names,
    which new texts do not. The F1 of each shift is averaged with its two neighbours.
    """
    quiet = {"verbose": 0, "callbacks": None, "checkpoint": None, "warm_start": False}
    rough: Tagger = clone(model).set_params(tol=max(model.tol, ROUGH), **quiet)
    n, counts = data.truth.n, np.zeros((len(SHIFTS), 3))
    given = np.ones(n) if data.weight is None else np.asarray(data.weight, np.float64)
    for test in np.array_split(np.arange(n), FOLDS):
        weight = given.copy()
        weight[test] = 0.0
        if not weight.any():
            return 0.0
        problem = rough._problem(data.structure, data.x, data.truth, weight)
        try:
            w = run(rough._trainer(problem, data), problem).result.w
        finally:
            rough._release(problem.engine)
        counts += _counts(data, test, w)
    f1 = 2.0 * counts[:, 0] / np.maximum(counts[:, 1] + counts[:, 2], 1.0)
    near = np.convolve(np.pad(f1, 1, mode="edge"), np.ones(3) / 3.0, "valid")
    order = np.argsort(np.abs(SHIFTS), kind="stable")  # of equal ones the smallest
    return float(SHIFTS[order][np.argmax(near[order])])


def _counts(data: TrainingData, test: Ints, w: Floats) -> Floats:
    """Right, predicted and true spans of held-out sequences under each shift.

    The number of O falls with the shift. A sequence with as many at the lowest shift as
    at the highest has the same labels at all, so it is decoded twice only.
    """
    chain, x = data.structure, data.x
    assert isinstance(chain, Chain)
    truth = data.truth.take(test)
    chain, x, w = _by_token(chain, chain.slice(x, int(test[0]), int(test[-1]) + 1), w)
    names = [str(label) for label in chain.labels]
    edges, sizes = span_edges(names), np.diff(truth.ptr)
    place = np.arange(len(truth.data)) + np.repeat(np.arange(len(sizes)), sizes) + 1
    row = np.full(len(truth.data) + len(sizes) + 1, names.index("O"))

    def ends(labels: Labels) -> Ints:
        row[place] = labels
        return _spans(row, *edges)

    def best(shift: float, ids: Ints) -> Labels:
        return chain.argmax(x, ids, shifted(chain, w, shift)).labels.data

    true, every = ends(truth.data), np.arange(x.n)
    labels, highest = (best(float(SHIFTS[k]), every) for k in (0, -1))
    owner = np.repeat(every, sizes)
    moved = np.unique(owner[labels != highest])
    free = np.isin(owner, moved)
    out = np.zeros((len(SHIFTS), 3))
    for k, shift in enumerate(SHIFTS.tolist()):
        labels[free] = best(shift, moved)
        said = ends(labels)
        same = np.count_nonzero((said == true) & (said >= 0))
        out[k] = same, np.count_nonzero(said >= 0), np.count_nonzero(true >= 0)
    return out


def _by_token(chain: Chain, x: Tokens, w: Floats) -> tuple[Chain, Tokens, Floats]:
    """The same scores with one feature per token, so that the sums are made once."""
    if chain.n_edges or chain.phi is not None:
        return chain, x, w
    rows, n = row_weights(*x.vectors[:3], w, chain.layout), x.vectors.n
    layout = widened(chain.layout, n)
    plain = replace(
        chain, layout=layout, dim=layout.dim, templates=None, reader=None, columns=n
    )
    return plain, x._replace(vectors=unit_vectors(n)), rows


def _spans(row: Ints, opens: Marks, closes: Marks, kinds: Ints) -> Ints:
    """At the last token of each span a number for where it begins and its type, else -1."""
    begin = np.flatnonzero(opens[row[:-1], row[1:]]) + 1
    end = np.flatnonzero(closes[row[:-1], row[1:]])
    begin = begin[np.searchsorted(begin, end, "right") - 1] if len(end) else begin
    out = np.full(len(row), -1)
    out[end] = begin * (kinds.max() + 1) + kinds[row[begin]]
    return out


def shifted(chain: Chain, w: Floats, shift: float) -> Floats:
    """The weights with a constant more for the label O."""
    _check_outside(chain, shift)
    out = w.copy()
    out[chain.layout.bias + chain.labels.index("O")] += shift
    return out


def shifted_weights(model: Tagger) -> Floats:
    """The weights of a model with its shift, put together once."""
    asked = model.coef_, vars(model).get("outside_shift_", 0.0)
    if not asked[1]:
        return model.coef_
    known = vars(model).get("_shifted")
    if known is None or known[0] is not asked[0] or known[1] != asked[1]:
        known = (*asked, shifted(model.structure_, *asked))
        vars(model)["_shifted"] = known
    out: Floats = known[2]
    return out
