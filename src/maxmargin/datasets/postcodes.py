"""Postcodes written in handwritten digits: real images, made into sequences.

scikit-learn ships 1797 scanned digits (8 x 8 pixels). A postcode of one of fifty towns
is written by drawing an image of each of its digits; ink is then smudged, so that some
digits cannot be told apart alone, while their neighbours still say what they must be.
Images of training and test codes are disjoint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats

LENGTH = 5
CODES = tuple(
    """
    02108 10001 11201 14201 15222 19102 20001 21201 23219 27601
    28202 29401 30303 32801 33101 35203 37201 38103 39201 40202
    43215 44113 45202 46204 48226 50309 53202 55401 57104 58102
    60601 63101 64105 66603 68102 70112 72201 73102 75201 77002
    78701 80202 82001 83702 84101 85003 87102 89101 94103 98101
    """.split()  # noqa: SIM905
)


class Written(NamedTuple):
    """Images and digits of written postcodes."""

    images: list[Floats]  # each (5, 64): the pixels of five digits, 0 .. 1
    digits: list[list[int]]


def written_postcodes(
    n_train: int = 600, n_test: int = 400, noise: float = 0.4, seed: int = 0
) -> tuple[Written, Written]:
    """Random postcodes of fifty towns, written in smudged digits.

    Parameters
    ----------
    n_train, n_test : int
        Number of postcodes.
    noise : float
        Standard deviation of the smudge on pixels between 0 and 1.
    seed : int

    Examples
    --------
    >>> train, test = written_postcodes(3, 2)
    >>> len(train.digits), train.images[0].shape
    (3, (5, 64))
    """
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(seed)
    scans = load_digits()
    pixels = scans.data / 16.0
    order = rng.permutation(len(pixels))
    half = len(order) // 2
    return (
        _write(rng, pixels, scans.target, order[:half], n_train, noise),
        _write(rng, pixels, scans.target, order[half:], n_test, noise),
    )


def _write(
    rng: np.random.Generator,
    pixels: Floats,
    target: np.ndarray,
    pool: np.ndarray,
    n: int,
    noise: float,
) -> Written:
    by_digit = [pool[target[pool] == d] for d in range(10)]
    images, labels = [], []
    for code in rng.choice(CODES, n):
        row = [int(c) for c in code]
        drawn = np.array([pixels[rng.choice(by_digit[d])] for d in row])
        images.append(np.clip(drawn + noise * rng.normal(size=drawn.shape), 0.0, 1.0))
        labels.append(row)
    return Written(images, labels)
