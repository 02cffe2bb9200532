"""What a path over C and a cross-validated C cost, in fits.

    python -m benchmarks.path

OCR letters, one fold for training; CPU seconds, loops compiled before the clock starts.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from benchmarks.tasks import data_folder, ocr_parts
from maxmargin.estimators import PathCV, StructuralSVM
from maxmargin.structures.chain import Chain

CS = np.logspace(-3, 0, 10)


def clocked(task):
    begin = time.process_time()
    out = task()
    return out, time.process_time() - begin


def main() -> None:
    warnings.simplefilter("ignore")
    (X, Y), test = ocr_parts(data_folder(), 0, False)
    model = StructuralSVM(Chain(start_end=False))
    StructuralSVM(Chain(start_end=False), tol=0.5).fit_path(X[:99], Y[:99], [0.1, 0.2])
    path, total = clocked(lambda: model.fit_path(X, Y, CS))
    dear, single = clocked(
        lambda: StructuralSVM(Chain(start_end=False), C=CS[-1]).fit(X, Y)
    )
    print(f"path of {len(CS)} values of C from {CS[0]:g} to {CS[-1]:g}: {total:.2f} s")
    print(f"one fit at C={CS[-1]:g}: {single:.2f} s; ratio {total / single:.2f}")
    last, cold = path[-1], dear.result_
    away = np.linalg.norm(last.w - cold.w) / np.linalg.norm(cold.w)
    print(
        f"at that C: primal {last.primal:.3f} (path) {cold.primal:.3f} (cold), gaps",
        end="",
    )
    print(f" {last.gap:.1e} {cold.gap:.1e}, weights differ by {away:.1e}")
    for cv in (1, 3):
        chosen, took = clocked(
            lambda cv=cv: PathCV(StructuralSVM(Chain(start_end=False)), cv=cv).fit(X, Y)
        )
        plain, once = clocked(
            lambda C=chosen.C_: StructuralSVM(Chain(start_end=False), C=C).fit(X, Y)
        )
        print(
            f"PathCV, {cv} fold(s): C={chosen.C_:.3g} of {len(chosen.scores_)} tried,",
            end="",
        )
        print(
            f" {took:.2f} s; one fit at this C {once:.2f} s; ratio {took / once:.2f};",
            end="",
        )
        print(f" mean test loss {-plain.score(*test):.3f} letters per word")


if __name__ == "__main__":
    main()
