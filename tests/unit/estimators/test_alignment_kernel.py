"""Kernels on the positions of alignments."""

import numpy as np
import pytest

from maxmargin import AlignmentSVM, load, save
from maxmargin.kernels import Linear
from maxmargin.structures.alignment import Pair, View, learn_positions


def pairs(count, seed=0):
    """Positions that match where their numbers agree up to sign."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(count):
        size = int(rng.integers(6, 10))
        keep = np.flatnonzero(rng.random(size) < 0.85)
        keep = keep if len(keep) > 1 else np.arange(2)
        own = rng.uniform(-1, 1, size=(size, 1))
        other = rng.choice([-1.0, 1.0], size=(len(keep), 1)) * own[keep]
        columns = np.full((size, 2), -1)
        columns[:, 0] = np.arange(size)
        columns[keep, 1] = np.arange(len(keep))
        X.append((
            {"residue": "a" * size, "area": own},
            {"residue": "a" * len(keep), "area": other},
        ))  # fmt: skip
        Y.append(columns)
    return X, Y


@pytest.mark.filterwarnings("ignore:weights stay close to zero")
def test_the_linear_kernel_is_the_pair_of_its_vectors():
    X, Y = pairs(6)
    view = View(("area",), real=True)
    options = {"C": 1.0, "tol": 1e-3, "gaps": "linear"}
    letters = (Pair(View(("residue",)), View(("residue",))),)
    bare = [tuple({"residue": s["residue"]} for s in pair) for pair in X]
    only = AlignmentSVM(**options, features=(Pair(view, view),)).fit(X, Y)
    vectors = [tuple({"area": s["area"]} for s in pair) for pair in X]
    kernel = AlignmentSVM(**options, features=(), kernel=Linear()).fit(vectors, Y)
    assert kernel.result_.dual == pytest.approx(only.result_.dual, rel=3e-3)
    plain = AlignmentSVM(**options, features=letters).fit(bare, Y)
    both = AlignmentSVM(**options, features=letters, kernel=Linear()).fit(X, Y)
    assert both.result_.dual < plain.result_.dual


@pytest.mark.parametrize("method", ["exact", "nystroem", "cholesky"])
def test_kernels_align_what_vectors_do_not(method, tmp_path):
    X, Y = pairs(25)
    new, truth = pairs(15, seed=1)
    linear = AlignmentSVM(C=500.0, features="profile").fit(X, Y)
    options = {"kernel": "rbf", "kernel_method": method, "n_basis": 10}
    model = AlignmentSVM(C=500.0, **options, random_state=0).fit(X, Y)
    assert model.score(new, truth) > linear.score(new, truth) + 0.15
    save(model, tmp_path / "aligner")
    again = load(tmp_path / "aligner")
    for a, b in zip(again.predict(new), model.predict(new), strict=True):
        assert np.array_equal(a, b)


def test_rows_of_positions_and_what_is_refused():
    positions = learn_positions([{"residue": "ba", "area": np.ones((2, 3))}])
    rows = positions.rows({"residue": "bz", "area": np.zeros((2, 3))}, "here")
    assert rows.tolist() == [[0, 1, 0, 0, 0], [0, 0, 0, 0, 0]]
    with pytest.raises(ValueError, match="here: track 'area' is missing"):
        positions.rows("ab", "here")
    with pytest.raises(ValueError, match="vectors of 2 numbers, not 3"):
        positions.rows({"residue": "a", "area": np.zeros((1, 2))}, "here")
    X, Y = pairs(3)
    with pytest.raises(ValueError, match="'cpsp' is not available for alignments"):
        AlignmentSVM(kernel="rbf", kernel_method="cpsp").fit(X, Y)
    with pytest.raises(ValueError, match="n_basis=0: a whole number, at least 1"):
        AlignmentSVM(kernel="rbf", n_basis=0).fit(X, Y)
    with pytest.raises(MemoryError, match=r"needs .* MB, more than"):
        AlignmentSVM(kernel="rbf", kernel_method="exact", memory=100.0).fit(X, Y)
