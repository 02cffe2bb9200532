"""The objective of a model in exact arithmetic, over all outputs.

Floats are integers times powers of two. So weights, features and losses are brought to
common denominators, and everything is sums of products of Python integers; one fraction
is made at the end.
"""

from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np


class Listed(NamedTuple):
    """What all fits of a problem share, over common denominators."""

    psi: list  # of each example: {output: [(name of a feature, integer)]}
    common: int  # denominator of these
    loss: list  # of each example: {output: integer}
    root: list  # the same for the squared penalty: square roots, as floats are
    lost: int  # denominator of the losses
    rooted: int  # and of their roots


def exact_primal(problem, model, C, rescaling, penalty, regularizer="l2"):
    """P(w) as a fraction."""
    if not hasattr(problem, "listed"):  # once for each problem
        problem.listed = _listed(problem)
    if hasattr(problem, "scores"):
        square, table, scale = problem.scores(model)
        begin = square / 2
    else:
        w = {k: float(v) for k, v in problem.weights(model).items()}
        whole, shift = integers(w.values())
        whole = dict(zip(w, whole, strict=True))
        if regularizer == "l1":
            begin = Fraction(sum(map(abs, whole.values())), 1 << shift)
        else:
            begin = Fraction(sum(v * v for v in whole.values()), 1 << (2 * shift + 1))
        table, scale = _scores(problem.listed, whole), problem.listed.common << shift
    known = problem.listed
    losses, one = (
        (known.root, known.rooted) if penalty == "squared" else (known.loss, known.lost)
    )
    total = sum(
        _cost(problem, i, row, scale, losses[i], one, rescaling, penalty)
        for i, row in enumerate(table)
    )
    size = scale * one
    cost = Fraction(total, 2 * size * size if penalty == "squared" else size)
    return begin + Fraction(float(C)) * cost


def integers(values):
    """Floats as integers over 2^shift: (integers, shift)."""
    ratios = [float(v).as_integer_ratio() for v in values]
    shift = max((q.bit_length() - 1 for _, q in ratios), default=0)
    return [p << (shift + 1 - q.bit_length()) for p, q in ratios], shift


def _listed(problem):
    number, psi = range(len(problem.y)), []
    outputs = [list(problem.outputs(i)) for i in number]
    if not hasattr(problem, "scores"):
        psi = [
            {_key(y): {k: Fraction(v) for k, v in problem.psi(i, y).items()}
             for y in outputs[i]} for i in number
        ]  # fmt: skip
    every = {
        v.denominator for row in psi for each in row.values() for v in each.values()
    }
    common = lcm(*every)  # thirds, too: no power of two
    psi = [
        {y: [(k, int(v * common)) for k, v in each.items()] for y, each in row.items()}
        for row in psi
    ]
    loss = [{_key(y): Fraction(problem.loss(i, y)) for y in outputs[i]} for i in number]
    root = [
        {y: Fraction(float(np.sqrt(float(v)))) for y, v in row.items()} for row in loss
    ]
    return Listed(psi, common, *_over_common(loss, root))


def _over_common(*tables):
    """Tables of fractions as integers, then their denominators."""
    sizes = [lcm(*{v.denominator for row in t for v in row.values()}) for t in tables]
    whole = [
        [{y: int(v * size) for y, v in row.items()} for row in table]
        for table, size in zip(tables, sizes, strict=True)
    ]
    return *whole, *sizes


def _scores(known, whole):
    """<w, psi(x_i, y)> of all outputs of all examples."""
    weight = whole.get
    return [
        {y: sum(weight(k, 0) * v for k, v in psi) for y, psi in row.items()}
        for row in known.psi
    ]


def _key(y):
    return tuple(y) if isinstance(y, list | tuple) else y


def _cost(problem, i, row, scale, losses, one, rescaling, penalty):
    """What the slacks of an example cost, for C = 1, times `scale` and `one`.

    Of squared penalties twice that, times both once more.
    """
    if hasattr(problem, "truths"):
        right = max(row[_key(y)] for y in problem.truths(i))
    else:
        right = row[
            _key(problem.y[i]) if not np.isscalar(problem.y[i]) else int(problem.y[i])
        ]
    if rescaling == "slack":
        slacks = [losses[y] * (scale - right + value) for y, value in row.items()]
    else:
        slacks = [losses[y] * scale - one * (right - value) for y, value in row.items()]
    if penalty == "summed":
        return sum(max(h, 0) for h in slacks)
    worst = max(0, *slacks)
    return worst * worst if penalty == "squared" else worst
