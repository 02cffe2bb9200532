r"""Theorem 6.1 of Taskar et al. 2003 in full: a bound on the error of new examples.

.. math:: E L(w, x) \le E_S L^{2\gamma}(w, x) + \text{complexity}(\gamma)

The first term is the loss per label on the training data of the worst scores that differ
from those of the model by at most gamma per wrong label,

    L^g(w, x) = max Delta(y) / l   over y with  score(y) + g Delta(y) >= score(z) - g Delta(z)
                                   for all z.

It is computed exactly where the structure finds the best output for each value of the
loss. Elsewhere one loss-augmented argmax bounds it: score(y) - score(truth) + g Delta(y)
>= 0 for such y, so that  Delta(y) <= max_y (2 g Delta(y) - <w, dpsi(y)>) / g.

The second term is `complexity_term`, with the constants of the proof (the theorem has a
K that it does not name). Its gamma is taken from the sequence R ||w|| / 2^i of the proof,
wherever the sum of both is lowest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.bounds.formulas import complexity_term
from maxmargin.bounds.norms import lengths
from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.validation import check_shape
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Augment, ByLoss, FewOutputs
from maxmargin.structures.chain.structure import Chain

HALVINGS = 12  # values of gamma that are tried


class Edges(NamedTuple):
    """What the complexity of a network depends on."""

    R: float  # largest length of the features of an edge, with those of its nodes
    labels: int  # per example, at most
    degree: int  # edges per label, at most
    classes: int  # values of a label


class MarginBound(NamedTuple):
    """The bound at the margin where it is lowest."""

    margin: float
    loss: float  # first term
    complexity: float  # second term
    exact: bool  # whether the first term is exact, or bounded itself

    @property
    def total(self) -> float:
        """Expected loss per label at most, with probability 1 - doubt; 1 says nothing."""
        return self.loss + self.complexity


def margin_bound(
    problem: Problem, w: Floats, edges: Edges | None = None, doubt: float = 0.05
) -> MarginBound:
    """The bound for weights w on the examples of a problem.

    Parameters
    ----------
    problem : Problem
        With a loss that is a sum over labels ("table"), such as `Hamming`.
    w : array
        Weights.
    edges : Edges, optional
        By default those of chains and of classes, from the data.
    doubt : float
        The bound holds with probability 1 - doubt.

    Returns
    -------
    MarginBound
        Its `total` is far above 1 unless examples are very many: the bound is of
        theoretical interest.
    """
    if problem.loss.form != "table":
        raise ValueError(
            f"Theorem 6.1 is about losses that are sums over labels, not about the form "
            f"{problem.loss.form!r}: use Hamming"
        )
    edges = edges_of(problem) if edges is None else edges
    norm = float(np.linalg.norm(w))
    best: MarginBound | None = None
    for i in range(1, HALVINGS + 1):
        margin = edges.R * norm / 2.0**i if norm > 0.0 else 1.0
        losses, exact = margin_losses(problem, w, 2.0 * margin)
        term = complexity_term(margin, norm, *_counts(edges, problem.n), doubt)
        made = MarginBound(margin, float(losses.mean()), term, exact)
        if best is None or made.total < best.total:
            best = made
    assert best is not None
    return best


def _counts(edges: Edges, m: int) -> tuple[float, int, int, int, int]:
    return edges.R, m, edges.labels, edges.degree, edges.classes


def margin_losses(problem: Problem, w: Floats, margin: float) -> tuple[Floats, bool]:
    """L^margin of each example, per label, and whether they are exact.

    Examples
    --------
    >>> from maxmargin.core import Formulation, Problem
    >>> from maxmargin.losses import Hamming
    >>> from maxmargin.structures import Multiclass
    >>> X, y = np.array([[1.0], [-1.0]]), [1, 0]
    >>> structure = Multiclass(bias=0.0).bind(X, y)
    >>> x = structure.encode(X)
    >>> truth = structure.encode_labels(x, y)
    >>> form, loss = Formulation(), Hamming().bind(2)
    >>> problem = Problem(structure, loss, form, x, truth, np.ones(2))
    >>> w = np.array([-1.0, 1.0])  # scores differ by 2
    >>> [margin_losses(problem, w, m)[0].tolist() for m in (1.9, 2.1)]
    [[0.0, 0.0], [1.0, 1.0]]
    """
    check_shape(w, (problem.dim,), "all weights, as in result_.w")
    structure, n = problem.structure, problem.n
    ids, sizes = np.arange(n), np.maximum(problem.truth.sizes, 1)
    if structure.layered(problem.loss):
        layers = structure.require(ByLoss, "a margin").argmax_by_loss(
            problem.x, ids, w, Augment(problem.truth, problem.loss, np.ones(n))
        )
        out = np.zeros(n)
        for q in range(n):
            own = slice(layers.ptr[q], layers.ptr[q + 1])
            score, loss = layers.score[own], layers.loss[own]
            floor = (score - margin * loss).max()
            out[q] = loss[score + margin * loss >= floor].max(initial=0.0)
        return out / sizes, True
    augment = Augment(problem.truth, problem.loss, np.full(n, 2.0 * margin))
    bound = structure.cuts(problem.x, ids, w, augment).bound
    return np.clip(bound / (margin * sizes), 0.0, 1.0), False


def edges_of(problem: Problem) -> Edges:
    """Edges of chains (two per label) and of classes (one, to nothing)."""
    structure = problem.structure
    few = structure.offers(FewOutputs)
    if few is not None:
        vectors, lambdas = few.outer_product(problem.x)
        S = float(np.sqrt(np.einsum("ij,ij->i", lambdas, lambdas).max()))
        return Edges(float(lengths(vectors).max()) * S, 1, 1, len(lambdas))
    plain = isinstance(structure, Chain) and structure.order == 1
    if isinstance(structure, Chain) and plain and not structure.edge_features:
        node = float(lengths(problem.x.vectors).max(initial=0.0)) ** 2
        node += float(structure.bias) + float(structure.start_end)
        R = float(np.sqrt(2.0 * node + float(structure.eta) ** 2))
        longest = int(problem.truth.sizes.max(initial=1))
        return Edges(R, longest, 2, len(structure.labels))
    raise ValueError(
        f"edges of {type(structure).__name__} are not known here: give them as Edges"
    )
