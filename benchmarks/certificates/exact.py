"""The objective of a model in exact arithmetic, over all outputs.

Floats are integers times powers of two. So weights and features are brought to common
denominators and scores are sums of products of Python integers.
"""

from fractions import Fraction
from math import lcm

import numpy as np


def exact_primal(problem, model, C, rescaling, penalty, regularizer="l2"):
    """P(w) as a fraction."""
    if hasattr(problem, "scores"):
        square, table = problem.scores(model)
        begin = square / 2
    else:
        w = {k: Fraction(float(v)) for k, v in problem.weights(model).items()}
        terms = (
            map(abs, w.values())
            if regularizer == "l1"
            else (v * v / 2 for v in w.values())
        )
        begin, table = sum(terms, Fraction(0)), _scores(problem, w)
    total = sum(
        (_cost(problem, i, row, rescaling, penalty) for i, row in enumerate(table)),
        Fraction(0),
    )
    return begin + Fraction(float(C)) * total


def _scores(problem, w):
    """<w, psi(x_i, y)> of all outputs of all examples."""
    if not hasattr(problem, "known"):  # features of all outputs, once for each problem
        problem.known = [
            {_key(y): {k: Fraction(v) for k, v in problem.psi(i, y).items()}
             for y in problem.outputs(i)} for i in range(len(problem.y))
        ]  # fmt: skip
    shift = max((v.denominator.bit_length() for v in w.values()), default=1)
    whole = {k: int(v * (1 << shift)) for k, v in w.items()}
    every = (v for row in problem.known for psi in row.values() for v in psi.values())
    common = lcm(*{v.denominator for v in every})  # thirds, too: no power of two
    scale = common << shift
    return [
        {y: Fraction(sum(whole.get(k, 0) * int(v * common) for k, v in psi.items()), scale)
         for y, psi in row.items()} for row in problem.known
    ]  # fmt: skip


def _key(y):
    return tuple(y) if isinstance(y, list | tuple) else y


def _cost(problem, i, row, rescaling, penalty):
    """What the slacks of an example cost, for C = 1."""
    if hasattr(problem, "truths"):
        right = max(row[_key(y)] for y in problem.truths(i))
    else:
        right = row[
            _key(problem.y[i]) if not np.isscalar(problem.y[i]) else int(problem.y[i])
        ]
    worst = total = Fraction(0)
    for y, value in row.items():
        loss, margin = problem.loss(i, y), right - value
        root = Fraction(float(np.sqrt(float(loss)))) if penalty == "squared" else loss
        h = root * (1 - margin) if rescaling == "slack" else root - margin
        worst = max(worst, h)
        total += max(h, 0)
    if penalty == "summed":
        return total
    return worst * worst / 2 if penalty == "squared" else worst
