"""Tiny problems of classes with a kernel: all methods, two classes and three."""

from fractions import Fraction

import numpy as np

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
        """||f||^2, with the constants if they count, and scores of all classes."""
        points = [_fractions(p) for p in np.asarray(model.expansion_.points)]
        beta = [_fractions(b) for b in model.expansion_.beta]  # (points, columns)
        rest = model.structure_.split_weights(model.result_.w)[1]
        width = model.expansion_.width
        constants = _fractions(rest) or [Fraction(0)] * width
        square = Fraction(0)
        for a in range(width):
            for p, b in zip(points, beta, strict=True):
                square += b[a] * self._f(p, points, beta, a)
        if not self._free(model):
            square += sum((c * c for c in constants), Fraction(0))
        table = []
        for x in map(_fractions, self.X):
            f = [self._f(x, points, beta, a) + constants[a] for a in range(width)]
            table.append(dict(enumerate(f if len(f) > 1 else [-f[0] / 2, f[0] / 2])))
        return square, table

    def _f(self, x, points, beta, a):
        return sum(
            (b[a] * _kernel(p, x) for p, b in zip(points, beta, strict=True)),
            Fraction(0),
        )

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


def _fractions(values):
    return [Fraction(float(v)) for v in np.asarray(values).ravel()]


def _kernel(p, q):
    return (sum(a * b for a, b in zip(p, q, strict=True)) + 1) ** 2
