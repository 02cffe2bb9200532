"""Theorems of Yu 2011 as functions of numbers: how many cuts, how far from the optimum.

The thesis measures slacks by their mean, so its C is the sum of ours over the examples:
`C` below is that sum.

[1] Yu 2011, Theorems 3.1 and 6.1-6.4.
"""

from __future__ import annotations

from math import ceil, exp, inf, log, log2, sqrt


def most_cuts(epsilon: float, C: float, R: float, Delta: float) -> float:
    """How many cuts Algorithm 3.1 of [1] adds at most: Theorem 3.1.

    The theorem is for epsilon up to 4 R^2 C; a larger one counts as that. Where the
    logarithm is negative, zero takes its place.

    Parameters
    ----------
    epsilon : float
        Violation of the mean of the slacks.
    C, R, Delta : float
        Sum of C, largest length of a difference of psi, largest loss.

    Examples
    --------
    >>> most_cuts(0.1, C=1.0, R=1.0, Delta=1.0)
    160.0
    """
    if R <= 0.0:
        return 1.0
    scale = 4.0 * R**2 * C
    epsilon = min(epsilon, scale)
    return max(ceil(log2(Delta / scale)), 0.0) + ceil(4.0 * scale / epsilon)


def expected_sampled_cuts(epsilon: float, samples: int, C: float, R: float) -> float:
    """How many cuts Algorithm 6.2 of [1] adds at most, in expectation: Theorem 6.1.

    Parameters
    ----------
    epsilon : float
        Violation of the mean of the slacks, below 8 R^2 C^2.
    samples : int
        Rows drawn for each cut.
    C, R : float
        Sum of C, and the largest length of phi(x).

    Examples
    --------
    >>> round(expected_sampled_cuts(0.1, 1000, C=1.0, R=1.0))
    6886
    """
    if not 0.0 < epsilon < 8.0 * (R * C) ** 2:
        raise ValueError(
            f"epsilon={epsilon!r}: Theorem 6.1 is for numbers between 0 and 8 R^2 C^2 = "
            f"{8.0 * (R * C) ** 2:.3g}"
        )
    bad = exp(-samples * epsilon**2 / (16.0 * C * R**2))
    return inf if bad >= 1.0 else 32.0 * C * R**2 / (epsilon**2 * (1.0 - bad))


def sampling_error(
    epsilon: float, samples: int, cuts: int, C: float, R: float, norm: float,
    doubt: float = 0.05,
) -> float:  # fmt: skip
    """How far Algorithm 6.2 of [1] ends above the optimum at most: Theorem 6.2.

        C (epsilon + R norm sqrt(2 / samples * log(cuts / doubt)))

    With norm = sqrt(2 C), the length that no optimum exceeds where losses are at most 1,
    this is the bound as printed.

    Parameters
    ----------
    epsilon : float
        Stopping rule, in means of slacks.
    samples, cuts : int
        Rows drawn for each cut, and number of cuts.
    C, R : float
        Sum of C, and the largest length of phi(x).
    norm : float
        What the length of the optimal w is at most.
    doubt : float
        The bound holds with probability 1 - doubt.

    Examples
    --------
    >>> round(sampling_error(0.001, 1000, 50, C=1.0, R=1.0, norm=2**0.5), 4)
    0.1672
    """
    spread = R * norm * sqrt(2.0 / samples * log(max(cuts, 1) / doubt))
    return C * (epsilon + spread)


def most_pursuit_steps(
    epsilon: float, n_basis: int, C: float, R: float, Delta: float
) -> float:
    """How many iterations Algorithm 6.3 of [1] (CPSP) makes at most: Theorem 6.3.

    The theorem says O(n_basis + C / epsilon): after n_basis iterations the basis is
    fixed, and Theorem 3.1 holds in its span, whose constants are taken here.

    Parameters
    ----------
    n_basis : int
        Points of the basis.
    epsilon, C, R, Delta
        As in `most_cuts`.

    Examples
    --------
    >>> most_pursuit_steps(0.1, 50, C=1.0, R=1.0, Delta=1.0)
    210.0
    """
    return n_basis + most_cuts(epsilon, C, R, Delta)


def pursuit_error(epsilon: float, delta: float, C: float, norm: float) -> float:
    """How far CPSP ends above the optimum at most: Theorem 6.4 of [1].

    Parameters
    ----------
    epsilon : float
        Stopping rule, in means of slacks.
    delta : float
        Largest distance of a cut (of mean slacks) from its projection.
    C : float
        Sum of C.
    norm : float
        What the length of the optimal w is at most, sqrt(2 C) as printed.

    Examples
    --------
    >>> round(pursuit_error(0.001, 0.1, C=1.0, norm=2**0.5), 4)
    0.1424
    """
    return C * (delta * norm + epsilon)
