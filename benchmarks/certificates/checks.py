"""Fits by all trainers, and whether their certificates are true.

Tiny problems are trained and their certificates checked with code that shares nothing
with the library: features and losses are written out here, all outputs are listed, and
the objective

    P(w) = 1/2 ||w||^2 + sum_i C_i xi_i        (squared penalty: C_i xi_i^2 / 2,
                                                summed: xi of all outputs, L1: ||w||_1)

is computed in fractions at the weights of the result; every other model is saved and
loaded before. With P* the lowest exact objective of all runs on a problem, a certificate
is false if

    its primal differs from P(w) by more than the rounding error it admits,
    its dual exceeds P*,   its gap is not theirs,   or it converged above the tolerance.

No w can have an objective below the optimum, so a dual above P* is above the optimum.
"""

import io
import warnings
from fractions import Fraction

import numpy as np

from benchmarks.certificates.exact import exact_primal
from benchmarks.certificates.kernel_problems import KernelClasses, KernelSigns
from benchmarks.certificates.more_problems import (
    Cliques,
    Dependencies,
    JointKernels,
    Segments,
)
from benchmarks.certificates.problems import (
    Chains,
    Classes,
    HiddenChains,
    Matchings,
    Motifs,
    Networks,
)
from benchmarks.certificates.searched_problems import (
    Alignments,
    Forests,
    Homologs,
    Items,
    Orders,
    Partitions,
    Rankings,
    Trees,
)
from maxmargin import load, save

ROUNDING = Fraction(1, 10**7)  # of values, and of the primal where squared losses enter
SCALES = [1e-6, 1e-3, 0.1, 1.0, 3.0, 1e2, 1e4, 1e6]
STEPS = (300, 30, 30, 10)  # at most: certificates of unfinished runs must be true, too
TRAINERS = [
    "auto", "block-dual", "lanes", "n-slack", "n-slack-block", "one-slack", "bcfw", "sdm",
    "cocoa", "smo", "subgradient",
]  # fmt: skip
SUMMED = ["auto", "sdcd", "lse-cutting-plane", "lse-n-slack"]
SPARSE = ["auto", "proximal-l1"]
FORMS = [
    ("margin", "linear", "l2"), ("slack", "linear", "l2"), ("margin", "squared", "l2"),
    ("slack", "squared", "l2"), ("margin", "summed", "l2"), ("margin", "linear", "l1"),
    ("slack", "linear", "l1"),
]  # fmt: skip
PROBLEMS = [
    Classes, Chains, Matchings, Networks, Motifs, Segments, Dependencies, Cliques,
    JointKernels, HiddenChains, Trees, Alignments, Homologs, Rankings, Orders, Forests,
    Items, Partitions, KernelClasses, KernelSigns,
]  # fmt: skip
EQUAL = ("exact", "basis", "estimate")  # the primal is that of the result itself
HIDDEN = (Motifs, HiddenChains, Rankings, Orders, Forests)
PLAIN = (
    *HIDDEN,
    Segments,
    Dependencies,
    JointKernels,
    Homologs,
    Partitions,
    KernelClasses,
    KernelSigns,
)  # no L1 there


def fits(number, seed, problems=PROBLEMS):
    """Problems with their settings, at random."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        made = problems[k % len(problems)]
        scale = SCALES[int(rng.integers(len(SCALES)))]
        C = float(10.0 ** rng.integers(-10, 11))
        forms = FORMS[:2] if made in HIDDEN else FORMS[:5] if made in PLAIN else FORMS
        form = forms[(k // len(problems)) % len(forms)]
        tol = float(10.0 ** -rng.integers(1, 13))
        yield made(np.random.default_rng(seed * 10**6 + k), scale), C, form, tol


def trainers_of(form):
    """Names of the trainers for a formulation."""
    if form[2] == "l1":
        return SPARSE
    return SUMMED if form[1] == "summed" else TRAINERS


def check(problem, C, form, tol, trainers=None, steps=STEPS[0]):
    """Results of all trainers on one problem: (trainer, what is false or "")."""
    rescaling, penalty, regularizer = form
    settings = {"C": C, "rescaling": rescaling, "penalty": penalty, "tol": tol}
    if regularizer != "l2":
        settings["regularizer"] = regularizer
    runs = []
    known = [t for t in trainers_of(form) if t in getattr(problem, "trainers", [t])]
    for k, trainer in enumerate(known if trainers is None else trainers):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = problem.made(solver=trainer, max_iter=steps, **settings)
        except (ValueError, MemoryError) as error:  # this trainer cannot do that
            runs.append((trainer, f"refused: {error}", None, None))
            continue
        model = _through_file(problem, model) if k % 2 else model
        exact = exact_primal(problem, model, C, rescaling, penalty, regularizer)
        runs.append((trainer, "", model.result_, exact))
    best = min((run[3] for run in runs if run[2] is not None), default=None)
    hidden = hasattr(problem, "truths")
    for trainer, told, result, exact in runs:
        if result is None:
            yield trainer, told
            continue
        above = _above(problem, result, C)
        yield trainer, false(result, exact, best, hidden, tol, above)


def _above(problem, result, C):
    """What the slacks of outputs that were not found may add, where this is known.

    For the summed penalty the primal has the slacks of the outputs found, and the notes
    say that no other is violated by more than `outside_bound`. If that is zero, the
    primal must be the exact one.
    """
    each = result.notes.get("outside_bound")
    if each is None:  # a greedy search: nothing is known about what it misses
        return Fraction(10**400)
    number = sum(len(list(problem.outputs(i))) for i in range(len(problem.y)))
    return Fraction(float(C)) * number * Fraction(float(each))


def _through_file(problem, model):
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return load(file, own=problem.own() if hasattr(problem, "own") else ())


def false(result, exact, best, hidden, tol, above):
    """What is false in the certificate of a result, or "true".

    `above` is how much the slacks of outputs that were not found may add. Values may
    differ from the exact ones by the rounding error that the result itself admits;
    "true within rounding" says that this was needed.
    """
    primal, dual = Fraction(float(result.primal)), Fraction(float(result.dual))
    room = ROUNDING * max(abs(exact), Fraction(1, 10**300))
    admitted = Fraction(0 if np.isnan(result.rounding) else float(result.rounding))
    wide = max(room, admitted)
    low, high = primal - wide, primal + wide
    if result.certificate == "reduced":
        high += above
    elif result.certificate not in EQUAL:
        low = -Fraction(10**400)  # an upper bound, and no more than that
    if not low <= exact <= high:
        return f"false: primal {float(primal)!r}, exactly {float(exact)!r}"
    told = "true" if abs(primal - exact) <= room else "true within rounding"
    if result.certificate not in EQUAL and abs(primal - exact) > wide:
        told = "true as a bound"
    # Duals of convex problems above the objective, of a basis, or of a sample.
    if hidden or result.certificate in ("basis", "estimate"):
        return told
    if dual > best * (1 + ROUNDING):
        return f"false: dual {float(dual)!r}, but {float(best)!r} is reached"
    size = max(abs(primal), Fraction(1, 10**300))
    gap, given = max(primal + admitted - dual, 0) / size, Fraction(float(result.gap))
    if abs(gap - given) > ROUNDING * max(1, gap):
        return f"false: gap {result.gap!r}, not {float(gap)!r}"
    if result.status.name == "CONVERGED" and result.gap > tol:
        return f"false: converged to {result.gap!r}, which is above {tol}"
    return told
