"""Changes of a few entries of a vector, and copies that follow it."""

import numpy as np
import pytest

from maxmargin.core.data.vector_changes import (
    Change,
    Replicas,
    StaleWeightsError,
    Update,
    Weights,
    add_changes,
    update_of,
)


def dense(change, size):
    out = np.zeros(size)
    out[change.idx] = change.val
    return out


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_changes_are_those_of_dense_vectors(seed):
    rng = np.random.default_rng(seed)
    parts = []
    for size in rng.integers(0, 30, size=2):
        idx = np.sort(rng.choice(40, size, replace=False)).astype(np.int32)
        parts.append(Change(idx, rng.normal(size=size)))
    total = add_changes(*parts)
    assert (np.diff(total.idx) > 0).all() and total.idx.dtype == np.int32
    assert (dense(total, 40) == dense(parts[0], 40) + dense(parts[1], 40)).all()


def test_read_only_changes_are_added():
    one = Change.of({2: 1.0})
    one.val.flags.writeable = one.idx.flags.writeable = False
    assert add_changes(one, one).val.tolist() == [2.0]


def test_copies_follow_the_news():
    w = np.arange(4.0)
    copies = Replicas(w.copy(), 3)
    with copies.lease() as one, copies.lease() as two:
        assert one.w is not two.w and one.base is two.base
    w[[1, 3]] = 7.0, 8.0
    copies.follow(update_of(Weights(w, 4, np.array([1, 3], np.int32)), False))
    copies.follow(update_of(Weights(w, 4, np.array([1, 3], np.int32)), False))  # twice
    for _ in range(2):
        with copies.lease() as lease:
            assert (lease.w == w).all() and (lease.base == w).all()


def test_a_copy_that_missed_an_update_says_so():
    copies = Replicas(np.zeros(2), 0)
    late = Update(5, np.array([0], np.int32), np.ones(1), since=4)
    with pytest.raises(StaleWeightsError, match="version 0 of w is here, 4 is needed"):
        copies.follow(late)
    copies.follow(update_of(Weights(np.ones(2), 5, None), False))
    with copies.lease() as lease:
        assert lease.w.tolist() == [1.0, 1.0]


def test_a_vector_lent_to_a_call_that_failed_is_not_lent_again():
    copies = Replicas(np.zeros(2), 0)

    def fail():
        with copies.lease() as lease:
            lease.w[0] = 9.0
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with copies.lease() as lease:
        assert lease.w.tolist() == [0.0, 0.0]
