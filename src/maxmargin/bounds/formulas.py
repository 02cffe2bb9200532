"""Bounds of the papers as functions of numbers.

Papers measure slacks by their mean, so their C is the sum of ours over the examples:
`C` below is that sum. R is the largest length of a difference of psi, Delta the largest
loss.

Those of Yu 2011 are in `solvers/kernel/theorems.py`, since trainers report them.

[1] Tsochantaridis et al. 2005, Propositions 14-17, Theorem 18. [2] Taskar et al. 2003,
Theorem 6.1, Lemma A.11, Theorem A.12. [3] Yu 2011, Algorithm 5.1.
"""

from __future__ import annotations

from math import ceil, inf, log, log2, sqrt

from maxmargin.core.formulations import Formulation


def least_rise(
    formulation: Formulation, epsilon: float, n: int, C: float, R: float, Delta: float
) -> float:
    """By how much a constraint violated by epsilon raises the dual, at least.

    Propositions 14 to 17 of [1], for both penalties and rescalings. Proposition 17 as
    printed leaves out the case that the new variable reaches its bound, C epsilon / (2n),
    which its proof inherits from Proposition 16 and which Theorem 18 uses; it is here.

    Parameters
    ----------
    formulation : Formulation
        With penalty "linear" or "squared".
    epsilon : float
        Violation beyond the slack on the working set.
    n : int
        Number of examples.
    C, R, Delta : float
        Sum of C, largest length of a difference of psi, largest loss.

    Examples
    --------
    >>> least_rise(Formulation("margin", "squared"), 0.1, n=10, C=10.0, R=1.0, Delta=1.0)
    0.0025000000000000005
    """
    _check(formulation, epsilon)
    factor = Delta if formulation.scales else 1.0
    if formulation.penalty == "squared":
        return 0.5 * epsilon**2 / (factor * R**2 + n / C)
    second = epsilon**2 / (8.0 * factor**2 * R**2) if R > 0 and factor > 0 else inf
    return min(C * epsilon / (2.0 * n), second)


def most_constraints(
    formulation: Formulation, epsilon: float, n: int, C: float, R: float, Delta: float
) -> float:
    """How many constraints Algorithm 1 of [1] adds at most: Theorem 18.

    Parameters
    ----------
    formulation, epsilon, n, C, R, Delta
        As in `least_rise`.

    Examples
    --------
    >>> round(most_constraints(Formulation(), 0.1, n=10, C=10.0, R=1.0, Delta=1.0))
    8000
    """
    _check(formulation, epsilon)
    factor = Delta if formulation.scales else 1.0
    if formulation.penalty == "squared":
        return (C * factor * Delta * R**2 + n * Delta) / epsilon**2
    second = 8.0 * C * Delta * factor**2 * R**2 / epsilon**2
    return max(2.0 * n * Delta / epsilon, second)


def most_completions(epsilon: float, Delta: float) -> float:
    """How often Algorithm 5.1 of [3] completes hidden parts at most.

    Weights of zero have an objective of at most C Delta, so that of the first weights
    trained is no higher. From then on each completion but the last lowers it by more
    than C epsilon, and it is never negative.

    Parameters
    ----------
    epsilon : float
        In means of slacks: completions end when one lowers the objective by no more
        than C epsilon.
    Delta : float
        Largest loss.

    Examples
    --------
    >>> most_completions(0.1, Delta=1.0)
    12.0
    """
    if not epsilon > 0.0:
        raise ValueError(f"epsilon={epsilon!r}: a number greater than zero is needed")
    return 2.0 + Delta / epsilon


def complexity_term(
    margin: float, norm: float, R_edge: float, m: int, labels: int, degree: int,
    classes: int, doubt: float = 0.05,
) -> float:  # fmt: skip
    r"""The second term of Theorem 6.1 of [2], with the constants of its proof.

    .. math:: \sqrt{\tfrac{32}{m} \left[\ln 4 N(\gamma_i) + \ln \tfrac{2^i}{\delta}\right]},
       \quad \gamma_i = R \|w\| / 2^i \le \gamma

    where N is the covering number of Lemma A.11. The theorem itself has a constant K
    that it does not name; it hides what is written out here.

    Parameters
    ----------
    margin : float
        gamma, per label. The first term is then the loss within 2 gamma.
    norm : float
        Length of w.
    R_edge : float
        Largest length of the features of an edge, with those of its nodes.
    m, labels, degree, classes : int
        Examples, labels per example, edges per label, values of a label, at most.
    doubt : float
        The bound holds with probability 1 - doubt.

    Examples
    --------
    >>> big = complexity_term(0.5, 1.0, 1.0, m=10**4, labels=8, degree=2, classes=26)
    >>> small = complexity_term(0.5, 1.0, 1.0, m=10**8, labels=8, degree=2, classes=26)
    >>> big > 1.0 > small
    True
    """
    size = R_edge * norm
    if not margin > 0.0:
        raise ValueError(f"margin={margin!r}: a number greater than zero is needed")
    i = max(ceil(log2(size / margin)), 1) if size > 0.0 else 1
    radius = size / 2.0**i if size > 0.0 else margin
    ratio = size * degree / radius
    count = m * labels * degree * (classes**2 - 1)
    bits = 36.0 * ratio**2 * log2(1.0 + 2.0 * ceil(4.0 * ratio + 2.0) * count)
    return sqrt(32.0 / m * (log(4.0) + log(2.0) * bits + i * log(2.0) - log(doubt)))


def _check(formulation: Formulation, epsilon: float) -> None:
    """Refuse formulations that the propositions are not about."""
    if formulation.penalty not in ("linear", "squared"):
        raise ValueError(
            f"penalty={formulation.penalty!r}: Propositions 14-17 and Theorem 18 are "
            "about 'linear' and 'squared'"
        )
    if not epsilon > 0.0:
        raise ValueError(f"epsilon={epsilon!r}: a number greater than zero is needed")
