"""How long differences of psi can be, and how large losses: R and Delta from data.

    R_i >= ||psi(x_i, y) - psi(x_i, y')||    for all outputs y, y'

The papers bound R by the lengths of inputs. Their proofs use

    ||a - b||^2 <= ||a||^2 + ||b||^2,

which holds where <a, b> is not negative: with orthogonal outputs (Proposition 20), or
with features that are not negative. Otherwise ||a - b|| <= ||a|| + ||b|| is what is left,
and squares are twice as large: Propositions 24 and 25 as printed are too low there. Two
outputs Lambda = -1 and 1 show it: ||psi - psi'||^2 = 4 R^2 S^2. The functions below ask
whether features are `nonnegative`.

[1] Tsochantaridis et al. 2005, Propositions 20, 24, 25, sections 4.4.3 and 4.5.3.
[2] Yu 2011, section 5.4.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged, Vectors
from maxmargin.core.loss import Loss
from maxmargin.core.problem import Problem
from maxmargin.core.structure import FewOutputs
from maxmargin.structures.chain.structure import Chain


class Constants(NamedTuple):
    """What the bounds are made of."""

    n: int
    C: float  # sum over the examples
    R: float
    Delta: float


def class_difference(length: float) -> float:
    """R of plain classes with inputs up to this length: Proposition 20, sqrt(2) R.

    Examples
    --------
    >>> round(class_difference(1.0) ** 2, 12)
    2.0
    """
    return sqrt(2.0) * length


def product_difference(length: float, S: float, nonnegative: bool = True) -> float:
    """R of phi(x) (x) Lambda(y): Proposition 24.

    Parameters
    ----------
    length : float
        Largest length of phi(x).
    S : float
        Largest length of Lambda(y).
    nonnegative : bool
        Whether no two Lambda have a negative product, as the proof supposes.

    Examples
    --------
    >>> round(product_difference(1.0, 1.0) ** 2, 12)
    2.0
    >>> product_difference(1.0, 1.0, nonnegative=False)  # Lambda = -1 and 1
    2.0
    """
    return (sqrt(2.0) if nonnegative else 2.0) * length * S


def sequence_difference(
    length: float, T: int, eta: float = 1.0, nonnegative: bool = True
) -> float:
    """R of label sequences: Proposition 25, sqrt(2 T^2 (R^2 + eta^2)).

    Parameters
    ----------
    length : float
        Largest length of phi(x_t).
    T : int
        Largest number of tokens.
    eta : float
        Value of the features of label pairs.
    nonnegative : bool
        Whether no feature is negative, as the proof supposes.

    Examples
    --------
    >>> round(sequence_difference(1.0, 3), 12)
    6.0
    """
    return (sqrt(2.0) if nonnegative else 2.0) * T * sqrt(length**2 + eta**2)


def alignment_difference(N: int) -> float:
    """R of alignments that count operations, for sequences up to N: section 4.4.3.

    Examples
    --------
    >>> round(alignment_difference(10), 3)
    28.284
    """
    return 2.0 * sqrt(2.0) * N


def tree_difference(N: int) -> float:
    """R of trees that count rules, binary ones over up to N words: section 4.5.3.

    A tree has N pre-terminal and N - 1 inner nodes, so its counts have a length of at
    most sqrt(N^2 + (N - 1)^2). The difference of two is then at most twice that, which is
    the sqrt(4 N^2 + 4 (N - 1)^2) of the paper.

    Examples
    --------
    >>> tree_difference(1), round(tree_difference(10), 3)
    (2.0, 26.907)
    """
    return sqrt(4.0 * N**2 + 4.0 * (N - 1) ** 2)


def motif_difference(length: int) -> float:
    """R of motifs of this length, at any two places: section 5.4.1 of [2].

    A place has `length` letters of the matrix and takes as many out of the background.

    Examples
    --------
    >>> motif_difference(1)
    2.0
    """
    return sqrt(2.0 * length * (length + 1.0))


def forest_difference(N: int, length: float, nonnegative: bool = True) -> float:
    """R of spanning forests over N mentions: section 5.4.2 of [2].

    Parameters
    ----------
    N : int
        Largest number of mentions; a forest has at most N - 1 links.
    length : float
        Largest length of the features of a link.
    nonnegative : bool
        Whether no feature is negative.

    Examples
    --------
    >>> round(forest_difference(3, 1.0) ** 2, 12)
    8.0
    """
    return (sqrt(2.0) if nonnegative else 2.0) * max(N - 1, 0) * length


def top_difference(length: float, nonnegative: bool = True) -> float:
    """R of the mean of the first k documents of a ranking: section 5.4.3 of [2].

    Parameters
    ----------
    length : float
        Largest length of the features of a document.
    nonnegative : bool
        Whether no feature is negative.

    Examples
    --------
    >>> top_difference(1.0, nonnegative=False)
    2.0
    """
    return (sqrt(2.0) if nonnegative else 2.0) * length


def largest_difference(problem: Problem) -> float:
    """R of a problem, from its data.

    Exact for outputs that can be listed. For chains the lengths of the tokens of each
    sequence are added up, which is below Proposition 25, where all count as the longest.
    Other structures raise ValueError: give R yourself.

    Examples
    --------
    >>> from maxmargin.core import Formulation, Problem
    >>> from maxmargin.losses import Hamming
    >>> from maxmargin.structures import Multiclass
    >>> X, y = np.array([[3.0, 4.0], [1.0, 0.0]]), [0, 1]
    >>> structure = Multiclass(bias=0.0).bind(X, y)
    >>> x = structure.encode(X)
    >>> truth = structure.encode_labels(x, y)
    >>> form, loss = Formulation(), Hamming().bind(2)
    >>> problem = Problem(structure, loss, form, x, truth, np.ones(2))
    >>> round(largest_difference(problem) ** 2, 9)
    50.0
    """
    few = problem.structure.offers(FewOutputs)
    if few is not None:
        vectors, lambdas = few.outer_product(problem.x)
        squares = np.einsum("ij,ij->i", lambdas, lambdas)
        apart = squares[:, None] + squares[None, :] - 2.0 * lambdas @ lambdas.T
        return float(lengths(vectors).max() * np.sqrt(max(apart.max(), 0.0)))
    if isinstance(problem.structure, Chain) and not problem.structure.edge_features:
        return float(chain_differences(problem, problem.structure).max())
    name = type(problem.structure).__name__
    raise ValueError(
        f"there is no bound on differences of psi for {name}: give R, for instance by "
        "alignment_difference or tree_difference"
    )


def chain_differences(problem: Problem, chain: Chain) -> Floats:
    """R_i of each sequence.

    A sequence in which all labels are the same has the longest counts of label pairs,
    and, where inputs are not negative, also the longest sums of inputs.
    """
    x, n = problem.x, problem.n
    same = Ragged(problem.truth.ptr, np.zeros(len(problem.truth.data), np.int32))
    rows = chain.features(x, np.arange(n), same)
    owner = np.repeat(np.arange(n), np.diff(rows.ptr))
    first = chain.layout.width * chain.layout.labels
    keys = owner * np.int64(chain.dim) + rows.idx
    unique, where = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(unique))
    np.add.at(sums, where, rows.val)
    who, coordinate = unique // chain.dim, unique % chain.dim
    inputs = coordinate < first
    others = np.bincount(who, np.where(inputs, 0.0, sums**2), n)
    if (x.vectors.val >= 0.0).all():
        whole = np.bincount(who, np.where(inputs, sums**2, 0.0), n)
        bounds: Floats = np.sqrt(2.0 * (whole + others))
        return bounds
    added = np.add.reduceat(lengths(x.vectors), x.ptr[:-1])
    return 2.0 * np.sqrt(added**2 + others)


def lengths(vectors: Vectors) -> Floats:
    """Length of each vector."""
    squares = np.zeros(vectors.n)
    owner = np.repeat(np.arange(vectors.n), np.diff(vectors.ptr))
    np.add.at(squares, owner, vectors.val**2)
    return np.sqrt(squares)


def largest_loss(loss: Loss, truth: Ragged) -> float:
    """Delta: no output of any example has a larger loss.

    Examples
    --------
    >>> from maxmargin.losses import Hamming
    >>> largest_loss(Hamming().bind(3), Ragged.pack([[0, 1], [2, 2, 0]]))
    3.0
    """
    if loss.form == "zero-one" or loss.form in ("brackets-f1", "aligned-pairs"):
        return 1.0
    if loss.form == "table":
        worst = loss.table.max(axis=1)[truth.data]
        owner = np.repeat(np.arange(truth.n), truth.sizes)
        return float((np.bincount(owner, worst, truth.n) * loss.scale(truth)).max())
    raise ValueError(
        f"there is no bound on losses of form {loss.form!r}: give Delta yourself"
    )


def constants_of(
    problem: Problem, R: float | None = None, Delta: float | None = None
) -> Constants:
    """n, C, R and Delta of a problem; those given are taken as they are."""
    R = largest_difference(problem) if R is None else R
    Delta = largest_loss(problem.loss, problem.truth) if Delta is None else Delta
    return Constants(problem.n, float(problem.C.sum()), R, Delta)
