"""Checkpoints: the dual state in a file, so that a killed run can be continued.

The file is replaced from time to time, atomically: whatever happens to the process,
there is always a complete one. It holds a digest of all that the planes depend
on - data, structure, loss, formulation, C and trainer - and a run that differs in any
of these is refused, because planes of other data would make the certificate wrong.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.safe_files import Lock, remove_halves
from maxmargin.core.data.warned import warn
from maxmargin.core.problem import Problem
from maxmargin.estimators.saving.model_files import class_of, tag_of
from maxmargin.io.model_file.archive import ModelFileError
from maxmargin.io.model_file.model import read_model, write_model
from maxmargin.solvers.base import Result, Status

EVERY = 60.0  # seconds
SHARE = 0.05  # of the time may go into writing
LIMITS = ("max_iter", "max_time", "tol")  # of a trainer, that another run may change


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """Where checkpoints are written, and how often.

    Parameters
    ----------
    path : str or path
    every : float, default=60
        Seconds between two; longer where writing takes more than a twentieth of it.

    Examples
    --------
    A run that finds the file of an earlier one like it goes on from there.

    >>> import os, tempfile
    >>> from maxmargin import ChainSVM, Checkpoint
    >>> X, y = [[["a"], ["b"]]], [["N", "V"]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     where = Checkpoint(os.path.join(folder, "run.ck"), every=10.0)
    ...     ChainSVM(checkpoint=where).fit(X, y).result_.converged
    True
    """

    path: str | os.PathLike[str]
    every: float = EVERY


class FileKeeper:
    """Writes checkpoints of one run to a file, which it holds a lock on meanwhile.

    A checkpoint that cannot be written (the disk is full, the folder has vanished) is no
    reason to lose a training run: there is a warning, and another attempt later.
    """

    def __init__(self, where: Checkpoint, mark: str) -> None:
        self.path, self.every, self.mark = Path(where.path), where.every, mark
        self._next = time.perf_counter() + self.every
        self._asked = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """The run: no other may use the file, and signals end it after the step.

        Ctrl-C, SIGTERM and SIGHUP let the step end, so that there is a state to keep; a
        second signal ends it at once, with the last checkpoint before it.
        """
        with Lock(self.path), _signals(self._ask):
            remove_halves(self.path)
            yield

    def _ask(self) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True

    def interrupted(self) -> bool:
        """Whether a signal has asked the run to end."""
        return self._asked

    def earlier(self) -> dict[str, Any] | None:
        """What an earlier run left, if it was the same run."""
        if not self.path.exists():
            return None
        data, notes = read_model(self.path, class_of, {})
        if not isinstance(data, dict) or notes.get("kind") != "checkpoint":
            raise ModelFileError(f"{self.path} is not a checkpoint")
        if notes.get("mark") != self.mark:
            raise ValueError(
                f"the checkpoint {self.path} belongs to a run on other data or with "
                "other settings: remove it, or name another file"
            )
        return data

    def due(self) -> bool:
        """Whether it is time for another."""
        return time.perf_counter() >= self._next

    def keep(self, data: dict[str, Any]) -> None:
        """Write it; whoever reads sees the last one or this one, never half of it."""
        begin = time.perf_counter()
        notes = {"kind": "checkpoint", "mark": self.mark}
        try:
            write_model(data, self.path, tag_of, notes, level=0)
        except OSError as error:
            warn(
                f"the checkpoint {self.path} could not be written ({error}); training "
                "goes on, the last one that could be written is unchanged",
                RuntimeWarning,
            )  # fmt: skip
        end = time.perf_counter()
        self._next = end + max(self.every, (end - begin) / SHARE)

    def finish(self, result: Result) -> None:
        """Remove the file when there is nothing left to go on with."""
        ended = Status.NO_PROGRESS, Status.ROUNDING
        if result.status.as_asked or result.status in ended:
            try:
                self.path.unlink(missing_ok=True)
            except OSError as error:
                warn(
                    f"the checkpoint {self.path}, which is not needed any more, could "
                    f"not be removed ({error})", RuntimeWarning,
                )  # fmt: skip


def keeper_of(checkpoint: Any, problem: Problem, solver: Any) -> FileKeeper:
    """The keeper that an estimator's parameter asks for."""
    if not isinstance(checkpoint, Checkpoint):
        if not isinstance(checkpoint, str | os.PathLike):
            raise TypeError(f"checkpoint={checkpoint!r}: give a path or a Checkpoint")
        checkpoint = Checkpoint(checkpoint)
    if not checkpoint.every >= 0.0:
        raise ValueError(f"every={checkpoint.every!r}: seconds must not be negative")
    folder = Path(checkpoint.path).absolute().parent
    if not folder.is_dir():
        raise ValueError(f"checkpoint={str(checkpoint.path)!r}: no folder {folder}")
    return FileKeeper(checkpoint, digest((_parts(problem), problem.C, solver)))


def run_hash(problem: Problem) -> str | None:
    """A hash of all that constraints depend on, C apart; None if there is none.

    A warm start takes over constraints. Those of other data would make the dual, and
    with it the certificate, wrong.
    """
    try:
        return digest(_parts(problem))
    except ValueError:  # data of the user's that are nested without end
        return None


def _parts(problem: Problem) -> tuple[Any, ...]:
    parts = problem.structure, problem.loss, problem.formulation, problem.x
    return *parts, problem.truth


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM and SIGHUP act like Ctrl-C in the block: training ends with its best weights."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with _signals(interrupt):
        yield


@contextmanager
def _signals(ask: Callable[[], None]) -> Iterator[None]:
    """Signals that end a process call `ask` meanwhile."""

    def handle(*_: Any) -> None:
        ask()

    before = {}
    try:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None:
                before[number] = signal.signal(number, handle)
    except ValueError:  # not the main thread, where signals do not arrive
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def digest(value: Any) -> str:
    """A hash of what a value holds, the same in every process.

    Examples
    --------
    >>> digest([1, {"a", "b"}]) == digest([1, {"b", "a"}]) != digest([1, {"b"}])
    True
    """
    sha = hashlib.sha256()
    _feed(sha.update, value, 0)
    return sha.hexdigest()


def _feed(add: Callable[[Any], None], value: Any, depth: int) -> None:
    if depth > 50:
        raise ValueError("the data are nested too deeply for a checkpoint")
    add(f"<{type(value).__name__}:".encode())
    if isinstance(value, np.ndarray) and value.dtype != object:
        add(f"{value.dtype.str}{value.shape}".encode())
        add(np.ascontiguousarray(value).data)
    elif sp.issparse(value):
        rows = value.tocsr()
        for part in (rows.data, rows.indices, rows.indptr, np.array(rows.shape)):
            _feed(add, part, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _feed(add, key, depth + 1)
            _feed(add, item, depth + 1)
    elif isinstance(value, set | frozenset):
        for part in sorted(digest(item) for item in value):
            add(part.encode())
    elif isinstance(value, list | tuple | np.ndarray):
        for item in value:
            _feed(add, item, depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for f in dataclasses.fields(value):
            if f.name not in LIMITS:
                _feed(add, getattr(value, f.name), depth + 1)
    elif isinstance(value, str | bytes | int | float | np.generic) or value is None:
        add(repr(value).encode())
    elif isinstance(value, FunctionType):
        closure = [cell.cell_contents for cell in value.__closure__ or ()]
        code = value.__code__
        for part in (code.co_code, code.co_consts, value.__defaults__, closure):
            _feed(add, part, depth + 1)
    elif isinstance(value, CodeType):
        _feed(add, (value.co_code, value.co_consts), depth + 1)
    elif isinstance(value, type) or callable(value):
        add(getattr(value, "__qualname__", type(value).__qualname__).encode())
    else:
        _feed(add, getattr(value, "__dict__", type(value).__qualname__), depth + 1)
    add(b">")
