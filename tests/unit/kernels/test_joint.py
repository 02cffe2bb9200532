"""Joint kernels: values, preparation, and what is refused."""

import numpy as np
import pytest

from maxmargin.core.data.pairs import PairList
from maxmargin.kernels import (
    FeatureKernel,
    Joint,
    Linear,
    PairFunction,
    Polynomial,
    Rbf,
    SameOutput,
    named_kernel,
)


class Outer:
    """psi(x, y) = x (x) e(y)."""

    def joint_feature(self, x, y):
        return np.outer(x, np.eye(3)[y]).ravel()


def values(kernel, X, y):
    pairs = kernel.prepared(PairList(list(X), list(y)))
    return kernel(pairs, pairs)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def data(rng):
    return rng.normal(size=(5, 2)), [0, 2, 1, 1, 0]


def test_all_ways_to_write_the_linear_joint_kernel_agree(data):
    X, y = data
    psi = np.array([Outer().joint_feature(*pair) for pair in zip(X, y)])
    ways = [
        Joint(Linear(), np.eye(3)),
        Joint(lambda a, b: a @ b, lambda s, t: float(s == t)),
        PairFunction(lambda p, q: (p[0] @ q[0]) * (p[1] == q[1])),
        FeatureKernel(Outer(), Linear()),
    ]
    for kernel in ways:
        kernel.validate()
        np.testing.assert_allclose(values(kernel, X, y), psi @ psi.T, atol=1e-12)


def test_a_table_is_looked_up_by_numbers(rng):
    A = rng.normal(size=(6, 4))
    joint = Joint(A @ A.T, np.eye(2))
    found = joint(PairList([5, 0], [1, 1]), PairList([2, 3], [1, 0]))
    np.testing.assert_allclose(found, (A @ A.T)[[5, 0]][:, [2, 3]] * [[1.0, 0.0]])
    with pytest.raises(ValueError, match="inputs has 6 rows, but row 6 was asked for"):
        joint(PairList([6], [0]), PairList([0], [0]))
    with pytest.raises(TypeError, match="must be numbers of its rows"):
        joint(PairList(["cat"], [0]), PairList([0], [0]))


def test_sums_add_values_and_parts_of_prepared_pairs(data):
    X, y = data
    total = FeatureKernel(Outer(), Polynomial(2)) + SameOutput(3.0)
    total.validate()
    expected = values(total.first, X, y) + values(total.second, X, y)
    np.testing.assert_allclose(values(total, X, y), expected)
    pairs = total.prepared(PairList(list(X), y))
    some = np.array([3, 1])
    np.testing.assert_allclose(total(pairs.take(some), pairs), expected[some])


def test_functions_of_objects_are_called_once_for_each_object():
    calls = []

    def overlap(s, t):
        calls.append((s, t))
        return float(len(s & t))

    one, two = {1, 2}, {2, 3}
    joint = Joint(overlap, np.eye(3))
    found = joint(PairList([one] * 3, [0, 1, 2]), PairList([two, two], [0, 1]))
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert len(calls) == 1


def test_kernels_that_a_file_might_hold_are_checked():
    with pytest.raises(ValueError, match="outputs"):
        Joint(Rbf(1.0), np.ones((2, 3))).validate()
    with pytest.raises(ValueError, match="gamma"):
        Joint(Rbf(-1.0), np.eye(2)).validate()
    with pytest.raises(ValueError, match="kernel on inputs is of type int"):
        Joint(3, np.eye(2)).validate()
    with pytest.raises(ValueError, match="out of range"):
        SameOutput(-1.0).validate()


def test_a_joint_kernel_is_no_kernel_of_inputs():
    with pytest.raises(TypeError, match="compares pairs"):
        named_kernel(PairFunction(lambda p, q: 1.0))


def test_vectors_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="vectors of numbers of one length"):
        Joint(Linear(), np.eye(1)).prepared(PairList([[1.0], [1.0, 2.0]], [0, 0]))
