"""`maxmargin demo`: structure beats independent digits, with a certificate."""

from __future__ import annotations

import sys

import numpy as np

from maxmargin.cli.terminal import folded
from maxmargin.core.compiled.compiling import working_time
from maxmargin.datasets.postcodes import LENGTH, Written, written_postcodes
from maxmargin.estimators.multiclass import MulticlassSVM
from maxmargin.estimators.sequences.chain import ChainSVM


def run(path: str, seed: int = 0) -> int:
    """Train both models, print what they do, save the picture."""
    train, test = written_postcodes(seed=seed)
    print(
        f"{len(train.digits)} handwritten postcodes to learn from, "
        f"{len(test.digits)} to test\n"
    )
    alone = _read_alone(train, test)
    together, model, seconds = _read_together(train, test)
    result = model.result_
    print("                  digits right   postcodes right")
    print(f"  digit by digit  {_right(test, alone)}")
    print(f"  as sequences    {_right(test, together)}")
    print(f"\ntraining took {seconds:.1f} s")
    print(folded(f"certificate: {result.summary()}", sys.stdout))
    print(folded(result.meaning(), sys.stdout))
    _picture(path, test, alone, together)
    return 0


def _read_alone(train: Written, test: Written) -> np.ndarray:
    flat = MulticlassSVM(C=0.1)
    flat.fit(np.vstack(train.images), np.concatenate(train.digits))
    return flat.predict(np.vstack(test.images)).reshape(-1, LENGTH)


def _read_together(train: Written, test: Written) -> tuple[np.ndarray, ChainSVM, float]:
    begin = working_time()
    model = ChainSVM(C=0.1, order=2).fit(train.images, train.digits)
    seconds = working_time() - begin
    read = model.predict(test.images)
    return np.array([list(row) for row in read]), model, seconds


def _right(test: Written, read: np.ndarray) -> str:
    """Shares of digits and of postcodes that are right."""
    right = np.array(test.digits) == read
    return f"{right.mean():11.1%} {right.all(axis=1).mean():17.1%}"


def _picture(path: str, test: Written, alone: np.ndarray, together: np.ndarray) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("no picture: pip install 'maxmargin[reports]' for matplotlib")
        return
    from maxmargin.reports.drawing.postcodes import draw_postcodes

    truth = np.array(test.digits)
    better = (alone != truth).sum(axis=1) - (together != truth).sum(axis=1)
    show = np.argsort(-better, kind="stable")[[0, 1, 2, 3, len(truth) // 2]]
    draw_postcodes(
        path,
        [test.images[i] for i in show],
        truth[show].tolist(),
        alone[show].tolist(),
        together[show].tolist(),
        "Postcodes in handwritten digits,\nread digit by digit and as a sequence",
    )
    print(f"picture: {path}")
