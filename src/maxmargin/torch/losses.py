"""Structured losses: one signature, so that comparing them means changing one word.

With s(y) the score of output y and t the target:

| loss            | value                                                        |
|-----------------|--------------------------------------------------------------|
| StructuredHinge | max_y delta(t, y) + s(y) - s(t), and its rescaled relatives  |
| Perceptron      | max_y s(y) - s(t)                                            |
| LogLikelihood   | log sum_y exp s(y) - s(t)                                    |
| SoftmaxMargin   | log sum_y exp(delta(t, y) + s(y)) - s(t)                     |
| PerturbedLoss   | E max_y s(y) + <sigma Z, y> - s(t),    Z random              |
| SparseMAP       | max_mu <s, mu> - ||mu||^2 / 2 - (s(t) - ||t||^2 / 2)         |

The first two have subgradients, the others are smooth. All are convex in the scores,
not negative (perturbation: in the mean), and zero or smallest where t wins clearly.

Softmax-margin: Gimpel and Smith 2010, Softmax-margin CRFs: training log-linear models
with cost functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged, is_number
from maxmargin.core.formulations import Formulation
from maxmargin.decode.machinery import smoothing
from maxmargin.decode.machinery.base import ScoreStructure, named_loss
from maxmargin.decode.machinery.batch import ScoreBatch, Table
from maxmargin.decode.machinery.oracle import (
    default_loss,
    loss_augmented,
    search,
)
from maxmargin.torch.layers import Gradient, StructuredLoss


class StructuredHinge(StructuredLoss):
    """Max-margin loss: the target must win by a margin as large as the loss.

        xi = max_y  delta(t, y) + s(y) - s(t)

    with margin rescaling. Slack rescaling: max_y delta(t, y) (1 + s(y) - s(t)). The
    squared penalty is xi^2 / 2 with the root of delta in its place (see
    `maxmargin.decode.machinery.oracle`), as for the estimators of this library.

    Parameters
    ----------
    structure : ScoreStructure
        What an output is: see `maxmargin.decode`.
    loss : str or array, optional
        A loss that the structure lists, by default its first; or a matrix of costs.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters.
    penalty : {"linear", "squared"}, default="linear"
        What the violation costs.
    **options
        `n_labels`, `learn`, `reduction`, `n_jobs`: see `StructuredLoss`.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.decode import Chain
    >>> layer = StructuredHinge(Chain(), n_labels=2)
    >>> scores = torch.tensor([[[1.0, 0.0], [0.0, 0.5]]], requires_grad=True)
    >>> loss = layer(scores, torch.tensor([[0, 1]]))
    >>> loss.backward()
    >>> loss.item(), scores.grad.tolist()
    (0.5, [[[0.0, 0.0], [1.0, -1.0]]])
    >>> layer.decode(scores).tolist()
    [[0, 1]]
    """

    def __init__(
        self,
        structure: ScoreStructure,
        loss: Any = None,
        rescaling: str = "margin",
        penalty: str = "linear",
        **options: Any,
    ) -> None:
        super().__init__(structure, **options)
        if penalty not in ("linear", "squared"):
            raise ValueError(f"penalty={penalty!r} is not 'linear' or 'squared'")
        self.loss = known_loss(structure, loss)
        self.formulation = Formulation(rescaling, penalty)

    def evaluate(
        self, batch: ScoreBatch, target: Any, wanted: bool
    ) -> tuple[Floats, Gradient]:
        """One search for the most violated output of each row."""
        found = search(
            self.structure, batch, target, self.loss, self.formulation, self.threads()
        )
        self.gap = found.bound - found.value
        scale = np.ones(batch.rows)
        if self.formulation.scales:
            scale = self.formulation.plane_offset(found.delta)
        value = found.value
        if self.formulation.penalty == "squared":
            scale, value = scale * found.value, 0.5 * found.value**2

        def gradient(factor: Floats, out: Sequence[Table]) -> None:
            weight = factor * scale * (found.value > 0)
            self.structure.add_indicators(batch, found.rows, weight, out)
            self.structure.add_indicators(batch, found.truth, -weight, out)

        return value, gradient


class Perceptron(StructuredLoss):
    """Structured perceptron: the best output against the target, without a margin.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.decode import Chain
    >>> layer = Perceptron(Chain(), learn=False)
    >>> layer(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[1]])).item()
    1.0
    """

    def evaluate(
        self, batch: ScoreBatch, target: Any, wanted: bool
    ) -> tuple[Floats, Gradient]:
        """One search for the best output of each row."""
        truth, own = self.structure.read_target(batch, target)
        rows, bound = self.structure.find_best(batch, self.threads())
        self.structure.check_found(bound)
        score = self.structure.row_scores(batch, rows)
        self.gap = bound - score
        value = np.maximum(score - own, 0.0)

        def gradient(factor: Floats, out: Sequence[Table]) -> None:
            self.structure.add_indicators(batch, rows, factor, out)
            self.structure.add_indicators(batch, truth, -factor, out)

        return value, gradient


class LogLikelihood(StructuredLoss):
    """Negative log-likelihood of a conditional random field.

    For structures whose sum over all outputs can be computed: chains, segments, trees
    over spans, dependency trees (projective by inside-outside, others by the
    matrix-tree theorem), alignments, forests, classes.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.decode import Chain
    >>> layer = LogLikelihood(Chain(), learn=False)
    >>> round(layer(torch.zeros(1, 3, 2), torch.zeros(1, 3, dtype=int)).item(), 4)
    2.0794
    """

    def evaluate(
        self, batch: ScoreBatch, target: Any, wanted: bool
    ) -> tuple[Floats, Gradient]:
        """Log Z, and the marginals with it where they can be scaled later.

        They can if all rows will have the same factor, as in a mean or a sum, or if
        every table has rows of its own. Otherwise they are computed when the factors
        are known.
        """
        truth, own = self.structure.read_target(batch, target)
        summed = self.summed_scores(batch, truth)
        same = self.reduction != "none"
        early = wanted and (same or len(batch.arrays) == 1)
        marginals: tuple[Table, ...] = ()
        if early:
            ones = np.ones(batch.rows)
            log_z, marginals = self.structure.weighted_marginals(
                summed, ones, self.threads()
            )
        else:
            log_z = self.structure.log_partition(summed, self.threads())
            # Scores may be overwritten before the marginals are computed.
            summed = summed.with_main(summed.main.copy())
        self.structure.check_found(log_z)

        def gradient(factor: Floats, out: Sequence[Table]) -> None:
            tables, scale = marginals, np.ones(1)
            if early:
                scale = factor[:1] if same else factor
            else:
                _, tables = self.structure.weighted_marginals(
                    summed, factor, self.threads()
                )
            for table, marginal in zip(out, tables, strict=True):
                wide = scale.reshape(-1, *[1] * (table.ndim - 1))
                np.multiply(marginal, wide, out=table, casting="same_kind")
            self.structure.add_indicators(batch, truth, -factor, out)

        return self.smooth_maximum(log_z) - own, gradient

    def summed_scores(self, batch: ScoreBatch, truth: Ragged) -> ScoreBatch:
        """Scores under which all outputs are summed."""
        return batch

    def smooth_maximum(self, log_z: Floats) -> Floats:
        """What takes the place of the maximum."""
        return log_z


class SoftmaxMargin(LogLikelihood):
    """A likelihood with a margin: the hinge with its maximum made smooth.

        temperature * log sum_y exp((delta(t, y) + s(y)) / temperature) - s(t)

    At a small temperature it is the structured hinge, and without a loss it is the
    likelihood. It takes the time of the likelihood and exists for the same structures.

    Parameters
    ----------
    structure : ScoreStructure
        What an output is: see `maxmargin.decode`.
    loss : str or array, optional
        As for `StructuredHinge`, but a sum over parts: not "zero-one" of whole outputs.
    temperature : float, default=1.0
        How smooth the maximum is.
    **options
        `n_labels`, `learn`, `reduction`, `n_jobs`: see `StructuredLoss`.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.decode import Chain
    >>> scores = torch.tensor([[[1.0, 0.0], [0.0, 0.5]]])
    >>> for temperature in (1.0, 0.01):
    ...     layer = SoftmaxMargin(Chain(), temperature=temperature, n_labels=2)
    ...     print(round(layer(scores, torch.tensor([[0, 1]])).item(), 3))
    1.667
    0.507
    """

    def __init__(
        self,
        structure: ScoreStructure,
        loss: Any = None,
        temperature: float = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(structure, **options)
        check_positive("temperature", temperature)
        self.loss = known_loss(structure, loss)
        self.temperature = temperature

    def summed_scores(self, batch: ScoreBatch, truth: Ragged) -> ScoreBatch:
        """With the losses of their parts, divided by the temperature."""
        summed, self._constant = loss_augmented(
            self.structure, batch, truth, self.loss, self.temperature
        )
        return summed

    def smooth_maximum(self, log_z: Floats) -> Floats:
        """Back to the scale of the scores."""
        return self.temperature * log_z + self._constant


class PerturbedLoss(StructuredLoss):
    """Fenchel-Young loss by perturbation: the best output under noise, in the mean.

    Parameters
    ----------
    structure : ScoreStructure
        What an output is.
    sigma : float, default=1.0
        Size of the noise on the first table; smaller is closer to the perceptron.
    samples : int, default=16
        Draws per call; each is one search.
    noise : {"gumbel", "normal"}, default="gumbel"
        Its distribution, of mean zero.
    seed : int, default=0
        The draws of a layer are a fixed sequence that begins here: see `reset`.
    **options
        `n_labels`, `learn`, `reduction`, `n_jobs`: see `StructuredLoss`.

    Attributes
    ----------
    standard_error : array (rows,)
        Of the values of the last call.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.decode import Classes
    >>> layer = PerturbedLoss(Classes(), samples=2000)
    >>> scores, target = torch.zeros(1, 2), torch.tensor([0])
    >>> abs(layer(scores, target).item() - 0.693) < 0.1  # log 2: Gumbel noise
    True
    """

    def __init__(
        self,
        structure: ScoreStructure,
        sigma: float = 1.0,
        samples: int = 16,
        noise: str = "gumbel",
        seed: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(structure, **options)
        if noise not in smoothing.NOISES:
            raise ValueError(f"noise={noise!r} is not one of 'gumbel', 'normal'")
        if not isinstance(samples, int) or samples < 1:
            raise ValueError(f"samples={samples!r} must be a whole number from 1 on")
        check_positive("sigma", sigma)
        self.sigma, self.samples, self.noise, self.seed = sigma, samples, noise, seed
        self.standard_error: Floats = np.zeros(0)
        self.reset()

    def reset(self) -> None:
        """Begin the draws anew, as after construction."""
        self._rng = np.random.default_rng(self.seed)

    def evaluate(
        self, batch: ScoreBatch, target: Any, wanted: bool
    ) -> tuple[Floats, Gradient]:
        """Searches under noise."""
        truth, own = self.structure.read_target(batch, target)
        found = smoothing.perturbed(
            self.structure, batch, self._rng, self.sigma, self.samples, self.noise,
            self.threads(),
        )  # fmt: skip
        self.standard_error = found.error
        value = found.value - own

        def gradient(factor: Floats, out: Sequence[Table]) -> None:
            for rows in found.samples:
                weight = factor / len(found.samples)
                self.structure.add_indicators(batch, rows, weight, out)
            self.structure.add_indicators(batch, truth, -factor, out)

        return value, gradient


class SparseMAP(StructuredLoss):
    """SparseMAP loss: a quadratic smoothing whose answer mixes few outputs.

    Exact up to a duality gap of `tol`, by an active set of outputs: for small
    structures, one search per output in the mix and a few more.

    Parameters
    ----------
    structure : ScoreStructure
        What an output is.
    tol : float, default=1e-9
        Duality gap.
    max_iter : int, default=1000
        Searches, at most.
    **options
        `n_labels`, `learn`, `reduction`, `n_jobs`: see `StructuredLoss`.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.decode import Classes
    >>> layer = SparseMAP(Classes())
    >>> round(layer(torch.tensor([[0.5, 0.0]]), torch.tensor([0])).item(), 4)
    0.0625
    """

    def __init__(
        self,
        structure: ScoreStructure,
        tol: float = 1e-9,
        max_iter: int = 1000,
        **options: Any,
    ) -> None:
        super().__init__(structure, **options)
        self.tol, self.max_iter = tol, max_iter

    def evaluate(
        self, batch: ScoreBatch, target: Any, wanted: bool
    ) -> tuple[Floats, Gradient]:
        """Active sets of all rows, searched together."""
        truth, own = self.structure.read_target(batch, target)
        found = smoothing.sparse_map(
            self.structure, batch, self.tol, self.max_iter, self.threads()
        )
        self.gap = found.gap
        own -= 0.5 * smoothing.main_norms(self.structure, batch, truth)

        def gradient(factor: Floats, out: Sequence[Table]) -> None:
            smoothing.add_mixes(self.structure, batch, found, factor, out)
            self.structure.add_indicators(batch, truth, -factor, out)

        return np.maximum(found.value - own, 0.0), gradient


def known_loss(structure: ScoreStructure, loss: Any) -> Any:
    """The loss, by default the structure's first; a name must be one that it lists."""
    if loss is None:
        return default_loss(structure)
    return named_loss(loss, structure.losses) if isinstance(loss, str) else loss


def check_positive(name: str, value: Any) -> None:
    """Refuse what is not a positive, finite number."""
    if not is_number(value) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name}={value!r} must be a positive number")


LOSSES: dict[str, type[StructuredLoss]] = {
    "hinge": StructuredHinge,
    "perceptron": Perceptron,
    "log-likelihood": LogLikelihood,
    "softmax-margin": SoftmaxMargin,
    "perturbed": PerturbedLoss,
    "sparsemap": SparseMAP,
}


def structured_loss(
    name: str, structure: ScoreStructure, **options: Any
) -> StructuredLoss:
    """A loss by name: one of `LOSSES`.

    "hinge", "perceptron", "log-likelihood", "softmax-margin", "perturbed", "sparsemap".

    Examples
    --------
    >>> from maxmargin.decode import Chain
    >>> type(structured_loss("log-likelihood", Chain(), n_labels=3)).__name__
    'LogLikelihood'
    """
    if name not in LOSSES:
        raise ValueError(f"{name!r} is not one of {', '.join(map(repr, LOSSES))}")
    return LOSSES[name](structure, **options)
