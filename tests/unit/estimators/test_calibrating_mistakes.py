"""Nothing of an earlier fit or of other data goes into probabilities and joint kernels."""

import numpy as np
import pytest
from small import models as small

from maxmargin import ChainSVM, KernelSVM, MulticlassSVM, StructuralSVM
from maxmargin.kernels.functions import Polynomial
from maxmargin.kernels.joint import Joint

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).round(4)
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)


def tokens():
    Z = [RNG.normal(size=(4, 2)) for _ in range(12)]
    return Z, [["N" if row[0] > 0 else "V" for row in z] for z in Z]


@pytest.mark.parametrize("make", [
    lambda: (KernelSVM(), X, Y), lambda: (MulticlassSVM(kernel="rbf"), X, Y),
    lambda: (MulticlassSVM(), X, Y),
    lambda: (KernelSVM(kernel_method="cpsp", n_basis=4), X, Y),
    lambda: (ChainSVM(kernel="rbf"), *tokens()), lambda: (ChainSVM(), *tokens()),
])  # fmt: skip
def test_a_new_fit_ends_the_calibration(make):
    model, data, truth = make()
    model.fit(data, truth).calibrate(data, truth)
    assert "calibration_" in vars(model)
    model.fit(data[::2], truth[::2])
    with pytest.raises((ValueError, AttributeError), match=r"calibrat|predict_proba"):
        model.predict_proba(data) if isinstance(data, np.ndarray) else model.marginals(
            data
        )


def test_labels_to_calibrate_on():
    data, truth = small.sentences()
    model = ChainSVM().fit(data, truth)
    with pytest.raises(ValueError, match="nothing to calibrate on"):
        model.calibrate(data, [[None] * len(row) for row in truth])
    model.calibrate(data, truth)
    for coverage in ("x", [0.9], None, np.nan, 0.0, 1.0):
        with pytest.raises(ValueError, match="is not between 0 and 1"):
            model.predict_set(data, coverage)


class Signs:
    """Classes 0 and 1 of vectors."""

    def loss(self, y, other):
        return float(y != other)

    def outputs(self, x):
        return [0, 1]


def product(p, q):
    return float(p[0] @ q[0]) * (p[1] == q[1])


def test_joint_kernels_are_asked_for_numbers():
    items, truth = list(X), (X[:, 0] > 0).astype(int).tolist()
    model = StructuralSVM(Signs(), C=1.0, kernel=product).fit(items, truth)
    with pytest.raises(ValueError, match="not finite"):
        model.predict([np.full(3, np.nan)])
    with pytest.raises(ValueError, match="a joint kernel has none"):
        StructuralSVM(Signs(), kernel=product, regularizer="l1").fit(items, truth)
    joint = Joint(Polynomial(2), np.eye(3) + 0.5)
    with pytest.raises(ValueError, match="kernel has none"):
        MulticlassSVM(kernel=joint, regularizer="l1").fit(X, Y)


def test_a_weight_of_two_is_two_copies_under_a_joint_kernel():
    items, truth = list(X), (X[:, 0] > 0.3).astype(int).tolist()
    weight = 1.0 + np.arange(40) % 2
    rows = np.repeat(np.arange(40), weight.astype(int))
    made = StructuralSVM(Signs(), C=0.5, kernel=product, tol=1e-6)
    once = made.fit(items, truth, weight).result_.primal
    copies = made.fit([items[i] for i in rows], [truth[i] for i in rows])
    assert np.isclose(once, copies.result_.primal, rtol=1e-5)
    none = np.arange(40) >= 10
    without = made.fit(items, truth, none.astype(float)).result_.primal
    assert np.isclose(
        without, made.fit(items[10:], truth[10:]).result_.primal, rtol=1e-5
    )


def test_hidden_labels_and_sparse_weights():
    data, truth = small.sentences()
    hidden = [[None, *row[1:]] for row in truth]
    with pytest.raises(ValueError, match="hidden parts"):
        ChainSVM(regularizer="l1").fit(data, hidden)
