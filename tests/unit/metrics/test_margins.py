"""The margin loss of layers, against its definition on small lists."""

from itertools import pairwise

import numpy as np
import pytest

from maxmargin.metrics.margins import margin_losses


def defined(loss, score, size, gamma):
    """The largest loss of an output within the margin of gamma per error."""
    best = max(s - gamma * k for s, k in zip(score, loss, strict=True))
    near = [k for s, k in zip(score, loss, strict=True) if s + gamma * k >= best]
    return max(near, default=0.0) / size


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, 4.0])
def test_as_defined(gamma):
    rng = np.random.default_rng(0)
    sizes = np.array([2, 3, 4])
    ptr = np.concatenate([[0], np.cumsum(sizes + 1)])
    loss = np.concatenate([np.arange(n + 1.0) for n in sizes])
    score = rng.normal(size=len(loss))
    rows = [slice(a, b) for a, b in pairwise(ptr)]
    expected = [defined(loss[r], score[r], n, gamma) for r, n in zip(rows, sizes)]
    found = margin_losses(ptr, loss, score, sizes, [gamma])
    assert found.shape == (1,) and found[0] == pytest.approx(np.mean(expected))
