"""Reports of machines with kernels and of structures of one's own."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from maxmargin import KernelSVM, MulticlassSVM, StructuralSVM


@pytest.mark.parametrize("labels", [2, 3])
def test_hardest_rows_agree_with_those_of_weights(labels):
    rng = np.random.default_rng(labels)
    y = rng.integers(labels, size=60)
    X = np.eye(labels)[y] + rng.normal(scale=0.8, size=(60, labels))
    plain = MulticlassSVM(C=1.0, tol=1e-9).fit(X, y)
    kernel = MulticlassSVM(C=1.0, tol=1e-9, kernel="linear").fit(X, y)
    by_weights = {case.example: case for case in plain.hardest(X, y, 60)}
    for case in kernel.hardest(X, y, 9):
        other = by_weights[case.example]
        assert case.short_by == pytest.approx(other.short_by, abs=1e-3)
        assert case.best[0][0] == other.best[0][0] and case.right == other.right
        few, weighed = kernel.best_few(X[case.example]), plain.best_few(X[case.example])
        assert [label for label, _ in few] == [label for label, _ in weighed]
        gaps = [scores[0][1] - scores[1][1] for scores in (few, weighed)]
        assert gaps[0] == pytest.approx(gaps[1], abs=1e-3)


def test_the_report_of_a_kernel_draws_the_worst_mistakes(tmp_path):
    X, y = make_moons(120, noise=0.4, random_state=0)
    model = KernelSVM(C=1.0, kernel="rbf", gamma=1.0).fit(X[:60], y[:60])
    worst = model.hardest(X[60:], y[60:], 3)
    scores = model.decision_function(X[60:])
    shortest = np.argsort(np.where(y[60:] == 1, scores, -scores))[:3]
    assert [case.example for case in worst] == shortest.tolist()
    model.report(tmp_path / "page.html", X[60:], y[60:])
    text = (tmp_path / "page.html").read_text()
    assert f"example {worst[0].example}: " in text
    assert "features of outputs" not in text  # a kernel has no weights of features


def test_a_class_without_training_rows_is_the_hardest(tmp_path):
    X, y = make_moons(80, noise=0.1, random_state=0)
    model = KernelSVM(C=1.0, kernel="rbf", gamma=1.0).fit(X[:60], y[:60])
    new = np.append(y[60:79], 7)
    worst = model.hardest(X[60:], new, 1)[0]
    assert worst.example == 19 and not worst.possible and not worst.right
    model.report(tmp_path / "page.html", X[60:], new)
    text = (tmp_path / "page.html").read_text()
    assert "the truth has parts that training has not shown" in text


class Sign:
    def joint_feature(self, x, y):
        return y * np.asarray(x)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, w, x, y=None):
        def value(z):
            return w @ self.joint_feature(x, z) + (0 if y is None else self.loss(y, z))

        return max((-1, 1), key=value)


@pytest.mark.parametrize(("truth", "shown"), [([1, -1], "0.0000"), ([1, 1], "0.5000")])
def test_the_report_of_an_own_structure_shows_its_loss_and_its_name(
    tmp_path, truth, shown
):
    X = [[1.0, 0.2], [-2.0, 0.1]]
    model = StructuralSVM(Sign(), C=10.0).fit(X, [1, -1])
    model.report(tmp_path / "page.html", X, truth)
    text = (tmp_path / "page.html").read_text()
    assert f"<b>{shown}</b><span>mean loss of the predictions</span>" in text
    assert "Sign" in text and "OwnStructure" not in text
