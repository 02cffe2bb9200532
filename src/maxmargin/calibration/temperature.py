"""Softmax of scores over a temperature that is fitted on held-out examples.

    p(c) ~ exp( - below(c)^power / T + bias(c) ),    below(c) = best score - score(c)
    min_T,power,bias  - sum_i log p(truth_i)  -  log p(coin)

The coin is one more example: the best and the second of an example (the mean over all),
of which either may be right. Without it T would be zero where all held-out examples are
right, and the model would seem to be sure.

Scores of max-margin models have no scale of their own: the order of outputs does not
change with T, but how sure the model seems does. The power is 1 unless `power=True`;
with a power below 1, large margins make the model less sure than T alone would. Neither
changes the order of the candidates. With `bias=True`, and the same candidates for all
examples, each candidate has a constant of its own, which mends what training on a loss
with weights, or on rare labels, has shifted.

[1] Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from maxmargin.calibration.candidates import Candidates
from maxmargin.calibration.measures import checked_weights
from maxmargin.core.data.arrays import Floats, Ints

STEPS = 100  # of Newton's method
POWERS = (-1.2, 0.7)  # logarithms of the powers that are tried
RIDGE = (
    1e-3  # per example: keeps the bias of candidates that never are the truth finite
)


@dataclass(frozen=True, eq=False)
class Temperature:
    """Probabilities of candidates from their scores; see the module docstring.

    Parameters
    ----------
    inverse : float
        1 / T.
    bias : array (candidates,)
        Empty if there is none.
    power : float
        Of the distance to the best score.

    Examples
    --------
    >>> scores = Candidates.of_table([[2.0, 0.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
    >>> fitted = Temperature.fit(scores, truth=[0, 0, 1, 1])
    >>> fitted(Candidates.of_table([[0.0, 0.0]])).row(0).tolist()
    [0.5, 0.5]
    """

    inverse: float = 1.0
    bias: Floats = field(default_factory=lambda: np.empty(0))
    power: float = 1.0

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """A finite temperature, a finite bias, a positive power."""
        if not np.isfinite(self.inverse) or self.inverse < 0.0:
            raise ValueError(f"inverse={self.inverse!r} is not a finite number >= 0")
        if self.bias.ndim != 1 or not np.isfinite(self.bias).all():
            raise ValueError("the bias of candidates is not a row of finite numbers")
        if not np.isfinite(self.power) or self.power <= 0.0:
            raise ValueError(f"power={self.power!r} is not a finite number > 0")

    @property
    def temperature(self) -> float:
        """T."""
        return 1.0 / self.inverse if self.inverse > 0.0 else np.inf

    @classmethod
    def fit(
        cls,
        candidates: Candidates,
        truth: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        bias: bool = False,
        power: bool = False,
    ) -> Temperature:
        """Find the temperature with the best likelihood of held-out truths.

        Parameters
        ----------
        candidates : Candidates
        truth : array (n,)
            Place of the truth in each row; -1 where it is not there: not counted.
        sample_weight : array (n,), optional
        bias : bool
            Whether candidates, the same in all rows, have a bias each.
        power : bool
            Whether the power is fitted, too.
        """
        at = candidates.places(truth)
        weight = checked_weights(sample_weight, candidates.n)
        weight = np.where(at < 0, 0.0, weight)
        possible = np.ones(candidates.n, np.bool_)
        possible[at >= 0] = candidates.scores[at[at >= 0]] > -np.inf
        weight = np.where(possible, weight, 0.0)  # no temperature makes these likely
        if weight.sum() <= 0.0:
            raise ValueError(
                "no truth is among the candidates: nothing to calibrate on"
            )
        gamma = _best_power(candidates, at, weight) if power else 1.0
        candidates = _raised(candidates, gamma)
        inverse = _newton(candidates, at, weight)
        if not bias:
            return cls(inverse, power=gamma)
        return replace(_with_bias(candidates, at, weight, inverse), power=gamma)

    def __call__(self, candidates: Candidates) -> Candidates:
        """The same candidates with their probabilities; each row sums to one."""
        if candidates.n == 0:
            return candidates
        logits = candidates._replace(scores=self._logits(candidates)).below_top()
        p = np.exp(logits.scores)
        p /= np.add.reduceat(p, candidates.ptr[:-1])[candidates.owner]
        return candidates._replace(scores=p)

    def _logits(self, candidates: Candidates) -> Floats:
        scores = _raised(candidates, self.power).scores
        with np.errstate(invalid="ignore"):  # 0 * -inf
            logits = np.where(scores > -np.inf, self.inverse * scores, -np.inf)
        if len(self.bias) == 0:
            return logits
        return (
            logits.reshape(-1, _width(candidates, len(self.bias))) + self.bias
        ).ravel()


def _raised(candidates: Candidates, power: float) -> Candidates:
    """The candidates with the scores  -(best score - score)^power."""
    below = candidates.below_top()
    if power == 1.0:
        return below
    return below._replace(scores=-((-below.scores) ** power))


class _Coin(NamedTuple):
    """One more example with two candidates, each of which is the truth by half.

    Its cost is the mean over examples; its weight is the mean of their weights.
    """

    share: Floats
    apart: Floats  # score of the best less that of the second

    @classmethod
    def of(cls, candidates: Candidates, weight: Floats) -> _Coin:
        """The best and the second of each example that counts and has a second."""
        scores, owner = candidates.below_top().scores, candidates.owner
        order = np.lexsort((-scores, owner))
        second = candidates.ptr[:-1] + 1
        there = (np.diff(candidates.ptr) > 1) & (weight > 0.0)
        apart = np.zeros(candidates.n)
        apart[there] = -scores[order[second[there]]]
        there &= np.isfinite(apart)
        share = weight[there] / np.count_nonzero(weight)
        return cls(share, apart[there])

    def cost(self, beta: float) -> float:
        """Minus the log likelihood at 1 / T = beta."""
        half = 0.5 * beta * self.apart
        return float(self.share @ np.logaddexp(half, -half))

    def slopes(self, beta: float) -> tuple[float, float]:
        """First and second derivative of the cost."""
        tanh = np.tanh(0.5 * beta * self.apart)
        first = 0.5 * self.apart * tanh
        second = 0.25 * self.apart**2 * (1.0 - tanh**2)
        return float(self.share @ first), float(self.share @ second)


def _best_power(candidates: Candidates, at: Ints, weight: Floats) -> float:
    """The power with the best likelihood, each with the temperature that suits it."""

    def cost(log_power: float) -> float:
        raised = _raised(candidates, float(np.exp(log_power)))
        beta = _newton(raised, at, weight)
        logits = np.where(raised.scores > -np.inf, beta * raised.scores, -np.inf)
        sums = np.log(np.add.reduceat(np.exp(logits), candidates.ptr[:-1]))
        counted = weight > 0.0
        likely = float(weight[counted] @ (logits[at[counted]] - sums[counted]))
        return _Coin.of(raised, weight).cost(beta) - likely

    found = scipy.optimize.minimize_scalar(
        cost, bounds=POWERS, method="bounded", options={"xatol": 0.02}
    )
    plain, best = cost(0.0), float(found.fun)
    return float(np.exp(found.x)) if best < plain else 1.0


def _width(candidates: Candidates, k: int) -> int:
    if (np.diff(candidates.ptr) != k).any():
        raise ValueError(f"a bias of {k} candidates needs rows of {k} scores")
    return k


def _newton(candidates: Candidates, at: Ints, weight: Floats) -> float:
    """Minimum over 1/T >= 0 of a convex function: minus the log likelihood.

    Its derivative is E[score] - score(truth), the second one the variance.
    """
    owner, starts = candidates.owner, candidates.ptr[:-1]
    scores = candidates.below_top().scores
    possible = scores > -np.inf
    scores = np.where(possible, scores, 0.0)
    truth = np.where(at >= 0, scores[at], 0.0)
    coin = _Coin.of(candidates, weight)

    def slope(beta: float) -> tuple[float, float]:
        p = np.where(possible, np.exp(beta * scores), 0.0)
        p /= np.add.reduceat(p, starts)[owner]
        mean = np.add.reduceat(p * scores, starts)
        square = np.add.reduceat(p * scores * scores, starts)
        first, second = coin.slopes(beta)
        first += float(weight @ (mean - truth))
        return first, second + float(weight @ (square - mean * mean))

    if slope(0.0)[0] >= 0.0:
        return 0.0  # scores say nothing, or the opposite
    low, high = 0.0, 1.0
    while slope(high)[0] < 0.0 and high < 1e12:
        low, high = high, 2.0 * high
    beta = 0.5 * (low + high)
    for _ in range(STEPS):
        first, second = slope(beta)
        low, high = (beta, high) if first < 0.0 else (low, beta)
        step = beta - first / second if second > 0.0 else low
        new = step if low < step < high else 0.5 * (low + high)
        if abs(new - beta) <= 1e-10 * beta:
            break
        beta = new
    return beta


def _with_bias(
    candidates: Candidates, at: Ints, weight: Floats, inverse: float
) -> Temperature:
    k = _width(candidates, int(candidates.ptr[1]))
    table = candidates.below_top().scores.reshape(-1, k)
    possible = table > -np.inf
    table = np.where(possible, table, 0.0)
    kept = np.flatnonzero(weight > 0.0)
    column = at[kept] - kept * k
    total, coin = weight.sum(), _Coin.of(candidates, weight)

    def objective(v: Floats) -> tuple[float, Floats]:
        logits = np.where(possible, v[0] * table + v[1:], -np.inf)
        top = logits.max(axis=1, keepdims=True)
        p = np.exp(logits - top)
        sums = p.sum(axis=1, keepdims=True)
        p /= sums
        log = (logits[kept, column] - top[kept, 0]) - np.log(sums[kept, 0])
        value = -float(weight[kept] @ log) + 0.5 * RIDGE * total * float(v[1:] @ v[1:])
        value += coin.cost(float(v[0]))
        p *= weight[:, None]
        p[kept, column] -= weight[kept]
        rest = p.sum(axis=0) + RIDGE * total * v[1:]
        first = float((p * table).sum()) + coin.slopes(float(v[0]))[0]
        return value / total, np.append(first, rest) / total

    start = np.append(inverse, np.zeros(k))
    bounds = [(0.0, None)] + [(None, None)] * k
    found = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 200, "ftol": 1e-12, "gtol": 1e-7},
    )  # fmt: skip
    return Temperature(float(found.x[0]), np.asarray(found.x[1:]))
