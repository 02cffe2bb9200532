"""`check_structure` finds what is wrong: one broken structure per complaint."""

import pickle
from dataclasses import dataclass

import cases
import numpy as np
import pytest
from cases.own import Knapsack

from maxmargin.core import Found, Layers, Rows
from maxmargin.structures import (
    Matching,
    StructureError,
    check_structure,
    report_structure,
)

CASES = cases.modules()


def sample(name):
    return CASES[name].tiny(np.random.default_rng(1))


@pytest.mark.parametrize("name", CASES)
def test_good_structures_pass(name):
    structure, X, Y = sample(name)
    loss = CASES[name].LOSSES[-1]
    report = report_structure(structure, X, Y, loss)
    assert report.ok, str(report)
    assert "argmax is not beaten" in str(report)


def test_an_object_with_three_methods_passes():
    _, X, Y = sample("own")
    assert check_structure(Knapsack(), X, Y).ok


class Greedy(Knapsack):
    """Forgets the last choice."""

    def choices(self, x):
        return super().choices(x)[:-1]


class Unaugmented(Knapsack):
    """Never adds the loss."""

    def argmax(self, w, x, y=None):
        return super().argmax(w, x)


class Minimum(Knapsack):
    """Looks for the worst."""

    def argmax(self, w, x, y=None):
        return super().argmax(-w, x, y)


class Negative(Knapsack):
    def loss(self, y, y_hat):
        return super().loss(y, y_hat) - 1.0


class Rewarding(Knapsack):
    """Zero at the truth, negative elsewhere."""

    def loss(self, y, y_hat):
        return -super().loss(y, y_hat)


class Growing(Knapsack):
    """Psi as long as the output."""

    def joint_feature(self, x, y):
        return np.append(super().joint_feature(x, y), np.zeros(len(y)))


class Endless(Knapsack):
    def joint_feature(self, x, y):
        return super().joint_feature(x, y) / 0.0


class Moody(Knapsack):
    """Answers by chance."""

    rng = np.random.default_rng(0)

    def argmax(self, w, x, y=None):
        all_of_them = self.choices(x)
        return all_of_them[self.rng.integers(len(all_of_them))]


class Scribbler(Knapsack):
    def argmax(self, w, x, y=None):
        best = super().argmax(w, x, y)
        w *= 1.0001
        return best


class Eraser(Knapsack):
    def joint_feature(self, x, y):
        out = super().joint_feature(x, y)
        x[0] += 1e-9
        return out


class Anonymous(Knapsack):
    def __init__(self, most=2):
        super().__init__(most)
        self.key = lambda z: z


class Unfinished:
    def joint_feature(self, x, y):
        return np.zeros(3)


BROKEN = [
    (Greedy, "argmax is not beaten: example .* scores"),
    (Unaugmented, "with 1 times the loss added.*the output found scores"),
    (Minimum, "argmax is not beaten"),
    (Negative, "the loss of an output is -1.0"),
    (Rewarding, "the loss of an output is -1.0"),
    (Growing, "psi: raised ValueError|bind and encode|length"),
    (Endless, "psi of example 0 is not finite|RuntimeWarning"),
    (Moody, "different answers to the same question"),
    (Scribbler, "read-only"),
    (Eraser, "X is altered"),
    (Anonymous, "cannot be pickled"),
    (Unfinished, "lacks loss, argmax"),
]


@pytest.mark.parametrize(
    ("owner", "message"), BROKEN, ids=lambda v: getattr(v, "__name__", "")
)
def test_broken_objects_are_told_so(owner, message):
    _, X, Y = sample("own")
    with pytest.raises(StructureError, match=message):
        check_structure(owner(), X, Y)


@dataclass(frozen=True)
class Overstated(Matching):
    """Scores that are not those of the outputs."""

    def argmax(self, x, ids, w, augment=None):
        found = super().argmax(x, ids, w, augment)
        return Found(found.labels, found.score + 0.1, found.score + 0.1)


@dataclass(frozen=True)
class OutOfRange(Matching):
    """Coordinates beyond dim."""

    def features(self, x, ids, labels):
        rows = super().features(x, ids, labels)
        return Rows(rows.ptr, rows.idx + 1, rows.val)


@dataclass(frozen=True)
class Misfused(Matching):
    """cuts for half of the loss."""

    def cuts(self, x, ids, w, augment):
        half = augment._replace(weight=0.5 * augment.weight)
        return super().cuts(x, ids, w, half)


@dataclass(frozen=True)
class Ordered(Matching):
    """Always looks at the first examples, whoever is asked about."""

    def argmax(self, x, ids, w, augment=None):
        return super().argmax(x, np.arange(len(ids)) % x.n, w, augment)


@dataclass(frozen=True)
class Lossy(Matching):
    """Decodes to something else."""

    def decode_labels(self, x, labels):
        return [row[::-1] for row in labels.unpack()]


@dataclass(frozen=True)
class Boastful(Matching):
    """Lists outputs with scores that are too low."""

    def nbest(self, x, ids, w, k, augment=None):
        found = self.argmax(x, ids, w)
        ptr = np.arange(len(ids) + 1)
        zeros = np.zeros(len(ids))
        return Layers(ptr, found.labels, found.score - 1.0, zeros)


@dataclass(frozen=True)
class Short(Matching):
    """Loses an example."""

    def encode(self, X):
        return super().encode(X[1:])


@dataclass(frozen=True)
class Unbound(Matching):
    def bind(self, X, Y):
        return self


@dataclass(frozen=True)
class Underbound(Matching):
    """Not exact, and its bound is none."""

    exact = False

    def argmax(self, x, ids, w, augment=None):
        found = super().argmax(x, ids, -w, augment)
        psi = self.features(x, ids, found.labels).dot(w)
        if augment is not None:
            truth = augment.truth.take(ids)
            psi = psi + augment.weight[ids] * augment.loss.value(truth, found.labels)
        return Found(found.labels, psi, psi)


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (Overstated(), "argmax says .* but <w, psi> of the output it returned is"),
        (OutOfRange(), "outside 0 .. dim - 1"),
        (Misfused(), "cuts: example"),
        (Ordered(), "depend on the order|scores agree"),
        (Lossy(), "outputs survive encoding"),
        (Boastful(), "the best output of nbest scores"),
        (Short(), "encode made 5 examples of 6"),
        (Unbound(), "dim is 0 after bind"),
        (Underbound(), "the bound given scores"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_broken_batched_structures_are_told_so(structure, message):
    _, X, Y = sample("matching")
    with pytest.raises(StructureError, match=message):
        check_structure(structure, X, Y)


def test_all_complaints_are_in_one_report():
    _, X, Y = sample("matching")
    report = report_structure(Overstated(), X, Y)
    assert not report.ok
    assert "psi" in report.passed
    assert str(report).count("PROBLEM") == len(report.problems) >= 1
    assert pickle.loads(pickle.dumps(report)).problems == report.problems
