"""Tiny problems of classes with a kernel: all methods, two classes and three."""

from fractions import Fraction

import numpy as np

from benchmarks.certificates.exact import integers
from maxmargin import KernelSVM
from maxmargin.kernels import Polynomial

METHODS = ("exact", "nystroem", "cholesky", "sampled", "cpsp")


class KernelClasses:
    """y is a class; K is (<x, x'> + 1)^2, f_c a sum over points of the kernel."""

    name = "kernel classes"
    trainers = ("auto", "block-dual", "one-slack")
    classes = 3

    def __init__(self, rng, scale):
        self.X = min(scale, 1e2) * rng.normal(size=(6, 2)).round(3)
        self.y = np.arange(6) % self.classes
        self.method = METHODS[int(rng.integers(len(METHODS)))]
        self.constant = bool(rng.integers(2))

    def made(self, **settings):
        model = KernelSVM(
            kernel=Polynomial(2), kernel_method=self.method, n_basis=4,
            fit_intercept=self.constant, random_state=0, **settings,
        )  # fmt: skip
        return model.fit(self.X, self.y)

    def outputs(self, i):
        return range(self.classes)

    def loss(self, i, y):
        return int(y != self.y[i])

    def scores(self, model):
        """||f||^2, with the constants if they count, and scores of all classes.

        Scores are integers over the last value.
        """
        points = np.asarray(model.expansion_.points)
        rows, shift = integers(np.concatenate([points, self.X]).ravel())
        rows = [rows[k : k + 2] for k in range(0, len(rows), 2)]
        points, X = rows[: len(points)], rows[len(points) :]
        width, beta = model.expansion_.width, model.expansion_.beta
        rest = model.structure_.split_weights(model.result_.w)[1]
        constants = np.asarray(rest).ravel() if np.size(rest) else np.zeros(width)
        numbers, fine = integers([*np.asarray(beta).ravel(), *constants])
        one = 1 << (4 * shift)  # of the kernel
        constants = numbers[-width:]
        beta = [numbers[a : len(numbers) - width : width] for a in range(width)]

        def f(x, a):
            each = zip(points, beta[a], strict=True)
            return sum(b * polynomial(p, x, shift) for p, b in each)

        square = sum(
            b * f(p, a)
            for a in range(width)
            for p, b in zip(points, beta[a], strict=True)
        )
        if not self._free(model):
            square += one * sum(c * c for c in constants)
        table = []
        for x in X:  # all times two: those of two classes are halves
            values = [2 * (f(x, a) + one * constants[a]) for a in range(width)]
            if width == 1:
                values = [-values[0] // 2, values[0] // 2]
            table.append(dict(enumerate(values)))
        return Fraction(square, one << (2 * fine)), table, one << (fine + 1)

    def _free(self, model):
        """Whether the constant is that of the classical machine, which is free."""
        plain = model.penalty == "linear" and model.solver == "auto"
        return self.classes == 2 and self.method == "exact" and plain


class KernelSigns(KernelClasses):
    """The same with two classes, scored by plus and minus half a function."""

    name = "kernel, two classes"
    classes = 2

    @property
    def trainers(self):
        """Where the constant of the classical machine is free, that is another problem."""
        free = self.method == "exact" and self.constant
        return ("auto",) if free else KernelClasses.trainers


def polynomial(p, q, shift):
    """(<p, q> + 1)^2 of integers over 2^shift, over 2^(4 shift)."""
    inner = sum(a * b for a, b in zip(p, q, strict=True)) + (1 << (2 * shift))
    return inner * inner
