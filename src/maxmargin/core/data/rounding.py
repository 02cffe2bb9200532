"""How large rounding errors of sums may be, in double precision.

A sum of m products that is computed in any order is off by at most m u times the sum of
their absolute values, u = 2^-53, and, but for very rare cases, by at most
LUCK sqrt(m) u times that sum [1].

[1] Higham and Mary 2019, A new approach to probabilistic rounding error analysis.
"""

from __future__ import annotations

import math

UNIT = 2.0**-53
LUCK = 8.0
FUNCTION = 8.0 * UNIT  # of a value of a function that we know nothing about, relative


def summation_error(terms: float) -> float:
    """Bound on the error of a sum, as a share of the sum of absolute values.

    Examples
    --------
    >>> summation_error(10) == 10 * 2.0**-53, summation_error(1e6) == 8e3 * 2.0**-53
    (True, True)
    """
    return UNIT * min(terms, LUCK * math.sqrt(terms))
