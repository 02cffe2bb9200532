"""Losses of clusterings and scores of alignments against their definitions."""

from itertools import combinations

import numpy as np
import pytest

from maxmargin.metrics import precisions, q_scores
from maxmargin.metrics.clusters import mitre_loss, pair_loss


def links(clusters):
    """Pairs of items in one cluster."""
    n = range(len(clusters))
    return {(a, b) for a, b in combinations(n, 2) if clusters[a] == clusters[b]}


def chained(truth, found):
    """Links that make up the true clusters, and those of them that were found."""
    most = right = 0
    for c in set(truth):
        items = [i for i, k in enumerate(truth) if k == c]
        most += len(items) - 1
        right += len(items) - len({found[i] for i in items})
    return right, most


@pytest.mark.parametrize("seed", range(5))
def test_losses_of_clusterings(seed):
    rng = np.random.default_rng(seed)
    truth, found = rng.integers(0, 3, 6).tolist(), rng.integers(0, 4, 6).tolist()
    wrong = len(links(truth) ^ links(found))
    assert pair_loss(truth, found) == pytest.approx(100.0 * wrong / 15)
    (r, most), (p, made) = chained(truth, found), chained(found, truth)
    recall, precision = r / most if most else 0.0, p / made if made else 0.0
    f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    assert mitre_loss(truth, found) == pytest.approx(100.0 * (1.0 - f1))


@pytest.mark.parametrize("shift", [0, 1, 4])
def test_shares_of_matches(shift):
    rng = np.random.default_rng(shift)
    for _ in range(5):
        first, second = (
            np.stack(
                [np.sort(rng.choice(9, 4, False)), np.sort(rng.choice(n, 4, False))]
            )
            for n in (9, 12)
        )
        right = [
            any(j == b and abs(i - a) <= shift for i, j in second.T) for a, b in first.T
        ]
        assert q_scores([first.T], [second.T], shift)[0] == np.mean(right)
        assert precisions([second.T], [first.T], shift)[0] == np.mean(right)
    with pytest.raises(ValueError, match="1 references, but 2 alignments"):
        q_scores([first.T], [second.T] * 2)
