"""A pool of processes, for oracles written in Python, which hold the GIL.

Shared data are written once to a folder in memory (`/dev/shm` where there is one), with
large arrays as files beside them, which every process maps. Weights take the same way.
A process that dies is replaced, and what it had not answered is asked for again.

Nothing stays behind when this process ends, not even when it is killed: a guard, a tiny
process that waits for the end of a pipe, removes the folder, and workers end by
themselves when their parent is gone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib.externals.loky.process_executor import (
    BrokenProcessPool,
    ProcessPoolExecutor,
)

from maxmargin.core.compiled.compiling import compile_seconds, workers_compiled
from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.mapped import open_array
from maxmargin.core.engine import ClusterGoneError, D, Engine, Question, R, T
from maxmargin.engines.shipment import pack, unpack

CARE = 0.5  # seconds after which a worker notices that its parent is gone
TRIES = 3  # deaths in a row, without an answer in between, before giving up


class Processes(Engine):
    """The engine for several cores and an oracle that holds the GIL.

    Parameters
    ----------
    n_jobs : int
        Number of processes.
    """

    def __init__(self, n_jobs: int) -> None:
        super().__init__()
        self.n_jobs = n_jobs
        self._pool: Any = None
        self._sent: list[tuple[Any, str]] = []
        shm = Path("/dev/shm")
        where = str(shm) if os.access(shm, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="maxmargin-", dir=where))
        self._tidy = weakref.finalize(self, _tidy, self._folder, _guard(self._folder))
        self._turn = 0

    @property
    def workers(self) -> int:
        """How many chunks are worked on at a time."""
        return self.n_jobs

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, in this process: only shared data are sent."""
        return map(task, chunks)

    def ask(
        self,
        shared_data: D,
        question: Question[D, T, R],
        w: Floats,
        chunks: Sequence[T],
    ) -> Iterable[R]:
        """question(shared_data, w, chunk) for each chunk, several at a time."""
        place = self._ship(shared_data)
        self._turn += 1
        weights = self._folder / f"w{self._turn}"
        np.ascontiguousarray(w, np.float64).tofile(weights)
        call = (place, question, str(weights), len(w))
        try:
            yield from self._answers(call, chunks)
        finally:
            weights.unlink(missing_ok=True)

    def _answers(self, call: tuple[Any, ...], chunks: Sequence[Any]) -> Iterable[Any]:
        """Answers in order; a broken pool is replaced and asked again for the rest."""
        done, deaths, ahead = 0, 0, 4 * self.n_jobs
        waiting: list[Any] = []
        while done < len(chunks):
            try:
                while len(waiting) < ahead and done + len(waiting) < len(chunks):
                    chunk = chunks[done + len(waiting)]
                    waiting.append(self._executor().submit(_answer, *call, chunk))
                answer, seconds = waiting[0].result()
            except BrokenProcessPool as error:
                waiting, deaths = [], deaths + 1
                self._stop()
                if deaths >= TRIES:
                    raise ClusterGoneError(
                        f"a process died {TRIES} times on the same work: is there "
                        "enough memory, and does the oracle crash?"
                    ) from error
                continue
            waiting.pop(0)
            done, deaths = done + 1, 0
            if seconds > 0:
                workers_compiled(seconds)
            yield answer

    def _executor(self) -> Any:
        if self._pool is None:
            one = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
            self._pool = ProcessPoolExecutor(
                self.n_jobs, timeout=600, env=one, initializer=_end_with,
                initargs=(os.getpid(),),
            )  # fmt: skip
        return self._pool

    def _ship(self, shared_data: Any) -> str:
        """The file that holds the shared data; written at their first use."""
        for known, place in self._sent:
            if known is shared_data:
                return place
        spool = Path(tempfile.mkdtemp(dir=self._folder))
        place = str(spool / "shared_data")
        Path(place).write_bytes(pack(shared_data, spool))
        self._sent = [*self._sent[-3:], (shared_data, place)]
        return place

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def close(self) -> None:
        """End the processes and delete what was sent to them."""
        super().close()
        self._stop()
        self._sent = []
        self._tidy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the number of processes."""
        return (Processes, (self.n_jobs,))


# What the guard runs: wait for the end of its input, which is the end of the parent.
GUARD = "import shutil, sys; sys.stdin.read(); shutil.rmtree(sys.argv[1], True)"


def _guard(folder: Path) -> subprocess.Popen[bytes]:
    """A process that removes the folder when this one has ended, in whatever way."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", GUARD, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


def _tidy(folder: Path, guard: subprocess.Popen[bytes]) -> None:
    shutil.rmtree(folder, True)
    assert guard.stdin is not None
    with contextlib.suppress(OSError):
        guard.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        guard.wait(10.0)


def _end_with(parent: int) -> None:
    """In the worker: end when the parent is gone."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(CARE)
        os._exit(1)

    if sys.platform != "win32":  # where a process keeps the number of its parent
        threading.Thread(target=watch, daemon=True).start()


_OPEN: dict[str, Any] = {}  # in the worker: shared data by file


def _answer(
    place: str, question: Question[Any, T, R], weights: str, dim: int, chunk: T
) -> tuple[R, float]:
    """The answer, and the seconds of compiling for it."""
    before = compile_seconds()
    if place not in _OPEN:
        while len(_OPEN) >= 4:
            _OPEN.pop(next(iter(_OPEN)))
        _OPEN[place] = unpack(Path(place).read_bytes())
    w = open_array(weights, 0, "<f8", (dim,))
    answer = question(_OPEN[place], w, chunk)
    return answer, compile_seconds() - before
