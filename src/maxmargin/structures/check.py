"""What is wrong with a structure: the contract of `core/structure.py`, tried on data.

For several w, every output that argmax has ever returned for an example, its truth,
and the truths of examples of the same size are candidates; argmax must not be beaten
by any of them, with or without the loss. Besides: psi and score agree, the loss is
zero at the truth and never negative, nothing given is altered, results repeat, do not
depend on the batch, and survive pickling.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Augment, ByLoss, Found, Layers, NBest, Structure
from maxmargin.losses.labels import Hamming
from maxmargin.structures.python_structure import as_structure, own_loss

TRIALS = 8  # weights tried
MOST = 30  # examples looked at
CLOSE = 1e-7  # relative difference of scores that counts as equal


class StructureError(ValueError):
    """A structure breaks the contract; the message says where."""


@dataclass
class Report:
    """What was tried, and what went wrong.

    Attributes
    ----------
    passed : list of str
        Checks without a complaint.
    problems : list of str
        Complaints, a sentence each.
    """

    passed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.problems

    def __str__(self) -> str:
        """One line per check."""
        good = [f"  ok       {name}" for name in self.passed]
        bad = [f"  PROBLEM  {text}" for text in self.problems]
        return "\n".join(bad + good)


def check_structure(
    structure: Any, X: Sequence[Any], Y: Sequence[Any], loss: Any = None
) -> Report:
    """Try a structure on examples; raise with all that is wrong with it.

    Parameters
    ----------
    structure : Structure or object
        A `Structure`, or an object with ``joint_feature``, ``loss`` and ``argmax``.
    X, Y : sequences
        A few examples with their true outputs; the first 30 are used.
    loss : Loss, optional
        What to augment with; by default the structure's own, Hamming, or zero-one.

    Returns
    -------
    Report
        What was tried. Printing it gives one line per check.

    Raises
    ------
    StructureError
        If anything is wrong; the message is the report. `report_structure` returns
        it instead.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import check_structure
    >>> from maxmargin.structures.matching import Matching
    >>> X = [np.random.default_rng(i).normal(size=(3, 3, 2)) for i in range(5)]
    >>> check_structure(Matching(), X, [[0, 1, 2]] * 5).ok
    True
    """
    report = report_structure(structure, X, Y, loss)
    if not report.ok:
        name = type(structure).__name__
        raise StructureError(f"{name} breaks the contract of a structure:\n{report}")
    return report


def report_structure(
    structure: Any, X: Sequence[Any], Y: Sequence[Any], loss: Any = None
) -> Report:
    """As `check_structure`, but return the report whatever it says."""
    report = Report()
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows == 0 or rows != len(Y):
        raise ValueError(
            f"X has {rows} examples, and Y has {len(Y)}: a few examples with their true "
            "outputs are needed"
        )
    rows = min(MOST, rows)
    X, Y = X[:rows], Y[:rows]
    trial = _attempt(report, "bind and encode", lambda: _Trial(structure, X, Y, loss))
    if trial is None:
        return report
    for name, check in _CHECKS.items():
        _attempt(report, name, partial(check, trial))
    return report


class _Complaint(Exception):  # noqa: N818 - a sentence, not a crash
    """What a check has to say."""


def _attempt(report: Report, name: str, check: Callable[[], Any]) -> Any:
    try:
        out = check()
    except _Complaint as complaint:
        report.problems.append(f"{name}: {complaint}")
    except Exception as error:
        kind = type(error).__name__
        report.problems.append(f"{name}: raised {kind}: {error}")
    else:
        report.passed.append(name)
        return out
    return None


class _Trial:
    """The structure bound to the data, weights to try, and outputs seen."""

    def __init__(self, structure: Any, X: Any, Y: Any, loss: Any) -> None:
        self.given, self.X, self.Y = structure, X, Y
        unbound = as_structure(structure)
        self.structure: Structure = unbound.bind(X, Y)
        if not isinstance(self.structure, Structure):
            raise _Complaint(f"bind returned {self.structure!r}, not a structure")
        if self.structure.dim < 1:
            raise _Complaint(
                f"dim is {self.structure.dim} after bind: psi has no length"
            )
        self.x = self.structure.encode(X)
        self.n = len(Y)
        if self.x.n != self.n:
            raise _Complaint(f"encode made {self.x.n} examples of {self.n}")
        self.truth = self.structure.encode_labels(self.x, Y)
        if self.truth.n != self.n:
            raise _Complaint(f"encode_labels made {self.truth.n} rows of {self.n}")
        self.loss = _default_loss(self.structure, loss)
        self.ids = np.arange(self.n)
        rng = np.random.default_rng(0)
        scales = np.geomspace(0.01, 10.0, TRIALS)
        self.weights = [s * rng.normal(size=self.structure.dim) for s in scales]
        self.weights.append(np.zeros(self.structure.dim))

    def augment(self, weight: float = 1.0) -> Augment:
        return Augment(self.truth, self.loss, np.full(self.n, weight))

    def argmax(self, w: Floats, augment: Augment | None = None) -> Found:
        return self.structure.argmax(self.x, self.ids, w, augment)

    def score(self, i: int, row: Any, w: Floats, augment: Augment | None) -> float:
        """<w, psi> [+ weight * loss] of one output of example i, from scratch."""
        one = Ragged.pack([row])
        psi = self.structure.features(self.x, np.array([i]), one)
        value = float(psi.dot(w)[0])
        if augment is not None:
            truth = self.truth.take([i])
            value += augment.weight[i] * float(self.loss.value(truth, one)[0])
        return value

    def candidates(self) -> list[list[tuple[Any, str]]]:
        """Outputs of each example and where they are from."""
        out: list[dict[bytes, tuple[Any, str]]] = [{} for _ in range(self.n)]
        for i, j, row in self._truths():
            name = "the truth" if i == j else f"the true output of example {j}"
            out[i].setdefault(row.tobytes(), (row, name))
        for w in self.weights:
            for augment in (None, self.augment(), self.augment(50.0)):
                labels = self.argmax(w, augment).labels
                for i in range(self.n):
                    row = labels.row(i).copy()
                    name = "an output that argmax returned for other weights"
                    out[i].setdefault(row.tobytes(), (row, name))
        return [list(found.values()) for found in out]

    def _truths(self) -> list[tuple[int, int, Any]]:
        """(i, j, row): the truth of j is an output of i too, if they look alike."""
        out = [(i, i, self.truth.row(i)) for i in range(self.n)]
        for i in range(self.n):
            for j in range(self.n):
                if i == j or _look(self.X, self.Y, i) != _look(self.X, self.Y, j):
                    continue
                try:
                    x = self.structure.encode(self.X[i : i + 1])
                    row = self.structure.encode_labels(x, self.Y[j : j + 1]).row(0)
                except (ValueError, IndexError, KeyError, TypeError):
                    continue
                out.append((i, j, row))
        return out


def _look(X: Any, Y: Any, i: int) -> tuple[Any, ...]:
    """What two examples must share for their outputs to be exchanged."""
    out: list[Any] = []
    for item in (X[i], Y[i]):
        shape = getattr(item, "shape", None)
        if shape is None:
            shape = len(item) if hasattr(item, "__len__") else ()
        out += [type(item), shape]
    return tuple(out)


def _default_loss(structure: Structure, loss: Any) -> Any:
    for candidate in (loss, own_loss(structure), Hamming(), ZeroOne()):
        if candidate is not None and candidate.form in structure.losses:
            return candidate.bind(structure.label_count())
    forms = ", ".join(map(repr, structure.losses))
    raise _Complaint(f"pass loss=, of one of the forms {forms}")


def _psi(t: _Trial) -> None:
    """Psi of the truth: shape, range, finite, whatever the batch."""
    rows = t.structure.features(t.x, t.ids, t.truth)
    if rows.n != t.n:
        raise _Complaint(f"features made {rows.n} vectors of {t.n} outputs")
    if len(rows.idx) and not 0 <= rows.idx.min() <= rows.idx.max() < t.structure.dim:
        raise _Complaint(
            f"a coordinate is outside 0 .. dim - 1 = {t.structure.dim - 1}"
        )
    bad = np.flatnonzero(~np.isfinite(rows.val))
    if len(bad):
        i = int(np.searchsorted(rows.ptr, bad[0], side="right")) - 1
        raise _Complaint(f"psi of example {i} is not finite")
    whole = rows.csr(t.structure.dim)
    for i in range(t.n):
        one = t.structure.features(t.x, np.array([i]), t.truth.take([i]))
        if abs(one.csr(t.structure.dim) - whole[[i]]).max() > CLOSE:
            raise _Complaint(f"psi of example {i} alone differs from that in a batch")


def _loss(t: _Trial) -> None:
    value = t.loss.value(t.truth, t.truth)
    bad = np.flatnonzero(value != 0.0)
    if len(bad):
        i = int(bad[0])
        raise _Complaint(
            f"the loss of the truth of example {i} is {value[i]}, not zero"
        )
    for w in t.weights:
        labels = t.argmax(w).labels
        value = t.loss.value(t.truth, labels)
        bad = np.flatnonzero(~(value >= 0) | np.isinf(value))
        if len(bad):
            i = int(bad[0])
            raise _Complaint(f"an output of example {i} has loss {value[i]}")


def _scores(t: _Trial) -> None:
    for w in t.weights:
        for augment in (None, t.augment(), t.augment(0.5)):
            found = t.argmax(w, augment)
            if found.labels.n != t.n:
                raise _Complaint(
                    f"argmax made {found.labels.n} rows for {t.n} examples"
                )
            for i in range(t.n):
                value = t.score(i, found.labels.row(i), w, augment)
                if not _equal(value, found.score[i]):
                    what = "<w, psi>" + (" + loss" if augment else "")
                    raise _Complaint(
                        f"example {i}: argmax says {found.score[i]:.6g}, but {what} of "
                        f"the output it returned is {value:.6g}"
                    )


def _best(t: _Trial) -> None:
    candidates = t.candidates()
    for w in t.weights:
        for augment in (None, t.augment(), t.augment(50.0)):
            found = t.argmax(w, augment)
            top = found.score if t.structure.exact else found.bound
            for i in range(t.n):
                for row, name in candidates[i]:
                    value = t.score(i, row, w, augment)
                    if value > top[i] + CLOSE * (1.0 + abs(value)):
                        raise _Complaint(_beaten(t, i, row, name, augment, top, value))


def _beaten(
    t: _Trial,
    i: int,
    row: Labels,
    name: str,
    augment: Augment | None,
    top: Floats,
    value: float,
) -> str:
    x = t.structure.encode(t.X[i : i + 1])
    better = t.structure.decode_labels(x, Ragged.pack([row]))[0]
    how = "" if augment is None else f" with {augment.weight[i]:g} times the loss added"
    what = "the output found" if t.structure.exact else "the bound given"
    return (
        f"example {i}{how}: {what} scores {top[i]:.6g}, but {name}, {better!r}, "
        f"scores {value:.6g}"
    )


def _cuts(t: _Trial) -> None:
    for w in t.weights:
        ours = t.structure.cuts(t.x, t.ids, w, t.augment())
        plain = Structure.cuts(t.structure, t.x, t.ids, w, t.augment())
        height = ours.delta - ours.dpsi.dot(w)
        for i in range(t.n):
            if not _equal(ours.bound[i], plain.bound[i]):
                raise _Complaint(
                    f"example {i}: cuts gives {ours.bound[i]:.6g}, argmax and features "
                    f"give {plain.bound[i]:.6g}"
                )
            if t.structure.exact and not _equal(height[i], ours.bound[i]):
                raise _Complaint(
                    f"example {i}: dpsi and delta of cuts give {height[i]:.6g}, its "
                    f"bound is {ours.bound[i]:.6g}"
                )


def _repeats(t: _Trial) -> None:
    ids = np.concatenate([t.ids[::-1], t.ids[:1]])
    for w in t.weights[:: TRIALS // 2]:
        for augment in (None, t.augment()):
            first, again = t.argmax(w, augment), t.argmax(w, augment)
            if not _same(first, again, t.ids, t.ids):
                raise _Complaint("argmax gives different answers to the same question")
            other = t.structure.argmax(t.x, ids, w, augment)
            if not _same(first, other, ids, np.arange(len(ids))):
                raise _Complaint(
                    "answers of argmax depend on the order of the examples"
                )


def _same(a: Found, b: Found, of_a: Ints, of_b: Ints) -> bool:
    scores = np.allclose(a.score[of_a], b.score[of_b], rtol=CLOSE, atol=CLOSE)
    return scores and a.labels.take(of_a).unpack() == b.labels.take(of_b).unpack()


def _untouched(t: _Trial) -> None:
    things = {"X": t.X, "Y": t.Y, "x": t.x, "truth": t.truth, "structure": t.given}
    for w in t.weights:
        before = {name: pickle.dumps(thing) for name, thing in things.items()}
        kept = w.copy()
        bound = as_structure(t.given).bind(t.X, t.Y)
        bound.encode_labels(bound.encode(t.X), t.Y)
        for augment in (None, t.augment()):
            found = t.argmax(w, augment)
            t.structure.features(t.x, t.ids, found.labels)
        if (kept != w).any():
            raise _Complaint("argmax alters w")
        for name, thing in things.items():
            if pickle.dumps(thing) != before[name]:
                raise _Complaint(
                    f"{name} is altered by bind, encode, features or argmax"
                )


def _round_trip(t: _Trial) -> None:
    decoded = t.structure.decode_labels(t.x, t.truth)
    again = t.structure.encode_labels(t.x, decoded)
    bad = [
        i for i in t.ids.tolist() if (again.row(i).tolist() != t.truth.row(i).tolist())
    ]
    if bad:
        i = bad[0]
        raise _Complaint(
            f"example {i}: {t.Y[i]!r} comes back as {decoded[i]!r} from encode_labels "
            "and decode_labels"
        )


def _pickles(t: _Trial) -> None:
    try:
        again = pickle.loads(pickle.dumps(t.structure))
    except Exception as error:
        raise _Complaint(
            f"it cannot be pickled ({error}), so it cannot be saved or sent to other "
            "processes: define its class at the top of a module and keep open files, "
            "locks and functions without a name out of it"
        ) from error
    for w in t.weights[:2]:
        other = again.argmax(t.x, t.ids, w, t.augment())
        if not _same(t.argmax(w, t.augment()), other, t.ids, t.ids):
            raise _Complaint("after pickling, argmax gives other answers")


def _capabilities(t: _Trial) -> None:
    by_loss, nbest = t.structure.offers(ByLoss), t.structure.offers(NBest)
    for w in t.weights[:3]:
        if by_loss is not None:
            layers = by_loss.argmax_by_loss(t.x, t.ids, w, t.augment())
            _compare_first(t, "argmax_by_loss", layers, t.argmax(w, t.augment()).score)
        if nbest is not None:
            layers = nbest.nbest(t.x, t.ids, w, 2)
            layers = layers._replace(loss=np.zeros(len(layers.score)))
            _compare_first(t, "nbest", layers, t.argmax(w).score)


def _compare_first(t: _Trial, name: str, layers: Layers, best: Floats) -> None:
    total = layers.score + layers.loss
    for i in range(t.n):
        top = total[layers.ptr[i] : layers.ptr[i + 1]].max(initial=-np.inf)
        if not _equal(float(top), best[i]):
            raise _Complaint(
                f"example {i}: the best output of {name} scores {top:.6g}, that of "
                f"argmax {best[i]:.6g}"
            )


def _equal(a: float, b: float) -> bool:
    return bool(abs(a - b) <= CLOSE * (1.0 + abs(a)))  # False where one is NaN


_CHECKS: dict[str, Callable[[_Trial], None]] = {
    "psi": _psi,
    "loss": _loss,
    "scores agree with psi and loss": _scores,
    "argmax is not beaten": _best,
    "cuts": _cuts,
    "same question, same answer": _repeats,
    "nothing given is altered": _untouched,
    "outputs survive encoding": _round_trip,
    "pickle": _pickles,
    "capabilities": _capabilities,
}
